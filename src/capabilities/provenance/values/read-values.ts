import { decodeText, type MappedText, toSource } from '../text/index.ts'
import { readCodes } from './read-codes.ts'
import { readDates, readTimes } from './read-dates.ts'
import { readNumbers } from './read-numbers.ts'
import type { Value } from './value.ts'

/**
 * Reads the values of a text, in order: a part of the text belongs to one value, and a date wins
 * over its numbers. Quotations also contain values. Entities and escapes are decoded first.
 */
export function readValues(text: string): Value[] {
  const decoded = decodeText(text)
  if (decoded === undefined) return readAnyDigits(text)
  return readAnyDigits(decoded.text).map((value) => toWritten(decoded, value))
}

/** Digits of other scripts that are one code unit each, by the code of their zero. */
const zeros = [0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50, 0xff10]
const otherDigit = /[٠-٩۰-۹०-९০-৯๐-๙０-９]/g

/** Reads Arabic, Indian, Thai and full-width digits like others; values show them as written. */
function readAnyDigits(text: string): Value[] {
  const plain = text.replace(otherDigit, (digit) => {
    const code = digit.charCodeAt(0)
    const zero = zeros.findLast((one) => one <= code) ?? code
    return String(code - zero)
  })
  if (plain === text) return readPlain(text)
  return readPlain(plain).map((value) => ({ ...value, text: text.slice(...value.at) }))
}

/** Moves a value of a decoded text to its offsets in the text as written. */
function toWritten(decoded: MappedText, value: Value): Value {
  const at = toSource(decoded, value.at)
  const { amount } = value
  if (amount === undefined) return { ...value, at }
  const [from] = toSource(decoded, [amount.from, amount.from + 1])
  return { ...value, at, amount: { ...amount, from } }
}

function readPlain(text: string): Value[] {
  const taken = new Uint8Array(text.length)
  const found: Value[] = []
  const readers = [readDates, readCodes, readTimes, readNumbers]
  for (const [at, read] of readers.entries()) {
    for (const value of read(text)) {
      if (isTaken(taken, value)) continue
      // A number may share its unit's word with nothing else; the rest of a token stays free.
      if (at < readers.length) taken.fill(1, value.at[0], value.at[1])
      found.push(value)
    }
  }
  return found.sort((a, b) => a.at[0] - b.at[0])
}

function isTaken(taken: Uint8Array, { at: [start, end] }: Value): boolean {
  for (let at = start; at < end; at += 1) if (taken[at] === 1) return true
  return false
}
