import { fractionSign, readFraction } from './fractions.ts'

/** A word or number with its normalised form and its place in the text. */
export interface Token {
  readonly term: string
  readonly start: number
  readonly end: number
}

/** Code units of a word that are indexed; the rest of a longer word is ignored. */
const maxWordLength = 64

/** Numbers, characters of scripts without spaces, and words with the digits that follow (`V5`). */
const tokenPattern = new RegExp(
  `\\d+(?:[.,\\u00a0\\u202f]\\d+)*${fractionSign}?|[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]|\\p{L}(?:(?![\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}])[\\p{L}\\p{M}\\p{N}])*`,
  'gu',
)
const endsInFraction = new RegExp(`^(\\d+)(${fractionSign})$`, 'u')

/** Splits text into terms: lower case, without accents, lightly stemmed, numbers in one form. */
export function tokenize(text: string): Token[] {
  return isAscii(text) ? tokenizeAscii(text) : tokenizeAny(text)
}

/** Returns the terms of a text without their places. */
export function termsOf(text: string): string[] {
  const terms: string[] = []
  if (isAscii(text))
    scanAscii(text, (start, end) => terms.push(normaliseTerm(text.slice(start, end))))
  else for (const [word] of text.matchAll(tokenPattern)) terms.push(normaliseTerm(word))
  return terms
}

/** Splits any text into terms. */
export function tokenizeAny(text: string): Token[] {
  const tokens: Token[] = []
  for (const match of text.matchAll(tokenPattern)) {
    const start = match.index
    tokens.push({ term: normaliseTerm(match[0]), start, end: start + match[0].length })
  }
  return tokens
}

/** Reports whether a text has ASCII characters only. */
export function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
  return /^[\x00-\x7f]*$/.test(text)
}

/** Splits ASCII text as `tokenizeAny` does. Most text is ASCII, and the pattern takes longer. */
function tokenizeAscii(text: string): Token[] {
  const tokens: Token[] = []
  scanAscii(text, (start, end) => {
    tokens.push({ term: normaliseTerm(text.slice(start, end)), start, end })
  })
  return tokens
}

function scanAscii(text: string, onTerm: (start: number, end: number) => void): void {
  for (let start = 0; start < text.length; ) {
    const code = text.charCodeAt(start)
    const end = isDigit(code) ? endOfNumber(text, start) : endOfWord(text, start)
    if (end > start) onTerm(start, end)
    start = Math.max(end, start + 1)
  }
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (isDigit(text.charCodeAt(end)) || isSeparator(text, end)) end += 1
  return end
}

/** Reports whether a point or comma with a digit behind it is at a position. */
function isSeparator(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return (code === 0x2e || code === 0x2c) && isDigit(text.charCodeAt(at + 1))
}

/** Returns the end of the word that starts at a position; the position itself without a word. */
function endOfWord(text: string, start: number): number {
  let end = start
  while (isLetter(text.charCodeAt(end)) || (end > start && isDigit(text.charCodeAt(end)))) end += 1
  return end
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Reports whether a code is an ASCII letter; bit 0x20 makes it lower case. */
function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

function normaliseTerm(word: string): string {
  const first = word.charCodeAt(0)
  if (first >= 0x30 && first <= 0x39) return normaliseNumber(word)
  const short = word.length > maxWordLength ? word.slice(0, maxWordLength) : word
  const lower = short.toLowerCase()
  // Most words are ASCII, which no normalisation changes.
  const plain = /^[a-z0-9]+$/.test(lower) ? lower : lower.normalize('NFKD').replace(/\p{M}/gu, '')
  return stem(plain)
}

/**
 * Writes a number in one form: `1,200`, `1.200.000` and `1 200` without groups, `31,8` as `31.8`,
 * `2½` as `2.5`.
 */
function normaliseNumber(digits: string): string {
  if (/^\d+$/.test(digits)) return digits
  const [, whole, fraction = ''] = endsInFraction.exec(digits) ?? []
  if (whole !== undefined) return String(Number(whole) + readFraction(fraction))
  const isGrouped =
    /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(digits) ||
    /^\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?$/.test(digits) ||
    /^\d{1,3}(?:[\u00a0\u202f]\d{3})+(?:[.,]\d+)?$/.test(digits)
  const group = /[\u00a0\u202f]/.test(digits) ? /[\u00a0\u202f]/g : isGrouped && groupOf(digits)
  const joined = group ? digits.replace(group, '') : digits
  const decimal = joined.replace(',', '.')
  return /^\d+\.\d+$/.test(decimal) ? decimal.replace(/\.?0+$/, '') : decimal
}

function groupOf(digits: string): RegExp {
  return digits.search(/[.,]/) === digits.indexOf(',') ? /,/g : /\./g
}

/** Removes English endings of plurals and verbs; a light stemmer that rarely merges two words. */
export function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word
  let rest = word
  if (rest.endsWith('ies') && rest.length > 4) rest = `${rest.slice(0, -3)}y`
  else if (/(?:sses|shes|ches|xes)$/.test(rest)) rest = rest.slice(0, -2)
  else if (rest.endsWith('s') && !/(?:ss|us|is)$/.test(rest)) rest = rest.slice(0, -1)
  if (rest.length > 5 && rest.endsWith('ing')) rest = rest.slice(0, -3)
  else if (rest.length > 4 && rest.endsWith('ed')) rest = rest.slice(0, -2)
  if (rest.length > 3 && /([bdgklmnprt])\1$/.test(rest)) rest = rest.slice(0, -1)
  return rest.length > 3 && rest.endsWith('e') ? rest.slice(0, -1) : rest
}

/** Words of grammar, stemmed; they carry no subject and have no weight when windows are ranked. */
export const grammarWords: ReadonlySet<string> = new Set(
  (
    'a about also an and any are as at be been both but by can could did do does each for from ' +
    'had has have he her his i if in into is it its me more most my of on or our out over own ' +
    'she should so than that the their them then there they this those to up was we were what ' +
    'when where which who whom will with would yes you your der die das den dem des ein eine ' +
    'einen einem einer und oder ist sind war mit von zu im auf fur le la les un une des du de et ' +
    'ou est sont dans pour par au aux el los las una y es son en por con del al se'
  )
    .split(' ')
    .map(stem),
)
