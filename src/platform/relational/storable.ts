/**
 * Returns a text as PostgreSQL can store it: U+0000 and lone surrogates, which cut texts have, are
 * replaced by U+FFFD. The length in UTF-16 units does not change, so offsets remain valid.
 */
export function storableText(text: string): string {
  const wellFormed = text.toWellFormed()
  return wellFormed.includes('\u0000') ? wellFormed.replaceAll('\u0000', '\ufffd') : wellFormed
}

/**
 * Returns a value as the text of a `jsonb`, with the replacements of `storableText` in its strings
 * and keys.
 */
export function storableJson(value: unknown): string {
  // `JSON.stringify` escapes lone surrogates only; pairs are written as they are.
  return JSON.stringify(value).replace(escapes, (found) =>
    unstorableEscape.test(found) ? '\\ufffd' : found,
  )
}

const escapes = /\\(?:u[0-9a-f]{4}|.)/g
const unstorableEscape = /^\\u(?:0000|d[89a-f]..)$/
