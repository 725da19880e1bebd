import {
  type Message,
  type Step,
  type TaskRun,
  type ToolUse,
  text_chars_max,
} from '../../reconstruction/index.ts'
import { effectOfTool } from '../tools/tool-effect.ts'
import { listAncestors } from './thread-course.ts'

/** A text that the agent had seen, with the name of its source. */
type SeenText = { source: string; text: string }

/** Texts that the agent had seen before an answer. */
type SeenTexts = {
  texts: readonly SeenText[]
  /** The results of each tool once more as one list: its sums and counts cover all pages. */
  pages: () => readonly SeenText[]
  /** Whether there is something that the answer can be based on: results of tools, a document. */
  hasFacts: 'results' | 'document' | 'none'
  /** Why a value that is missing in the texts may have been seen all the same. */
  gap: string | undefined
  /** Arguments of successful calls: their ids are not inventions of the answer. */
  asked: readonly SeenText[]
  /** How often it used each tool, with success. */
  counts: readonly SeenText[]
}

/**
 * Returns the texts that the agent had seen before an answer: messages of system and user in the
 * answer's history, results of all tools, answers that the client brought along, and what tools
 * changed as the agent asked. Other words of the agent are left out.
 */
export function readSeenTexts(run: TaskRun, step: Step): SeenTexts {
  const texts = new Map<string, SeenText>()
  const add = (source: string, text: string) => {
    if (text !== '' && !texts.has(text)) texts.set(text, { source, text })
  }
  addMessages(run, step, add)
  const hasDocument = sumChars(texts.values()) >= document_chars_min
  const uses = readUses(run, step)
  addResults(run, { step, uses }, add)
  const gap = findGapOfCall(run, step) ?? findGapOfTexts(texts.values())
  const hasResults = uses.some(({ result }) => result !== null)
  const done = uses.filter(({ fault }) => fault === null)
  return {
    texts: [...texts.values()],
    pages: () => pagesOf(Map.groupBy(uses, ({ name }) => name)),
    hasFacts: hasResults ? 'results' : hasDocument ? 'document' : 'none',
    gap,
    asked: done.map((use) => ({ source: `call of ${use.name}`, text: use.arguments ?? '' })),
    counts: [...Map.groupBy(done, ({ name }) => name)].map(([name, { length }]) => ({
      source: `calls of ${name}`,
      text: `${length} calls`,
    })),
  }
}

/** Returns what tools gave and were asked for after an answer, in its thread. */
export function readLaterResults(
  run: TaskRun,
  step: Step,
): { results: readonly SeenText[]; asked: readonly SeenText[] } {
  const uses = run.tools.filter(
    (use) => use.thread === step.thread && use.step !== null && use.step > step.index,
  )
  const done = uses.filter(({ fault, result }) => fault === null && result !== null)
  return {
    results: done.map(({ name, result }) => ({ source: name, text: result ?? '' })),
    asked: done.map(({ name, arguments: text }) => ({ source: name, text: text ?? '' })),
  }
}

/** Shorter messages contain instructions and questions rather than documents. */
const document_chars_min = 1_000

type Add = (source: string, text: string) => void

function addMessages(run: TaskRun, step: Step, add: Add): void {
  const history = new Set(listAncestors(run, step.thread))
  const counts = { system: 0, user: 0, tool: 0, assistant: 0 }
  for (const message of run.messages) {
    const { role, call, text } = message
    if (call > step.call) continue
    counts[role] += 1
    const name = role === 'assistant' ? 'earlier answer' : `${role} message`
    if (role !== 'tool' && isInHistory(run, message, history)) add(`${name} ${counts[role]}`, text)
  }
}

function isInHistory(run: TaskRun, message: Message, history: ReadonlySet<number>): boolean {
  const { role, thread, call, step } = message
  if (!history.has(thread)) return false
  // Answers before the first call of the task were not observed, nor what they were based on.
  return role !== 'assistant' || (step === null && run.threads[thread]?.calls[0] === call)
}

/** Returns the uses that were answered before the answer, of all threads: agents report back. */
function readUses(run: TaskRun, step: Step): ToolUse[] {
  const start = run.calls[step.call]?.start_time ?? 0n
  return run.tools.filter(({ answered_at }) => answered_at !== null && answered_at <= start)
}

function addResults(
  run: TaskRun,
  { step, uses }: { step: Step; uses: readonly ToolUse[] },
  add: Add,
): void {
  for (const use of uses) {
    if (use.fault === null && use.arguments !== null && effectOfTool(use) === 'changes')
      add(`change by ${use.name}`, use.arguments)
    add(`tool ${use.name}`, use.result ?? '')
  }
  for (const { role, call, text } of run.messages) {
    if (role === 'tool' && call <= step.call) add('tool message', text)
  }
}

/** Maximum characters of the results of a tool that are read as the pages of one list. */
const pages_chars_max = 200_000

function pagesOf(byName: ReadonlyMap<string, readonly ToolUse[]>): SeenText[] {
  return [...byName].flatMap(([name, uses]) => {
    const results = uses.flatMap(({ result }) => result ?? [])
    const chars = results.reduce((sum, { length }) => sum + length, 0)
    const isList = results.every((result) => /^\s*[[{]/.test(result))
    if (results.length < 2 || chars > pages_chars_max || !isList) return []
    const items = results.map((result) => result.trim().replace(/^\[(.*)\]$/s, '$1'))
    return [{ source: `results of ${name}`, text: `[${items.join(',\n')}]` }]
  })
}

function sumChars(texts: Iterable<SeenText>): number {
  let chars = 0
  for (const { text } of texts) chars += text.length
  return chars
}

const ownTools =
  /^(?:web_search|file_search|code_(?:interpreter|execution)|google_search|retrieval)/

function findGapOfCall(run: TaskRun, step: Step): string | undefined {
  const call = run.calls[step.call]
  if (call?.content !== 'full') return 'contents that were not recorded, or recorded in part'
  if (run.left_out.length > 0) return run.left_out.join('; ')
  const isHelped = call.tools?.some(({ name }) => ownTools.test(name)) === true
  return isHelped ? 'results of tools that the provider ran itself' : undefined
}

function findGapOfTexts(texts: Iterable<SeenText>): string | undefined {
  for (const seen of texts) {
    const gap = gapOfText(seen)
    if (gap !== undefined) return gap
  }
  return undefined
}

function gapOfText({ text }: SeenText): string | undefined {
  // A cut spares pairs of surrogates.
  if (text.length >= text_chars_max - 1)
    return `contents longer than ${text_chars_max.toLocaleString('en-US')} characters`
  if (!text.includes('[')) return undefined
  if (text.includes('[masked')) return 'contents that are masked'
  return picture.test(text) ? 'images and other contents without a text' : undefined
}

/** How a reconstruction writes images and other parts without a text. */
const picture = /\[[a-z_]{2,40} [\w-]{16}\]/
