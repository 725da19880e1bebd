/** A piece of text that repeats within an answer. */
export type Chant = {
  /** The repeated piece, `chunk_chars` long, and the text from its start to the next repetition. */
  chunk: string
  period: string
  repeats: number
  /** Characters from the start of the first to the end of the last repetition. */
  chars: number
  /** Number of different texts between repetitions. */
  periods: number
}

const chunk_chars = 50
/** Shorter repetition is emphasis (`hahaha`). */
const chars_min = 200

type ChantRule = { repeats: number; gap_chars_max: number; periods_max: number }

/**
 * Returns the most repeated piece of a text that the rule accepts as a chant, otherwise undefined.
 * Linear: each position is looked up once.
 */
export function findChant(text: string, rule: ChantRule): Chant | undefined {
  if (text.length < chars_min || !mayRepeat(text, rule.gap_chars_max)) return undefined
  const places = new Map<string, number[]>()
  for (let at = 0; at + chunk_chars <= text.length; at++) {
    const chunk = text.slice(at, at + chunk_chars)
    const known = places.get(chunk)
    if (known === undefined) places.set(chunk, [at])
    else known.push(at)
  }
  let most: Chant | undefined
  for (const [chunk, at] of places) {
    if (at.length < rule.repeats || at.length <= (most?.repeats ?? 0)) continue
    most = toChant(text, { chunk, at }, rule) ?? most
  }
  return most
}

/** Distance of the positions probed first: a chant repeats soon after at least one of them. */
const probe_chars = 25
const probeGaps = 3

function mayRepeat(text: string, gap_chars_max: number): boolean {
  for (let at = 0; at + chunk_chars <= text.length; at += probe_chars) {
    const chunk = text.slice(at, at + chunk_chars)
    const ahead = text.slice(at + 1, at + 1 + chunk_chars + probeGaps * gap_chars_max)
    if (ahead.includes(chunk)) return true
  }
  return false
}

type ChunkPositions = { chunk: string; at: readonly number[] }

/** Returns the chant of the longest row of nearby positions, if it is one. */
function toChant(text: string, { chunk, at }: ChunkPositions, rule: ChantRule): Chant | undefined {
  if (!isProse(chunk)) return undefined
  const row = findLongestRow(at, rule.gap_chars_max * probeGaps)
  const first = row[0] ?? 0
  const last = row.at(-1) ?? 0
  const chars = last - first + chunk_chars
  if (row.length < rule.repeats || chars < chars_min) return undefined
  if ((last - first) / (row.length - 1) > rule.gap_chars_max) return undefined
  const periods = new Set(row.slice(1).map((place, nth) => text.slice(row[nth] ?? 0, place)))
  if (periods.size > rule.periods_max) return undefined
  const [period = chunk] = periods
  return { chunk, period, repeats: row.length, chars, periods: periods.size }
}

/** Returns the longest row in which neighbours are at most `gap_max` apart. */
function findLongestRow(at: readonly number[], gap_max: number): number[] {
  let longest: number[] = []
  let row: number[] = []
  for (const place of at) {
    if (place - (row.at(-1) ?? place) > gap_max) row = []
    row.push(place)
    if (row.length > longest.length) longest = row
  }
  return longest
}

/** Tells whether letters make up enough of it, unlike in rules, dot leaders and numbers. */
function isProse(chunk: string): boolean {
  const letters = chunk.match(/\p{L}/gu)?.length ?? 0
  return letters >= chunk_chars / 3
}

/**
 * Splits the prose of a text at fenced code, tables, lists, headings, quotations and rules, which
 * are left out because they repeat for a reason. Data and markup have no prose.
 */
export function splitProse(text: string): string[] {
  if (isDataText(text)) return []
  const parts: string[] = []
  let part: string[] = []
  let fence: string | undefined
  const close = () => {
    if (part.length > 0) parts.push(part.join('\n'))
    part = []
  }
  for (const line of text.split('\n')) {
    const trimmed = line.trim()
    const mark = findFence(trimmed)
    if (fence !== undefined) {
      if (mark !== undefined && mark === fence) fence = undefined
    } else if (mark !== undefined) {
      fence = mark
      close()
    } else if (isMarked(line, trimmed)) close()
    else part.push(line)
  }
  close()
  return parts
}

function isDataText(text: string): boolean {
  const start = text.slice(0, 200).trimStart()
  return (
    /^(\{\s{0,100}["'}]|\[\s{0,100}[["'{\d\]])/.test(start) || /^<(?!think|reason)/i.test(start)
  )
}

function findFence(line: string): string | undefined {
  if (line.startsWith('```')) return '```'
  return line.startsWith('~~~') ? '~~~' : undefined
}

/** Tells whether a line belongs to a table, list, heading, quotation, rule, markup, log or code. */
function isMarked(line: string, trimmed: string): boolean {
  if (/^\[?(INFO|WARN|WARNING|ERROR|DEBUG|TRACE|\d{4}-\d\d)\b/.test(trimmed)) return true
  if (/^(#{1,6} |>|<[a-z/]|[-*+•–] |\d{1,9}[.)] |\(?[a-z\d][.)] )/i.test(trimmed)) return true
  if (trimmed.startsWith('|') || trimmed.split('|').length > 2 || trimmed.includes('\t'))
    return true
  if (/^(\t| {4})/.test(line) || isCode(trimmed)) return true
  return trimmed !== '' && !/[\p{L}\p{N}]/u.test(trimmed)
}

/** Recognises a statement (`f(x);`, `} else {`) and fields separated by commas without spaces. */
function isCode(trimmed: string): boolean {
  if (/[;{}]$/.test(trimmed) && /[()=<>{}]/.test(trimmed)) return true
  return (trimmed.match(/[,;](?=[^\s])/g)?.length ?? 0) >= 3
}
