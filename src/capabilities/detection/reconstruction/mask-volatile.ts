/**
 * Puts a sign in the place of what differs each time though nothing else does: dates and times,
 * UUIDs, hex numbers of 8 digits and more, process ids, durations, ids of requests and calls. Only
 * the first `masked_chars_max` characters are masked; the rest stands as it is.
 */
export function maskVolatile(text: string): string {
  if (text.length <= masked_chars_max) return text.replaceAll(volatile, signOf)
  const head = text.slice(0, masked_chars_max).replaceAll(volatile, signOf)
  return head + text.slice(masked_chars_max)
}

export const masked_chars_max = 65_536

/** Each alternative begins with its own characters and has bounded repeats: linear on any text. */
const volatile = new RegExp(
  [
    // 2026-03-01T10:00:00.123Z, 2026-03-01 10:00:00 +0100, 2026-03-01, 2026/03/01
    String.raw`\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z\b|UTC\b|GMT\b|[+-]\d{2}:?\d{2}\b))?)?`,
    // 10:00:00.123
    String.raw`\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b`,
    String.raw`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`,
    String.raw`\b0x[0-9a-fA-F]{4,64}\b`,
    // Seconds, milliseconds … since 1970
    String.raw`\b1\d{9}(?:\d{3}){0,3}(?:\.\d{1,9})?\b`,
    // Digits alone may be amounts: only with a letter, or very long, they are an id.
    String.raw`\b(?=[0-9a-fA-F]{0,64}[a-fA-F])(?=[a-fA-F]{0,64}\d)[0-9a-fA-F]{8,128}\b`,
    String.raw`\b\d+(?:\.\d{1,9})? ?(?:ms|µs|us|ns|secs?|seconds?|s)\b`,
    String.raw`\b\d{1,4}m ?\d{1,2}(?:\.\d{1,3})?s\b`,
    String.raw`\b[pP][iI][dD]["']?[ =:#]{1,3}\d{1,10}\b`,
    String.raw`\b(?:req|request|trace|span|call|run|corr|msg|chatcmpl|toolu|tooluse)[-_][A-Za-z0-9_-]{6,64}\b`,
    String.raw`\b(?:request|trace|span|correlation)[-_ ]?[iI][dD]["']?[ =:]{1,3}["']?[A-Za-z0-9_-]{4,64}`,
  ].join('|'),
  'g',
)

/** Names that only look like ids keep standing: an id has a digit. */
function signOf(found: string): string {
  return /\d/.test(found) ? '#' : found
}
