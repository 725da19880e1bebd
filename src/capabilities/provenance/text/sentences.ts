import type { Range } from './mapped-text.ts'

/** Offsets of a part of a text. */
export type Part = { start: number; end: number }

const abbreviations = new Set(
  (
    'mr mrs ms dr prof st no nos nr inc ltd corp co jr sr fig sec art vol pp ed approx etc vs e.g i.e eg ie al cf dept est ' +
    'ca bzw z z.b u u.a d d.h usw ggf inkl evtl str tel abs hr fr mme mlle m p sra srta ud uds av núm pág ext max min temp ' +
    'jan feb mar apr jun jul aug sep sept oct nov dec okt dez'
  ).split(' '),
)

const months =
  /^\s*(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|jan|feb|apr|jun|jul|aug|sept?|okt|nov|dez)/i

/** Splits a block into sentences, with offsets in the whole text. */
export function splitSentences(text: string, { start, end }: Part): Part[] {
  const parts: Part[] = []
  for (const part of segmentsOf(text, { start, end })) {
    const last = parts.at(-1)
    if (last !== undefined && belongsTo(text, last, part)) last.end = part.end
    else parts.push(part)
  }
  return parts.map((part) => trim(text, part)).filter((part) => part.end > part.start)
}

/** The segmenter splits neither `v2 stops. v3 starts` nor `It fell. €5 is left`. */
function* segmentsOf(text: string, { start, end }: Part): Generator<Part> {
  if (!mark.test(text.slice(start, end))) {
    yield { start, end }
    return
  }
  for (const { segment, index } of segmenter.segment(
    text.slice(start, end).replaceAll('\n', ' '),
  )) {
    let from = start + index
    for (const match of segment.matchAll(/[.!?]\s{1,4}(?=\p{Ll}{1,3}[\d\p{Lu}]|[£$€¥]\d)/gu)) {
      const to = start + index + match.index + match[0].length
      yield { start: from, end: to }
      from = to
    }
    yield { start: from, end: start + index + segment.length }
  }
}

/**
 * A character that may end a sentence; most lines have no such character, and the segmenter is
 * slow.
 */
const mark = /[\p{Sentence_Terminal}\u0085\u2024\u2028\u2029]/u

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/**
 * Returns whether the segmenter split wrongly, after an abbreviation, a decimal, a line's end, a
 * footnote.
 */
function belongsTo(text: string, last: Part, next: Part): boolean {
  const before = text.slice(Math.max(last.start, last.end - 24), last.end)
  // The number of a list's item.
  if (last.end - last.start < 8 && /^\s*\(?\d{1,3}[.)]\s*$/.test(before)) return true
  const after = text.slice(next.start, Math.min(next.end, next.start + 24))
  if (/^\s*(?:\[\d{1,3}\]\s*)+[.!?]?\s*$/.test(text.slice(next.start, next.end))) return true
  if (/^\s*[)\]}"”’»]/.test(after)) return true
  if (/^\s*\p{Ll}(?!\p{Ll}{0,2}[\d\p{Lu}])/u.test(after)) return !/[!?]["”)]?\s*$/.test(before)
  if (
    /^\s*\p{Extended_Pictographic}[\p{Extended_Pictographic}\s]*$/u.test(
      text.slice(next.start, next.end),
    )
  )
    return true
  if (!/\.\s*$/.test(before)) return /\n\s*$/.test(before) && !/[.!?:;]\s*$/.test(before.trimEnd())
  return endsInAbbreviation(before, after)
}

function endsInAbbreviation(before: string, after: string): boolean {
  const word = /([\p{L}][\p{L}.]{0,8}|\d{1,3})\.\s*$/u.exec(before)?.[1]?.toLowerCase() ?? ''
  if (/^\d+$/.test(word)) return /^\s*\d/.test(after) ? /\d\.$/.test(before) : months.test(after)
  if (/^[ap]\.m$/.test(word)) return /^\s*[\p{Ll}\d(]/u.test(after)
  if (/^(?:no|nr|fig|art|sec|vol|núm|pág|p)$/.test(word)) return /^\s*\d/.test(after)
  if (/^(?:inc|ltd|corp|co|etc|est|ext|max|min|str)$/.test(word))
    return /^\s*[\p{Ll},;(]/u.test(after)
  // One capital letter is an initial.
  return (
    abbreviations.has(word) || (/(?:^|[\s(])\p{Lu}\.\s*$/u.test(before) && !starter.test(after))
  )
}

/** Words that begin a sentence, and no name after an initial. */
const starter =
  /^\s*(?:it|its|the|this|that|these|those|an?|in|on|at|for|if|you|your|we|our|they|he|she|i|there|but|and|so|der|die|das|es|sie|er|im|le|la|les|il|elle|el|los|las)(?![\p{L}])/iu

function trim(text: string, { start, end }: Part): Part {
  const part = text.slice(start, end)
  const left = part.length - part.trimStart().length
  return { start: start + left, end: start + part.trimEnd().length }
}

/** Words of a sentence; a longer one is split, so that tables without line breaks stay bounded. */
export const maxSentenceWords = 120
/** Code units of a sentence; longer runs without a break are split as well. */
const maxSentenceLength = 4_000

/** Splits text into its lines, their sentences, and the parts of sentences that are too long. */
export function splitLinesAndSentences(text: string): Range[] {
  const ranges: Range[] = []
  for (const [start, end] of splitLines(text)) {
    for (const part of splitSentences(text, { start, end })) addShortParts(ranges, text, part)
  }
  return ranges
}

/** Returns the offsets of each line. */
export function splitLines(text: string): Range[] {
  const lines: Range[] = []
  let start = 0
  while (start <= text.length) {
    const next = text.indexOf('\n', start)
    const end = next < 0 ? text.length : next
    lines.push([start, end])
    start = end + 1
  }
  return lines
}

/** Splits a sentence after 120 words, and after 4,000 characters without a break. */
function addShortParts(ranges: Range[], text: string, { start, end }: Part): void {
  // A word has a letter and a space.
  if (end > start && end - start < 2 * maxSentenceWords - 1) {
    ranges.push([start, end])
    return
  }
  let from = start
  let words = 0
  for (let at = start; at < end; at++) {
    if (isSpace(text[at]) && !isSpace(text[at - 1])) words++
    if (words < maxSentenceWords && at - from < maxSentenceLength) continue
    ranges.push([from, at])
    from = at
    words = 0
  }
  if (end > from) ranges.push([from, end])
}

function isSpace(char = ''): boolean {
  return !(char > ' ' && char < '\u007f') && char.trim() === ''
}
