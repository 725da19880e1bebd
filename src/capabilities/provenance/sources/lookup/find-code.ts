import { compact } from '../../text/index.ts'
import type { Evidence, Value } from '../../values/index.ts'
import { firstOf, type SeenIndex } from '../seen/seen.ts'

/** Finds an id, URL, quotation and the like: as a value, else anywhere in the texts. */
export function findCode(value: Value, index: SeenIndex): Evidence | undefined {
  const same = index.codes.get(value.normal)
  const masked = value.text.replace(/(?:[.:-]?[xX*•]+){2,}$/, '')
  if (masked !== value.text)
    return findCode({ ...value, text: masked, normal: compact(masked) }, index)
  if (same !== undefined) return same.evidence
  if (/^localhost\b/i.test(value.text)) {
    const port = value.text.replace(/^localhost/i, '127.0.0.1')
    return findCode({ ...value, text: port, normal: compact(port) }, index)
  }
  if (value.kind === 'url' && value.text.includes('#')) {
    const page = value.text.replace(/#.*$/, '')
    return findCode({ ...value, text: page, normal: value.normal.replace(/#.*$/, '') }, index)
  }
  if (value.kind === 'version') return findVersion(value, index)
  if (value.kind === 'quote') return findQuotation(value, index)
  const letters = compactOf(value)
  if (letters.length < 3) return undefined
  return (
    firstOf(index.texts, (text) => text.findCompact(letters) ?? text.findCompact(`0${letters}`)) ??
    findNational(value, index) ??
    findShortened(value, letters, index)
  )
}

const hash = /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,40}$/

/** Finds the hash that a short one begins, or the id that differs by leading zeros: `TR-0918`. */
function findShortened(
  { kind }: Value,
  letters: string,
  { values }: SeenIndex,
): Evidence | undefined {
  if (kind !== 'id') return undefined
  const isHash = hash.test(letters)
  const plain = withoutZeros(letters)
  const found = values.find(({ value: { kind: other, text } }) => {
    if (other !== 'id') return false
    const seen = compact(text)
    return (isHash && seen.startsWith(letters)) || (plain !== seen && withoutZeros(seen) === plain)
  })
  return found?.evidence
}

function withoutZeros(letters: string): string {
  return letters.replace(/(?<=[\p{L}])0+(?=\d)/gu, '')
}

const endingIn =
  /(?:\bend(?:s|ed|ing|et|end)?(?: in| with| auf)?|\blast (?:four|4|\d+)(?: digits)?|\btermin\w+ (?:par|en|con)|[*•…xX.]{2,})(?: of| is| are|:)?[\s*•"“]{0,3}$/iu

/** Finds the long number that ends in these digits, if the answer says so: "ending in 4242". */
export function findEnding(
  { text, at: [start] }: Value,
  answer: string,
  { texts }: SeenIndex,
): Evidence | undefined {
  if (!/^\d{2,6}$/.test(text) || !endingIn.test(answer.slice(Math.max(0, start - 40), start)))
    return undefined
  const pattern = new RegExp(`(?:\\d[ -]?){4,30}${text}(?!\\d)`)
  return firstOf(texts, (one) => {
    const match = pattern.exec(one.text)
    if (match === null) return undefined
    return one.evidenceAt([match.index, match.index + match[0].length])
  })
}

function findQuotation({ text }: Value, { texts }: SeenIndex): Evidence | undefined {
  const quote = text.replace(/[\s.,;:!?…]+$/, '').replaceAll(' / ', ' ')
  return firstOf(texts, (one) => one.findQuote(quote))
}

/** Finds a version, or a longer one of which it is the start; an address in a seen network. */
function findVersion({ normal, text }: Value, { texts }: SeenIndex): Evidence | undefined {
  for (const seen of texts) {
    for (let at = seen.text.indexOf(normal); at >= 0; at = seen.text.indexOf(normal, at + 1)) {
      const before = seen.text[at - 1] ?? ''
      const after = seen.text[at + normal.length] ?? ''
      if (!/[\d.]/.test(before) && !/\d/.test(after)) {
        return { source: seen.source, quote: normal, at: [at, at + normal.length] }
      }
    }
    const network = networks(seen.text).find(({ low, high }) => isAddressBetween(text, low, high))
    if (network !== undefined) return { source: seen.source, quote: network.text, at: network.at }
  }
  return undefined
}

const cidr = /(?<![\d.])((?:\d{1,3}\.){3}\d{1,3})\/(\d{1,2})(?!\d)/g
const networks_max = 50

function networks(text: string) {
  return [...text.matchAll(cidr).take(networks_max)].map((match) => {
    const size = 2 ** (32 - Math.min(32, Number(match[2])))
    const low = Math.floor(addressNumber(match[1] ?? '') / size) * size
    const at = [match.index, match.index + match[0].length] as const
    return { text: match[0], at, low, high: low + size - 1 }
  })
}

function isAddressBetween(text: string, low: number, high: number): boolean {
  return (
    /^(?:\d{1,3}\.){3}\d{1,3}$/.test(text) &&
    addressNumber(text) >= low &&
    addressNumber(text) <= high
  )
}

function addressNumber(text: string): number {
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** Finds a phone number that was seen without its country's code. */
function findNational({ text, normal }: Value, { texts }: SeenIndex): Evidence | undefined {
  if (!text.startsWith('+')) return undefined
  for (const prefix of [1, 2, 3]) {
    const digits = normal.slice(prefix)
    if (digits.length <= 6) continue
    const found = firstOf(texts, (one) => one.findCompact(`0${digits}`) ?? one.findCompact(digits))
    if (found !== undefined) return found
  }
  return undefined
}

/** Without the zeros of a national prefix: +49 170 and 0170 are one number. */
function compactOf({ normal, kind }: Value): string {
  const only = normal.replace(/[^\p{L}\p{N}]/gu, '')
  return kind === 'id' && /^\d{6,}$/.test(only) ? only.replace(/^0+/, '') : only
}
