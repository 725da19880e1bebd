import { runDetectors } from '../../../src/capabilities/detection/analyse/run-detectors.ts'
import type { FindingDraft } from '../../../src/capabilities/detection/contract.ts'
import { reconstruct } from '../../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../../src/capabilities/detection/settings/detector-settings.ts'
import { type AgentRun, agentRun } from '../../../test/corpus/agent-run.ts'
import type { LabelledConversation, LabelledInstruction } from './conversation.ts'

/** Broken instructions that were found and missed, and findings without one. */
export type Tally = { found: number; missed: number; wrong: number }

/** An error, with the sentence it is about. */
type ScoreError = {
  id: string
  error: 'missed' | 'wrong'
  kind: string
  scope: string
  text: string
  violation?: string
}

export type Scores = {
  conversations: number
  all: Tally
  /** Findings of medium severity or above only. */
  medium: Tally
  kinds: ReadonlyMap<string, Tally>
  scopes: ReadonlyMap<string, Tally>
  styles: ReadonlyMap<string, Tally>
  languages: ReadonlyMap<string, Tally>
  errors: readonly ScoreError[]
}

const settings = defaultDetectionSettings()

/** Counts the broken instructions that `lost_context` finds, and its other findings. */
export function scoreConversations(conversations: readonly LabelledConversation[]): Scores {
  const groups = { kinds: new Map(), scopes: new Map(), styles: new Map(), languages: new Map() }
  const all: Tally = { found: 0, missed: 0, wrong: 0 }
  const medium: Tally = { found: 0, missed: 0, wrong: 0 }
  const errors: ScoreError[] = []
  const count = (one: Judged, { style, lang }: LabelledConversation) => {
    const tallies = [
      all,
      tallyOf(groups.kinds, one.kind),
      tallyOf(groups.scopes, one.scope),
      tallyOf(groups.styles, style),
      tallyOf(groups.languages, lang),
    ]
    for (const tally of tallies) tally[one.result]++
    if (one.is_medium) medium[one.result]++
    else if (one.result !== 'wrong') medium.missed++
  }
  for (const conversation of conversations) {
    for (const one of judge(conversation)) {
      count(one, conversation)
      if (one.result === 'found') continue
      const { result: error, is_medium: _, ...rest } = one
      errors.push({ id: conversation.id, error, ...rest })
    }
  }
  return { conversations: conversations.length, all, medium, ...groups, errors }
}

function tallyOf(tallies: Map<string, Tally>, key: string): Tally {
  const known = tallies.get(key) ?? { found: 0, missed: 0, wrong: 0 }
  tallies.set(key, known)
  return known
}

type Judged = {
  result: keyof Tally
  /** Whether a finding of at least medium severity is meant. */
  is_medium: boolean
  kind: string
  scope: string
  text: string
  violation?: string
}

function judge(conversation: LabelledConversation): Judged[] {
  const found = findBroken(conversation)
  const matched = new Set<FindingDraft>()
  const judged = conversation.broken.flatMap((index): Judged[] => {
    const label = conversation.constraints[index]
    if (label === undefined) return []
    const hits = found.filter((finding) => isSame(finding, label, conversation))
    for (const hit of hits) matched.add(hit)
    const { kind, scope, text } = label
    const result = hits.length > 0 ? 'found' : 'missed'
    return [{ result, is_medium: hits.some(isMedium), kind, scope, text }]
  })
  const wrong = found.filter((finding) => !matched.has(finding))
  return [...judged, ...wrong.map((finding) => toWrong(finding, conversation))]
}

function toWrong(finding: FindingDraft, conversation: LabelledConversation): Judged {
  const label = conversation.constraints.find((one) => isSame(finding, one, conversation))
  return {
    result: 'wrong',
    is_medium: isMedium(finding),
    kind: label?.kind ?? kindsOf(finding)[0] ?? slotOf(finding),
    scope: label?.scope ?? 'no instruction',
    text: textOf(finding, 'original_context'),
    violation: textOf(finding, 'violation'),
  }
}

