const noDigit = 0xff
/** The value of each hex digit by its char code. */
const digitByCode = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase())
  return digit < 0 ? noDigit : digit
})
const dash = 0x2d
/** Where the two digits of each byte stand in the text, in the order ClickHouse stores the bytes. */
const digitPlaces = Uint8Array.of(16, 14, 11, 9, 6, 4, 2, 0, 34, 32, 30, 28, 26, 24, 21, 19)
const codeByDigit = Buffer.from('0123456789abcdef')
const textBytes = Buffer.alloc(36, dash)

/**
 * Writes a UUID as ClickHouse stores it: two 64-bit halves, each little-endian, the high one first.
 * False when the text is none; the 16 bytes are spoilt then.
 */
export function putUuid(bytes: Uint8Array, at: number, text: string): boolean {
  if (text.length !== 36 || !hasDashes(text)) return false
  let wrong = 0
  for (let index = 0; index < 16; index++) {
    const place = digitPlaces[index] ?? 0
    const high = digitOf(text.charCodeAt(place))
    const low = digitOf(text.charCodeAt(place + 1))
    wrong |= high | low
    bytes[at + index] = (high << 4) | low
  }
  return wrong < 16
}

/** The UUID that `putUuid` wrote, in lower case. */
export function uuidAt(bytes: Uint8Array, at: number): string {
  for (let index = 0; index < 16; index++) {
    const place = digitPlaces[index] ?? 0
    const byte = bytes[at + index] ?? 0
    textBytes[place] = codeByDigit[byte >> 4] ?? 0
    textBytes[place + 1] = codeByDigit[byte & 15] ?? 0
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
