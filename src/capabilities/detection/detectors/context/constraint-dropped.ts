import { z } from 'zod'
import type { Detector, FindingDraft, MemoryEntry } from '../../contract.ts'
import {
  type Dialogue,
  findResets,
  isAbout,
  mentions,
  placeOf,
  readDialogues,
  readStatements,
  toContextDraft,
} from '../../facts/index.ts'
import type { HistoryBreak, Message, TaskRun } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds summaries that replaced older messages and left out a rule which they stated, although the
 * agent went on. `context_truncated` reports histories that were cut without a summary.
 */
export const constraintDropped: Detector<typeof settings> = {
  name: 'constraint_dropped',
  kind: 'context',
  types: ['constraint_dropped'],
  version: 1,
  needs: ['texts', 'history'],
  settings,
  detect(run, _settings, budget, prior) {
    const compacted = run.breaks.filter(({ kind }) => kind === 'compacted')
    if (compacted.length === 0) return []
    const resets = findResets(run)
    const { dialogues } = readDialogues(run, prior)
    return dialogues.flatMap((dialogue) => {
      const breaks = compacted.filter(
        (broken) => broken.thread === dialogue.thread.index && !resets.has(broken),
      )
      budget.spend(breaks.length * (1 + dialogue.messages.length))
      return breaks.flatMap((broken) => toFinding(run, dialogue, broken))
    })
  },
}

const statements_max = 5

function toFinding(run: TaskRun, dialogue: Dialogue, broken: HistoryBreak): FindingDraft[] {
  const call = run.calls[broken.call]
  const dropped = findDropped(run, dialogue, broken)
  const [first] = dropped
  if (call === undefined || first === undefined) return []
  const steps = call.step === null ? [] : [call.step]
  return [
    toContextDraft(run, {
      type: 'constraint_dropped',
      severity: 'low',
      topic: first.slot,
      summary: `A summary replaced ${broken.lost.length} messages and left out a rule: “${first.quote}”.`,
      original_context: first.quote,
      violation: 'The history that the model saw afterwards does not state the rule as given.',
      original: first.place,
      steps,
      begins_at: placeOf(call),
      recovered: isSaidAgain(dialogue, broken, first),
      confidence: 0.8,
      evidence: { dropped: dropped.slice(0, statements_max).map(({ quote }) => quote) },
    }),
  ]
}

/** Returns the lasting rules in the replaced messages that the new history does not state. */
function findDropped(
  run: TaskRun,
  { answers, messages }: Dialogue,
  { call, lost }: HistoryBreak,
): MemoryEntry[] {
  const before = answers.findLast((answer) => answer.message.call < call)
  const after = answers.some((answer) => answer.message.call >= call)
  if (before === undefined || !after) return []
  const gone = new Set(lost)
  const replaced = lost.flatMap((index) => run.messages[index] ?? [])
  const from = new Set(replaced.map((message) => run.calls[message.call]?.observation_id))
  const kept = messages.filter(
    (message) => message.call <= call && message.step === null && !gone.has(message.index),
  )
  return before.active.filter(
    (rule) =>
      rule.kind !== 'fact' &&
      rule.holds === 'always' &&
      !rule.is_likely &&
      from.has(rule.place.observation_id) &&
      replaced.some(({ text }) => text.includes(rule.quote)) &&
      !kept.some((message) => hasWordOf(rule, message)),
  )
}

/** Tells whether a message mentions a rule in its own or in other words. */
function hasWordOf(rule: MemoryEntry, message: Message): boolean {
  const { text } = message
  if (statesAgain(rule, message) || isInOtherWords(rule, text)) return true
  // Codes of languages are short words of others: “so” is also Somali.
  const about = rule.kind === 'language' ? (text.match(/\p{L}{4,}/gu) ?? []).join(' ') : text
  if (text.includes(rule.quote) || isAbout(rule, about)) return true
  const value = rule.value.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
  if (value.length >= value_chars_min && mentions(text, value)) return true
  const words = ruleWords(rule)
  return words.length > 0 && words.filter((word) => mentions(text, word)).length * 2 > words.length
}

/** Tells whether a message, read as rules, has one about the same thing. */
function statesAgain({ slot }: MemoryEntry, message: Message): boolean {
  const said: Message = { ...message, role: 'system', is_harness: false }
  return readStatements(said).statements.some((statement) => statement.slot === slot)
}

/** Tells whether a text has what a rule of its kind has in any wording: a number, a sign, a code. */
function isInOtherWords({ kind, slot, value }: MemoryEntry, text: string): boolean {
  if (kind === 'length') {
    const numbers = value.match(/\d+/g) ?? []
    return numbers.length > 0 && numbers.every((number) => wordsOf(text).includes(number))
  }
  if (kind === 'language') return wordsOf(text).includes(value.toUpperCase())
  if (slot.startsWith('sign:')) return text.includes(`"${slot.slice('sign:'.length)}"`)
  return slot === 'bullets' && flowing.test(text)
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? []
}

const flowing =
  /\b(?:flowing text|running text|prose|paragraphs?|full sentences|flie(?:ß|ss)text|lists?)\b/i
const value_chars_min = 3
const words_max = 12

/** The words of a rule that a summary of it would have: the long ones. */
function ruleWords({ quote }: MemoryEntry): string[] {
  const words = quote.toLowerCase().match(/\p{L}{5,}/gu) ?? []
  return words.filter((word) => !commonWords.has(word)).slice(0, words_max)
}

const commonWords = new Set(
  (
    'always never please answer answers reply replies response responses message messages every about ' +
    'should would could write writing there their these those which while until after before other ' +
    'using within without conversation throughout following'
  ).split(' '),
)

/** Tells whether the user or the system stated the rule again later. */
function isSaidAgain({ messages }: Dialogue, { call }: HistoryBreak, rule: MemoryEntry): boolean {
  return messages.some(
    (message) =>
      message.call > call &&
      (message.role === 'user' || message.role === 'system') &&
      message.text.includes(rule.quote),
  )
}