function isMedium({ severity }: FindingDraft): boolean {
  return severity !== 'info' && severity !== 'low'
}

function findBroken(conversation: LabelledConversation): FindingDraft[] {
  const rows = runOf(conversation).observations()
  const run = reconstruct(rows, { project_id: '', task_id: '', conversation_id: '' })
  const { findings } = runDetectors(run, settings)
  return findings.filter(({ type, evidence }) => type === 'lost_context' && 'rule' in evidence)
}

function runOf({ id, messages }: LabelledConversation): AgentRun {
  return messages.reduce(
    (run, { role, content }) => {
      if (role === 'system') return run.system(content)
      return role === 'user' ? run.user(content) : run.assistant(content)
    },
    agentRun(`instructions ${id}`),
  )
}

/** Tells whether a finding is about a label: a sentence of its message, and its kind or a near one. */
function isSame(
  finding: FindingDraft,
  label: LabelledInstruction,
  { messages }: LabelledConversation,
): boolean {
  const said = messages[label.message]?.content ?? ''
  const quote = textOf(finding, 'original_context')
  const isHere = said.includes(quote) || quote.includes(label.text)
  return isHere && kindsOf(finding).includes(label.kind)
}

function textOf({ evidence }: FindingDraft, key: string): string {
  const value = (evidence as Record<string, unknown>)[key]
  return typeof value === 'string' ? value : ''
}

function slotOf(finding: FindingDraft): string {
  return textOf(finding, 'slot')
}

/** Returns the kinds of labels that a slot and its value can be. */
function kindsOf(finding: FindingDraft): readonly string[] {
  const slot = slotOf(finding)
  const key = `${slot} ${textOf(finding, 'expected')}`
  const known = kindsByRule.find(([start]) => key.startsWith(start))
  return known?.[1] ?? []
}

const places = ['signature', 'ends_with', 'last_word', 'last_sentence', 'required_word']
const kindsByRule: readonly (readonly [start: string, kinds: readonly string[]])[] = [
  ['language', ['language']],
  ['length:words', ['words']],
  ['length:sentences', ['sentences']],
  ['length:characters', ['characters']],
  ['length:lines', ['lines']],
  ['length:paragraphs', ['paragraphs']],
  ['length:bullets', ['bullets', 'numbered_list']],
  ['forbidden:', ['forbidden_word']],
  ['uses:', ['required_word', 'word_count', 'ends_with', 'starts_with', 'signature']],
  ['required:start', ['starts_with', 'first_word', 'first_sentence', 'required_word']],
  ['required:end', places],
  ['emoji none', ['no_emoji']],
  ['emoji some', ['emoji_required']],
  ['bullets none', ['no_bullets', 'no_lists', 'no_markdown']],
  ['bullets not_numbered', ['no_bullets', 'no_numbered_list']],
  ['bullets numbered', ['numbered_list', 'bullets']],
  ['bullets bullets', ['bullets', 'format_bullets', 'numbered_list']],
  ['heading', ['no_heading']],
  ['bold', ['no_bold']],
  ['italics', ['no_italics']],
  ['links', ['no_links']],
  ['code none', ['no_code']],
  ['code only', ['code_only']],
  ['table none', ['no_table']],
  ['table table', ['format_table']],
  ['shape json', ['format_json']],
  ['shape csv', ['format_csv']],
  ['shape plain', ['no_markdown', 'plain_text']],
  ['shape yes_no', ['yes_no', 'words', 'first_word']],
  ['quotes', ['no_quotes', 'no_punctuation']],
  ['question none', ['no_question']],
  ['question asked', ['ends_with_question', 'question_required']],
  ['ending', ['ends_with_question']],
  ['digits', ['no_digits', 'no_numbers']],
  ['numbers', ['no_numbers', 'no_digits']],
  ['case lower', ['all_lower']],
  ['case upper', ['all_upper']],
  ['case title', ['title_case']],
  ['sign:', ['no_punctuation', 'no_question']],
  ['letter:', ['no_letter']],
]
