import type { Range } from './mapped-text.ts'

/** Words of a sentence; a longer one is split, so that tables without line breaks stay bounded. */
export const sentenceWords_max = 120
/** Code units of a sentence; longer runs without a break are split as well. */
const sentenceLength_max = 4_000

const abbreviations = new Set(
  (
    'al approx art bzw ca cf co corp dr e.g etc fig i.e inc jr ltd max min mr mrs ms no nos nr ' +
    'p pp prof resp rev sec sr st usw vgl vol vs z.b d.h p.ej'
  ).split(' '),
)

/**
 * Splits text into sentences at line breaks and after `. ! ?`, but not after abbreviations, initials
 * or the numbers of a list. One pass over the characters.
 */
export function splitSentences(text: string): Range[] {
  const ranges: Range[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const end = endOfSentence(text, start, at)
    if (end === undefined) continue
    addRange(ranges, text, start, end)
    start = end
    at = end - 1
  }
  addRange(ranges, text, start, text.length)
  return ranges
}

/** Returns where the sentence ends if a character ends it. */
function endOfSentence(text: string, start: number, at: number): number | undefined {
  const char = text[at] ?? ''
  if (char === '\n' || char === '\r') return at + 1
  if ('。！？'.includes(char)) return at + 1
  if (!'.!?…'.includes(char)) return undefined
  let end = at + 1
  while (end - at < 8 && '.!?…"\'”’)]»'.includes(text[end] ?? ' ')) end++
  const next = text[end]
  if (next !== undefined && !isSpace(next)) return undefined
  if (char === '.' && isAbbreviation(text, start, at)) return undefined
  return /\p{Ll}/u.test(text[end + 1] ?? '') && char !== '!' && char !== '?' ? undefined : end
}

function isAbbreviation(text: string, start: number, at: number): boolean {
  const before = text.slice(Math.max(start, at - 12), at)
  const word = /[\p{L}\p{N}.]+$/u.exec(before)?.[0] ?? ''
  if (/^\d{1,3}$/.test(word) && text.slice(start, at).trim() === word) return true
  if (/^\p{L}$/u.test(word) && /\p{Lu}/u.test(word)) return true
  return abbreviations.has(word.toLowerCase())
}

function isSpace(char: string): boolean {
  return char.trim() === ''
}

function addRange(ranges: Range[], text: string, start: number, end: number): void {
  const sentence = text.slice(start, end)
  const from = start + sentence.length - sentence.trimStart().length
  const to = start + sentence.trimEnd().length
  if (from < to) splitLongSentence(ranges, text, from, to)
}

/** Splits a sentence after 120 words, and after 4,000 characters without a break. */
function splitLongSentence(ranges: Range[], text: string, start: number, end: number): void {
  let from = start
  let words = 0
  for (let at = start; at < end; at++) {
    if (isSpace(text[at] ?? '') && !isSpace(text[at - 1] ?? '')) words++
    if (words < sentenceWords_max && at - from < sentenceLength_max) continue
    ranges.push([from, at])
    from = at
    words = 0
  }
  if (end > from) ranges.push([from, end])
}
