/** Decodes a body as UTF-8, replacing faulty bytes, without copying the bytes first. */
export function bodyText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/** Cuts a text to `chars_max` characters, never inside a surrogate pair. */
export function cutText(text: string, chars_max: number): string {
  if (text.length <= chars_max) return text
  const last = text.charCodeAt(chars_max - 1)
  const splitsPair = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, splitsPair ? chars_max - 1 : chars_max)
}

/** Cuts a text to `bytes_max` bytes of UTF-8, never inside a character. */
export function cutBytes(text: string, bytes_max: number): string {
  const mayFit = text.length * 3 <= bytes_max || Buffer.byteLength(text) <= bytes_max
  if (mayFit) return text
  const bytes = Buffer.from(text.slice(0, bytes_max))
  let end = Math.min(bytes_max, bytes.length)
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

/** Cuts a text for a column and removes NUL characters, which PostgreSQL refuses. */
export function columnText(text: string, chars_max: number): string {
  return cutText(text.includes('\u0000') ? text.replaceAll('\u0000', '') : text, chars_max)
}

/**
 * Redacts keys in a text that is not content: our own (`lt_…`), bearer tokens and the forms of
 * providers' keys. Providers repeat wrong keys in their error messages.
 */
export function scrubbed(text: string): string {
  return text.replaceAll(secretShapes, '[redacted]')
}

const secretShapes =
  /\b(?:lt_[A-Za-z0-9_]{8,}|Bearer\s+[^\s"',;]+|(?:sk|gsk|xai|pk)[-_][A-Za-z0-9_*-]{8,}|AIza[A-Za-z0-9_-]{20,})/gi
