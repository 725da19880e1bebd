import { createHash } from 'node:crypto'

const kept_chars = 40
const digest_chars = 16

/**
 * Returns text that an index can hold. Longer text keeps its beginning and ends in its digest, so
 * that different texts remain different. The size is that of the text as JSON, because payloads may
 * consist of characters that JSON escapes.
 */
export function boundedText(text: string, bytes_max: number): string {
  const clean = text.replaceAll('\u0000', '\ufffd').toWellFormed()
  if (Buffer.byteLength(JSON.stringify(clean)) <= bytes_max) return clean
  const digest = createHash('sha256').update(clean).digest('hex').slice(0, digest_chars)
  return `${clean.slice(0, kept_chars).toWellFormed()}…${digest}`
}
