/** Characters that some readers take for the end of a line, and that JSON allows inside a text. */
const lineSeparators = /[\u0085\u2028\u2029]/g

/**
 * Returns a value as one line of JSON (NDJSON), with its line feed. Characters that readers other
 * than those of NDJSON take for line ends are escaped.
 */
export function toJsonLine(value: unknown): string {
  const text = JSON.stringify(value).replaceAll(
    lineSeparators,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `${text}\n`
}

/**
 * Yields the lines of UTF-8 text without their line feeds, and a last line without one. Only a line
 * feed ends a line: `node:readline` also splits at U+2028 and U+2029, which JSON allows in a text.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}
