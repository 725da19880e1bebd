import { parsedJson } from '../../../../kernel/json-values.ts'

const strings = /"[^"\\]*(?:\\.[^"\\]*)*"|NaN|-?Infinity/g
/** In a longer text, numbers that are not JSON are not repaired. */
const repaired_chars_max = 1024 * 1024

/**
 * Parses JSON, also with the `NaN` and `Infinity` that servers in Python write and their clients read:
 * each becomes a text, so that a count is not believed. Returns undefined for other text.
 */
export function answerJson(text: string): unknown {
  const parsed = parsedJson(text)
  if (parsed !== undefined || text.length > repaired_chars_max) return parsed
  if (!text.includes('NaN') && !text.includes('Infinity')) return undefined
  return parsedJson(text.replaceAll(strings, (one) => (one.startsWith('"') ? one : `"${one}"`)))
}
