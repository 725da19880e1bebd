import { hash } from 'node:crypto'
import { itemsOf, objectFrom, parsedJson } from '../../../kernel/json-values.ts'
import { printable } from '../../../kernel/printable.ts'
import type { Observation } from '../../../model/observation.ts'
import { type HistoryMessage, readAnswer, readHistory } from '../../detection/index.ts'
import type { SeenSource } from '../contract.ts'

/** Texts that an agent saw before its answer. */
export type SeenTexts = {
  seen: SeenSource[]
  /** The last message of the user in the answer's own input; '' without one. */
  question: string
  /** Arguments of the agent's calls. They support no value of the answer. */
  calls: { source: string; text: string }[]
  /** Sentences on missing content. */
  gaps: string[]
}

/** Types of observations that have what an agent saw: model calls, tools and retrievers. */
export const seenTypes: ReadonlySet<Observation['type']> = new Set([
  'generation',
  'tool',
  'retriever',
])

/**
 * Collects the texts that the agent saw from observations up to its answer, each text once, at the
 * first observation with it. The rows are sorted by start; the last model call gave the answer.
 * Words of the agent are not a source: its answers and the arguments of its calls are left out, also
 * where a later user or system message repeats them, as the instructions of a sub-agent and the
 * summary of a compacted history do. Such a part is blank in the source, so that offsets stay.
 */
export function collectSeen(rows: readonly Observation[]): SeenTexts {
  const book: Book = {
    sources: new Map(),
    named: new Map(),
    toolNames: new Map(),
    own: new Set(),
    calls: new Map(),
    cut: 0,
    hidden: 0,
  }
  const calls = rows.filter(({ type, input }) => type === 'generation' && input !== '')
  const isAnswerKnown = rows.at(-1)?.input !== ''
  let question = ''
  for (const row of rows) {
    if (row.type === 'generation') {
      question = takeModelCall(book, row) ?? question
      if (isHidden(row, calls)) book.hidden += 1
    } else if (seenTypes.has(row.type)) {
      takeTool(book, row)
      // The history of the answer has the results of tools that report none.
      if (row.output === '' && row.status === 'ok' && !isAnswerKnown) book.hidden += 1
    }
  }
  const made = [...book.calls].map(([text, source]) => ({ source, text }))
  return { seen: [...book.sources.values()], question, calls: made, gaps: gapsOf(book) }
}

type Book = {
  /** By digest. */
  sources: Map<string, SeenSource>
  /** How many sources have a name. */
  named: Map<string, number>
  /** Names of tools by the ids of their calls. */
  toolNames: Map<string, string>
  /** Words of the agent, oldest first. */
  own: Set<string>
  /** Names of calls by their arguments. */
  calls: Map<string, string>
  /** Numbers of observations with cut content, and without content. */
  cut: number
  hidden: number
}

/** Returns whether a call has no content, and no other report of the call at that time has it. */
function isHidden(row: Observation, calls: readonly Observation[]): boolean {
  if (row.input !== '' || row.status !== 'ok') return false
  return !calls.some(
    (call) =>
      call.trace_id === row.trace_id &&
      call.start_time <= row.end_time &&
      call.end_time >= row.start_time,
  )
}

function gapsOf({ cut, hidden }: Book): string[] {
  return [
    ...(cut === 0 ? [] : [`The content of ${countOf(cut)} was cut.`]),
    ...(hidden === 0 ? [] : [`The content of ${countOf(hidden)} is not stored.`]),
  ]
}

function countOf(observations: number): string {
  return observations === 1 ? '1 observation' : `${observations} observations`
}

/** Collects the input of a model call. Returns its last user message. */
function takeModelCall(book: Book, row: Observation): string | undefined {
  const is_cut = row.content_state === 'truncated'
  if (is_cut) book.cut += 1
  const messages = row.input === '' ? [] : readHistory(row)
  if (messages === undefined) {
    for (const { tool_call_id, content } of row.tool_results) {
      const name = book.toolNames.get(tool_call_id) ?? 'result'
      add(book, { role: 'tool', name: `tool ${name}`, text: content, row, is_complete: false })
    }
  }
  let question: string | undefined
  for (const message of messages ?? []) {
    takeMessage(book, message, row)
    if (message.role === 'user' && message.text.trim() !== '') question = message.text
  }
  const answer = readAnswer(row)
  if (answer !== undefined) noteOwn(book, answer)
  return question
}

