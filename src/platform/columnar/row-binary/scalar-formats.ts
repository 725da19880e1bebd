const noDigit = 0xff
/** The value of each hex digit by its char code. */
const digitByCode = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase())
  return digit < 0 ? noDigit : digit
})
const dash = 0x2d
/** Offsets of the digits of each byte in the text, in the byte order of ClickHouse. */
const digitOffsets = Uint8Array.of(16, 14, 11, 9, 6, 4, 2, 0, 34, 32, 30, 28, 26, 24, 21, 19)
const codeByDigit = Buffer.from('0123456789abcdef')
const textBytes = Buffer.alloc(36, dash)

/**
 * Writes a UUID as ClickHouse stores it: two 64-bit halves, each little-endian, the high one first.
 * Returns false for invalid text, with undefined contents of the 16 bytes.
 */
export function putUuid(bytes: Uint8Array, at: number, text: string): boolean {
  if (text.length !== 36 || !hasDashes(text)) return false
  let wrong = 0
  for (let index = 0; index < 16; index++) {
    const offset = digitOffsets[index] ?? 0
    const high = digitOf(text.charCodeAt(offset))
    const low = digitOf(text.charCodeAt(offset + 1))
    wrong |= high | low
    bytes[at + index] = (high << 4) | low
  }
  return wrong < 16
}

/** Reads a UUID that `putUuid` wrote, in lower case. */
export function uuidAt(bytes: Uint8Array, at: number): string {
  for (let index = 0; index < 16; index++) {
    const offset = digitOffsets[index] ?? 0
    const byte = bytes[at + index] ?? 0
    textBytes[offset] = codeByDigit[byte >> 4] ?? 0
    textBytes[offset + 1] = codeByDigit[byte & 15] ?? 0
  }
  return textBytes.toString('latin1')
}

function digitOf(code: number): number {
  return code < 256 ? (digitByCode[code] ?? noDigit) : noDigit
}

function hasDashes(text: string): boolean {
  return (
    text.charCodeAt(8) === dash &&
    text.charCodeAt(13) === dash &&
    text.charCodeAt(18) === dash &&
    text.charCodeAt(23) === dash
  )
}

const decimalText = /^([+-]?)(\d+)(?:\.(\d+))?$/

/**
 * Parses decimal text as a whole number of units of the last digit: "1.5" at scale 9 is
 * 1,500,000,000. Throws RangeError when digits would be lost or exceed `precision`.
 */
export function decimalTicks(text: string, precision: number, scale: number): bigint {
  const match = decimalText.exec(text)
  if (!match) throw new RangeError(`got "${text.slice(0, 80)}", expected a decimal number`)
  const [, sign, whole = '', fraction = ''] = match
  if (/[1-9]/.test(fraction.slice(scale))) {
    throw new RangeError(
      `got "${text.slice(0, 80)}", expected at most ${scale} digits after the point`,
    )
  }
  const digits = whole + fraction.slice(0, scale).padEnd(scale, '0')
  const ticks = BigInt(digits)
  if (ticks >= 10n ** BigInt(precision)) {
    throw new RangeError(`got "${text.slice(0, 80)}", expected at most ${precision} digits`)
  }
  return sign === '-' ? -ticks : ticks
}

/** Numbers of digits before and after the point that keep a number below 2^53. */
const fewWholeDigits = 6
const scale_digits = 9

/** Parses small amounts as billionths without a bigint. Returns -1 for any other text. */
export function fewTicks(text: string): number {
  let ticks = 0
  let index = 0
  for (; index < text.length && text.charCodeAt(index) !== 0x2e; index++) {
    ticks = ticks * 10 + digitAt(text, index)
  }
  if (index === 0 || index > fewWholeDigits || index === text.length - 1) return -1
  const end = index + scale_digits
  if (text.length > end + 1) return -1
  for (let at = index + 1; at <= end; at++) {
    ticks = ticks * 10 + (at < text.length ? digitAt(text, at) : 0)
  }
  return ticks >= 0 ? ticks : -1
}

/** Returns the digit, or NaN, which makes the sum invalid. */
function digitAt(text: string, index: number): number {
  const digit = text.charCodeAt(index) - 0x30
  return digit >= 0 && digit <= 9 ? digit : Number.NaN
}

/** Returns the size of a length in LEB128. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x20_0000) return 3
  return value < 0x1000_0000 ? 4 : 5
}

/** Writes a length in LEB128. Returns the end offset. */
export function putVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value
  let position = at
  while (rest >= 0x80) {
    bytes[position++] = (rest & 0x7f) | 0x80
    rest = Math.floor(rest / 128)
  }
  bytes[position++] = rest
  return position
}
