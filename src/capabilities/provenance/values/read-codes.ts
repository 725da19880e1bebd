import { compact, foldText } from '../text/index.ts'
import { findUnit } from './units.ts'
import type { Value, ValueKind } from './value.ts'

type Reader = { kind: ValueKind; pattern: RegExp; normal: (text: string) => string }

const readers: readonly Reader[] = [
  {
    kind: 'url',
    pattern:
      /\bhttps?:\/\/[^\s<>"'`)\]}|]{3,2000}|(?<![\w@./-])www\.[\w-]{1,64}(?:\.[\w-]{2,32}){1,4}(?:\/[^\s<>"'`)\]}|]{0,400})?/gi,
    normal: normaliseUrl,
  },
  {
    kind: 'email',
    pattern: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}/g,
    normal: (text) => text.toLowerCase(),
  },
  {
    kind: 'path',
    pattern: /(?<![\w.])(?:~|\.{1,2})?(?:\/[\w.@+-]{1,80}){2,20}\/?/g,
    normal: (text) => text.toLowerCase(),
  },
  {
    kind: 'version',
    pattern:
      /(?<![\w.,/-])(?!\d{1,3}(?:\.\d{3}){2}(?![\d.]))v?\d{1,5}(?:\.\d{1,5}){2,3}(?:[-+][\w.]{1,30})?(?:\/\d{1,3})?(?![\w]|\.\d)/gi,
    normal: (text) => text.toLowerCase().replace(/^v/, ''),
  },
  {
    kind: 'version',
    pattern: /(?<![\w.,/-])v\d{1,4}(?:\.\d{1,4})?(?![\w]|\.\d)/g,
    normal: (text) => text.toLowerCase().replace(/^v/, ''),
  },
  {
    kind: 'id',
    // Numbers of accounts and cards, in groups of four.
    pattern:
      /(?<![\w-])(?:[A-Z]{2}\d{2}(?: [A-Z\d]{4}){2,7}(?: [A-Z\d]{1,3})?|(?!(?:(?:19|20)\d\d[ -]){2})\d{4}(?:[ -]\d{4}){2,5})(?![\w-])/g,
    normal: compact,
  },
  {
    kind: 'id',
    // Phone numbers: seven digits or more, in groups.
    pattern:
      /(?<![\w.,-])(?:\+\d{1,3}[ ()/-]{0,3}(?:\d{1,8}[ ()/-]{1,2}){1,5}\d{2,8}|0\d{2,5}(?:[ /-]\d{2,8}){1,4}|\+\d{7,15}|(?:1[ -])?(?:\d{3}[ -]|\(\d{3}\) ?)\d{3}-\d{4}|1[ -]\d{3}[ -]\d{3}[ -]\d{4}|\d{2}-\d{2}-\d{2} \/ \d{6,10})(?![\w-])/g,
    normal: compact,
  },
  {
    kind: 'id',
    // A long figure without separators names something.
    pattern: /(?<![\w.,€$£#-])0\d{3,20}(?![\w.,]\w)|(?<![\w.,€$£-])\d{11,32}(?![\w.,]\w)/g,
    normal: compact,
  },
]

const code =
  /(?<![\p{L}\p{N}_])(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])(?=[\p{L}\p{N}_./:#-]{0,80}\d)(?=[\p{L}\p{N}_./:#-]{0,80}[\p{L}_]|\d{1,8}[-/]\d)[\p{L}\p{N}]+(?:[-_./:#]{1,2}[\p{L}\p{N}]+){0,16}(?![\p{L}\p{N}_])/gu

/** Reads URLs, addresses, paths, versions, phone numbers and ids of a text, in this order. */
export function readCodes(text: string): Value[] {
  const found = readers.flatMap(({ kind, pattern, normal }) =>
    [...text.matchAll(pattern)].map((match) => valueFrom(kind, match, normal)),
  )
  return [...found, ...readIds(text)]
}

function readIds(text: string): Value[] {
  return [...text.matchAll(code)].flatMap((match) =>
    isId(match[0]) ? [valueFrom('id', match, compact)] : [],
  )
}

/** Maximum characters of an id; longer tokens are not checked. */
const id_chars_max = 200

const measured =
  /^[\d.,]+(?:-?[\p{L}µ°%]{1,9}[²³23]?|[–-]\d+)$|^\d+(?:[.,:/h-]\d+)+\p{L}{0,3}$|^\d{1,2}h\d{2}$|^\d+(?:-\p{L}+)+$|^\d[\d.,]*\p{L}?\/(?:\p{L}{1,12}|\d{1,3}\p{L}?)$/u
const publicName =
  /^(?:sha|aes|utf|iso|rfc|http|tls|ipv|base|md|covid|co|pm|mp|h(?=\.?26)|gmt|utc|cet|int|uint|float|arm|x|web|vitamin|section|port|b2|cve|din|en|iec|ieee|ecma|es|pep|bs|usb|q[1-4]|h[12]|fy|cy|kw|w|nist|ansi|python|java|node|windows)[-/ ]?v?\d[\d.]{0,5}(?:-\d{4,6})?$/i

/** An amount of a bank message: `USD48500`, `32A:260902EUR1234`. */
const gluedAmount = /(?:^|[:/\d])(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|INR|JPY|CAD|AUD)\d{1,15}$/

/** Scripts that put no space between a word and a number. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

function isId(token: string): boolean {
  if (gluedAmount.test(token) || unspaced.test(token)) return false
  if (token.length > id_chars_max || measured.test(token) || isMeasure(token)) return false
  if (token.split(/[-_/]/).every((part) => publicName.test(part) || /^\p{L}{1,5}$/u.test(part)))
    return false
  if (publicName.test(token)) return false
  const count = token.match(/\d/g)?.length ?? 0
  return count >= 2 && token.length >= 3
}

/** Tells whether all letters of a token are units: `1h30m`, `10k-20k`, `1920x1080`. */
function isMeasure(token: string): boolean {
  const words = token.match(/\p{L}+/gu) ?? []
  return (
    /^\d/.test(token) &&
    words.every((word) => /^[kmxgt×]$/i.test(word) || findUnit(word) !== undefined)
  )
}

function valueFrom(
  kind: ValueKind,
  match: RegExpExecArray,
  normal: (text: string) => string,
): Value {
  const text = match[0].replace(/[.,;:!?*_/-]+$/, '')
  return { kind, text, at: [match.index, match.index + text.length], normal: normal(text) }
}

/** Returns a URL without its scheme, `www.` and a slash at its end. */
export function normaliseUrl(text: string): string {
  return text
    .replace(/[.,;:!?*_]+$/, '')
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/\/$/, '')
}

const quotes = [
  /"([^"\n]{12,600})"/g,
  /“([^“”\n]{12,600})”/g,
  /„([^„“”\n]{12,600})[“”]/g,
  /«[  ]?([^«»\n]{12,600})[  ]?»/g,
  /(?<![\p{L}\p{N}])‘([^‘’\n]{12,600})’(?![\p{L}\p{N}])/gu,
]

/** Reads the quotations of a text: three words or more, 12 characters or more. */
export function readQuotes(text: string): Value[] {
  return quotes.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const inner = match[1] ?? ''
      if (inner.trim().split(/\s+/).length < 3) return []
      const start = match.index + match[0].indexOf(inner)
      const at = [start, start + inner.length] as const
      return [{ kind: 'quote' as const, text: inner, at, normal: foldText(inner).text.trim() }]
    }),
  )
}
