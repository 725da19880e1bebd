import {
  mentions,
  sentencesOf,
  toTokenSet,
  verbsLike,
  wordsOf,
} from '../../../provenance/text/index.ts'
import type { FindingDraft, WorkBudget } from '../../contract.ts'
import type { DeclaredTool, Message, Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'
import { toContextDraft } from '../drafts.ts'
import { callOf, placeOf, placesOfUses } from '../finding-parts.ts'
import { remember, rememberFor } from '../remember.ts'
import { effectOfTool } from '../tools/tool-effect.ts'
import { argumentsOf, wordsOfTool } from '../tools/tool-words.ts'
import { contextOf, readDialogues } from './dialogues.ts'
import { type CallInDialogue, isHedged, isWish, type LostNeed } from './needs.ts'
import { findWitness } from './witness.ts'
import { findWrongOption } from './wrong-options.ts'

/**
 * Finds calls that take, of the things in a list, one that the user had ruled out while the list has
 * another; and calls that the user had forbidden.
 */
export function findLostNeeds(run: TaskRun, budget: WorkBudget): FindingDraft[] {
  if (!run.tools.some(isChoice)) return []
  return readDialogues(run).dialogues.flatMap((dialogue) => {
    const placeOfStep = new Map<number | null, number>()
    for (const [at, { step }] of dialogue.messages.entries()) {
      if (!placeOfStep.has(step)) placeOfStep.set(step, at)
    }
    return run.tools.flatMap((use) => {
      const step = run.steps[use.step ?? -1]
      if (step === undefined || use.thread !== dialogue.thread.index || !isChoice(use)) return []
      const at = placeOfStep.get(step.index) ?? 0
      const lost = lostByUse(use, contextOf(run, dialogue, { step, at }), () => {
        budget.spend(at * 4)
        const call = { run, use, before: dialogue.messages.slice(0, at) }
        return findForbidden(call) ?? findWrongOption(call) ?? findOtherWord(call)
      })
      if (lost === undefined) return []
      const { quote, isIn } = lost
      const said = isIn && { quote, isIn }
      const witness =
        said && findWitness(run, { dialogue, answer: { step, at }, found: lost, said }, budget)
      return [
        toDraft(run, use, step, witness === undefined ? lost : { ...lost, severity: 'medium' }),
      ]
    })
  })
}

const lostByUse = rememberFor<ToolUse, LostNeed | undefined>()

const isChoice = remember(
  (use: ToolUse): boolean =>
    use.fault === null && (effectOfTool(use) === 'changes' || choosing.test(use.name)),
)

/** Names of calls that choose, without a known verb: “besichtigung”, “appointment”. */
const choosing = /^(?:appointment|callback|hold|besichtigung|termin|buch\w*|reserv\w*|reserva\w*)$/i

function findForbidden({ use, before }: CallInDialogue): LostNeed | undefined {
  const words = wordsOfTool(use.name)
  for (const [at, said] of before.entries()) {
    if (said.role !== 'user') continue
    for (const { quote, word } of readForbidden(said)) {
      const tool = words.find((one) => isNamedBy(one, word))
      const later = before.slice(at + 1)
      const isLifted = later.some(
        ({ role, text }) =>
          role === 'user' && [...toTokenSet(text)].some((one) => isNamedBy(tool ?? '', one)),
      )
      const isOffered = later.some(
        ({ role, text }) =>
          role === 'assistant' &&
          /\?/.test(text) &&
          [...toTokenSet(text)].some((one) => isNamedBy(tool ?? '', one)),
      )
      if (tool === undefined || isLifted || isOffered) continue
      const violation = `The agent called "${use.name}".`
      const isIn = (text: string) => forbiddenIn(text).some((one) => one.word === word)
      return { said, quote, violation, severity: 'low', isIn }
    }
  }
  return undefined
}

function isNamedBy(tool: string, word: string): boolean {
  if (word.length < 3 || tool === '') return false
  const isBeginning = word.length >= 4 && tool.startsWith(word)
  return (
    isBeginning ||
    (verbsLike(word).has(tool) && word !== 'put') ||
    contacts.some((group) => group.includes(word) && group.includes(tool))
  )
}

const contacts = ['call phone ring callback', 'text sms', 'mail email'].map((group) =>
  group.split(' '),
)

/** Returns the verbs of actions that a message forbids: “don't cancel it”, “no text messages please”. */
const readForbidden = remember(({ text }: Message) => forbiddenIn(text))

function forbiddenIn(text: string): { quote: string; word: string }[] {
  return sentencesOf(text).flatMap((quote) => {
    if (/\?$|\b(?:if|unless|until|before|after|when|twice|again|wenn|bevor)\b/i.test(quote))
      return []
    const match = forbidding.exec(quote.replaceAll('’', "'"))
    const word = (match?.groups?.['verb'] ?? match?.groups?.['noun'])?.toLowerCase()
    return word === undefined ? [] : [{ quote, word }]
  })
}

const forbidding =
  /(?:^|[,.;:!–-] ?|\b(?:please|but|and|so) )(?:(?:please )?(?:do not|don't|never) (?:ever )?(?<verb>\p{L}{3,})|(?:please )?no (?<noun>\p{L}{3,}?)s?\b[^,.;]{0,20}(?=,? please|!|$))/iu

/** Finds an argument for which the user had named another of its choices. */
function findOtherWord({ run, use, before }: CallInDialogue): LostNeed | undefined {
  const other = findOtherChoice(run, use, before)
  if (other === undefined) return undefined
  const { said, quote, taken, wanted } = other
  const violation = `The agent took "${taken}", not "${wanted}".`
  return { said, quote, violation, severity: 'low', isIn: (text) => mentions(text, wanted) }
}

function toDraft(run: TaskRun, use: ToolUse, step: Step, lost: LostNeed): FindingDraft {
  const { said, quote, violation, severity } = lost
  const call = run.calls[said.call]
  const [place = placeOf(run.calls[step.call] ?? { trace_id: '', observation_id: '' })] =
    placesOfUses([use])
  return toContextDraft(run, {
    type: 'lost_context',
    severity,
    topic: `need:${use.index}`,
    violation,
    confidence: 0.75,
    summary: `${violation} The user had said: ${quote}`,
    original_context: quote,
    original: call === undefined ? place : placeOf(call),
    steps: [step.index],
    begins_at: placeOf(run.calls[step.call] ?? place),
    is_waste: true,
    recovered: false,
    evidence: { rule: 'need', said_by: 'user', tool: use.name },
  })
}

/** An argument for which the user had named another of its choices. */
type OtherChoice = { said: Message; quote: string; taken: string; wanted: string }

/**
 * Finds an argument that takes one of several choices, of which the user had asked for another one: the
 * system text names them (“window or aisle”), or the schema of the tool lists them.
 */
function findOtherChoice(
  run: TaskRun,
  use: ToolUse,
  before: readonly Message[],
): OtherChoice | undefined {
  const groups = groupsOf(run, use, before)
  for (const [key, value] of Object.entries(argumentsOf(use))) {
    if (typeof value !== 'string') continue
    const taken = value.toLowerCase()
    const group = groups.find((one) => (one.key ?? key) === key && one.choices.has(taken))
    if (group === undefined || before.some((one) => isSpoken(one) && mentions(one.text, taken)))
      continue
    const others = [...group.choices].filter((choice) => choice !== taken && choice.length > 2)
    const found = findWish(before, others)
    if (found !== undefined) return { ...found, taken }
  }
  return undefined
}

function isSpoken({ role }: Message): boolean {
  return role === 'user' || role === 'assistant'
}

function findWish(before: readonly Message[], others: readonly string[]) {
  for (const said of before) {
    if (said.role !== 'user' || said.is_harness === true) continue
    for (const quote of sentencesOf(said.text)) {
      const isWanted = isWish(quote) && !isHedged(quote)
      const wanted = isWanted ? others.find((choice) => mentions(quote, choice)) : undefined
      if (wanted !== undefined) return { said, quote, wanted }
    }
  }
  return undefined
}

/** Choices of which one excludes the others; of an argument, if its schema lists them. */
type Choices = { choices: ReadonlySet<string>; key?: string }

function groupsOf(run: TaskRun, use: ToolUse, before: readonly Message[]): readonly Choices[] {
  const step = run.steps[use.step ?? -1]
  const declared = step && callOf(run, step)?.tools?.find(({ name }) => name === use.name)
  const told = before.flatMap((said) => (said.role === 'system' ? choicesIn(said) : []))
  return declared === undefined ? told : [...choicesOfSchema(declared), ...told]
}

const choicesOfSchema = remember(({ schema }: DeclaredTool): readonly Choices[] =>
  Object.entries(Object(schema?.['properties'])).flatMap(([key, property]) => {
    const listed: unknown = Object(property).enum
    const words = Array.isArray(listed) ? listed.filter((one) => typeof one === 'string') : []
    return words.length < 2
      ? []
      : [{ key, choices: new Set(words.map((one) => one.toLowerCase())) }]
  }),
)

/** Reads the choices of a system text: two words, or more between commas, with an “or”. */
const choicesIn = remember(({ text }: Message): readonly Choices[] =>
  [...text.slice(0, text_chars_max).matchAll(alternatives)].map(([list]) => ({
    choices: new Set(wordsOf(list).filter((word) => !joining.has(word))),
  })),
)

const text_chars_max = 8_000
const alternatives =
  /(?<!\p{L})\p{L}{3,20}(?:, \p{L}{3,20}){0,5},? (?:or|oder|ou|o) \p{L}{3,20}(?!\p{L})/giu
const joining = new Set(['or', 'oder', 'ou', 'o'])
