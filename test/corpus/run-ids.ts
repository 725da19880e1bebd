import { createHash } from 'node:crypto'

/** Hex digits derived from the words, so that a run always has the same ids. */
export function hexFrom(length: number, ...words: readonly (string | number)[]): string {
  return createHash('sha256').update(words.join('\n')).digest('hex').slice(0, length)
}

/** A trace id, spelled as a UUID. */
export function traceIdOf(...words: readonly (string | number)[]): string {
  const hex = hexFrom(32, 'trace', ...words)
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
