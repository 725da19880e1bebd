import {
  type JsonObject,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../../kernel/json-values.ts'
import { usageOf } from './answer-usage.ts'

/** The parts of a long answer that the cut left. */
export type CutAnswer = { model: string; id: string; usage: JsonObject | undefined }

/**
 * Reads a long JSON answer that was cut. The proxy keeps its head and its end: the usage is in the end
 * (chat completions), or before the content (embeddings of some servers).
 */
export function readCutAnswer(text: string): CutAnswer {
  const head = headMembers(text)
  return {
    model: textFrom(head['model']) || textFrom(head['modelVersion']),
    id: textFrom(head['id']) || textFrom(head['responseId']),
    usage: usageInEnd(text) ?? usageOf(head),
  }
}

const usageTailChars = 4_096

function usageInEnd(text: string): JsonObject | undefined {
  const tail = text.slice(-usageTailChars)
  const from = tail.indexOf('{', tail.lastIndexOf('"usage"'))
  if (from === -1 || !tail.includes('"usage"')) return undefined
  for (let end = tail.lastIndexOf('}'); end > from; end = tail.lastIndexOf('}', end - 1)) {
    const usage = objectFrom(parsedJson(tail.slice(from, end + 1)))
    if (usage !== undefined) return usage
  }
  return undefined
}

const wanted: ReadonlySet<string> = new Set([
  ...['id', 'responseId', 'model', 'modelVersion'],
  ...['usage', 'usageMetadata'],
])

/** A longer value of these members is not read. */
const member_chars_max = 16 * 1024

/** Returns the wanted members of the outermost object whose values are whole. */
function headMembers(text: string): JsonObject {
  const found: Record<string, unknown> = {}
  for (const { name, end } of outerStrings(text)) {
    if (!wanted.has(name) || name in found) continue
    const value = valueAfter(text, end + 1)
    if (value !== undefined) found[name] = value
  }
  return found
}

/** Yields the strings of the outermost object that are in no inner one, with the places of their ends. */
function* outerStrings(text: string): Generator<{ name: string; end: number }> {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    depth += depthSteps[text[at] ?? ''] ?? 0
    if (text[at] !== '"') continue
    const end = stringEnd(text, at)
    if (end === -1) return
    if (depth === 1) yield { name: text.slice(at + 1, end), end }
    at = end
  }
}

const depthSteps: Readonly<Record<string, number>> = { '{': 1, '[': 1, '}': -1, ']': -1 }

/** Returns the place of the quote that ends a string; -1 without one. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return at
  }
  return -1
}

const valueStart = /\s*:\s*(?=["{])/y

/** Returns the text or object after the name of a member; undefined for another value. */
function valueAfter(text: string, from: number): unknown {
  valueStart.lastIndex = from
  if (!valueStart.test(text)) return undefined
  const start = valueStart.lastIndex
  const part = text.slice(start, start + member_chars_max)
  if (part[0] === '"') return parsedJson(part.slice(0, stringEnd(part, 0) + 1))
  for (let end = part.indexOf('}'); end !== -1; end = part.indexOf('}', end + 1)) {
    const value = objectFrom(parsedJson(part.slice(0, end + 1)))
    if (value !== undefined) return value
  }
  return undefined
}
