import { objectFrom, parsedJson } from '../../../../kernel/json-values.ts'

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c

/** A longer text is neither a type of an event nor a name of a stream. */
const text_characters_max = 256

/**
 * Finds `type` and `stream_id` among the members of a JSON object, as its bytes come. It stops when it
 * has them, which is usually in the first bytes. A text with escapes is not recognised.
 */
export class MessageHead {
  /** Empty until found. */
  type = ''
  stream_id = ''
  readonly #wantsStream: boolean
  #isDone = false
  #depth = 0
  #isInText = false
  #isEscaped = false
  #text = ''
  #isKey = true
  #key = ''

  constructor({ wantsStream }: { wantsStream: boolean }) {
    this.#wantsStream = wantsStream
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && !this.#isDone; at += 1) {
      const byte = bytes[at] ?? 0
      if (this.#isInText) this.#takeInText(byte)
      else this.#take(byte)
    }
  }

  #take(byte: number): void {
    if (this.#depth === 0 && byte !== openBrace) this.#isDone = byte > 0x20
    else if (byte === quote) {
      this.#isInText = true
      this.#text = ''
    } else if (byte === openBrace || byte === openBracket) this.#depth += 1
    else if (byte === closeBrace || byte === closeBracket) {
      this.#depth -= 1
      this.#isDone = this.#depth === 0
    } else if (this.#depth === 1 && byte === colon) this.#isKey = false
    else if (this.#depth === 1 && byte === comma) this.#isKey = true
  }

  #takeInText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === quote) {
      this.#isInText = false
      if (this.#depth === 1) this.#endText()
      return
    } else if (byte === backslash) this.#isEscaped = true
    if (this.#depth === 1 && this.#text.length <= text_characters_max) {
      this.#text += String.fromCharCode(byte)
    }
  }

  #endText(): void {
    if (this.#isKey) this.#key = this.#text
    else if (this.#text.length <= text_characters_max) this.#takeMember(this.#key, this.#text)
  }

  #takeMember(key: string, value: string): void {
    if (key === 'type') this.type = value
    else if (key === 'stream_id') this.stream_id = value
    else return
    this.#isDone = this.type !== '' && (this.stream_id !== '' || !this.#wantsStream)
  }
}

const callType = 'response.create'

/**
 * Returns whether a message of a client begins a call. One that does not look like it is parsed, because
 * the provider parses it too: a type may have escapes or come twice. An object that only some parsers
 * read counts as a call.
 */
export function isCallMessage({ type }: MessageHead, payload: Buffer): boolean {
  if (type === callType) return true
  const text = payload.toString('utf8')
  if (!/^\s*\{/.test(text)) return false
  const body = objectFrom(parsedJson(text))
  return body === undefined || body['type'] === callType
}