function takeMessage(book: Book, message: HistoryMessage, row: Observation): void {
  const { role, text } = message
  if (role === 'assistant') {
    noteOwn(book, message)
    return
  }
  const is_complete = row.content_state !== 'truncated' && !isPartial(text)
  const tool = message.tool_name || book.toolNames.get(message.tool_call_id) || 'result'
  const name = role === 'tool' ? `tool ${tool}` : `${role} message`
  add(book, { role, name, text, row, is_complete })
}

/** Collects the result of a tool or retriever that reported its own observation. */
function takeTool(book: Book, row: Observation): void {
  if (row.output === '') return
  const value = parsedJson(row.output)
  const text = typeof value === 'string' ? value : row.output
  const is_cut = row.content_state === 'truncated'
  if (is_cut) book.cut += 1
  const kind = row.type === 'retriever' ? 'retriever' : 'tool'
  const is_complete = !is_cut && !isPartial(text)
  add(book, { role: 'tool', name: `${kind} ${row.name}`.trim(), text, row, is_complete })
}

type NewSource = Pick<SeenSource, 'role' | 'text' | 'is_complete'> & {
  name: string
  row: Observation
}

function add(book: Book, { role, name, text, row, is_complete }: NewSource): void {
  const digest = hash('sha256', text)
  const known = book.sources.get(digest)
  if (known !== undefined) {
    known.is_complete ||= is_complete
    return
  }
  const isMessage = role !== 'tool'
  const shown = isMessage ? blankOwnWords(text, book.own) : text
  if (shown.trim() === '') return
  const source = nameSource(book.named, printable(name).slice(0, name_chars_max), isMessage)
  const { trace_id, observation_id } = row
  const place = { trace_id, observation_id }
  book.sources.set(digest, { source, role, text: shown, place, is_complete, digest })
}

/**
 * Characters of a source's name: evidence repeats it, and an agent chooses the names of its tools.
 */
const name_chars_max = 120

/**
 * Returns a name that no source has: `tool look`, then `tool look (2)`. Messages are all numbered.
 */
function nameSource(named: Map<string, number>, name: string, isMessage: boolean): string {
  let count = named.get(name) ?? 0
  let source = name
  do {
    count += 1
    source = isMessage ? `${name} ${count}` : count === 1 ? name : `${name} (${count})`
  } while (source !== name && named.has(source))
  named.set(name, count)
  if (!named.has(source)) named.set(source, 1)
  return source
}

/** Shorter words are shared by chance: names, figures, set phrases. */
const own_chars_min = 40
const own_max = 500
/** Maximum calls whose arguments are kept. */
const calls_max = 2_000
/** Maximum nesting and strings of a call's arguments. */
const strings_max = 100

/** Remembers the words of a message of the agent: its text and the texts in its calls. */
function noteOwn({ own, toolNames, calls: made }: Book, { text, calls }: HistoryMessage): void {
  const words = [text]
  for (const { id, name, arguments: args } of calls) {
    if (id !== '') toolNames.set(id, name)
    if (made.size < calls_max) made.set(args, `call of ${name}`)
    collectStrings(parsedJson(args) ?? args, words)
  }
  for (const word of words) {
    const trimmed = word.trim()
    if (trimmed.length >= own_chars_min) own.add(trimmed)
  }
  for (const oldest of own) {
    if (own.size <= own_max) break
    own.delete(oldest)
  }
}

function collectStrings(value: unknown, strings: string[], depth = 0): void {
  if (strings.length > strings_max || depth > 8) return
  if (typeof value === 'string') strings.push(value)
  else if (Array.isArray(value)) for (const one of value) collectStrings(one, strings, depth + 1)
  else {
    const object = objectFrom(value)
    if (object === undefined) return
    for (const one of itemsOf(Object.values(object))) collectStrings(one, strings, depth + 1)
  }
}

function blankOwnWords(text: string, own: ReadonlySet<string>): string {
  let shown = text
  for (const word of own) {
    if (word.length <= shown.length && shown.includes(word)) {
      shown = shown.replaceAll(word, () => ' '.repeat(word.length))
    }
  }
  return shown
}

/**
 * Returns whether a text stands for content that is not in it: an image or a file (its digest, or
 * its part of a tool result), or a masked value.
 */
function isPartial(text: string): boolean {
  return partDigest.test(text) || dataPart.test(text) || text.includes('[masked')
}

/** Written by the reader of messages for a part without text. */
const partDigest = /\[[\w-]{1,40} [\w-]{16}\]/
const dataPart = /^\[\{[\s\S]{0,200}"type":"(?:input_|output_)?(?:image|file|audio|video|document)/
