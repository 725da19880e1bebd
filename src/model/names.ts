/**
 * Characters that are not seen, or change the order of the others, so that two names look equal:
 * controls, line ends, marks of direction, zero-width and other ignorable characters, U+2800, which
 * looks like a space, and halves of surrogate pairs. The form of an emoji, as in U+2764 U+FE0F, is seen.
 */
const invisible =
  /(?<!\p{Extended_Pictographic})\ufe0f|(?!\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{DI}\u2028\u2029\u2800]/u

/**
 * Arguments for `refine` of a name, label or version that people compare by sight. The error names
 * the first invisible character as `U+200B`. Stored names may have such characters, so replies and
 * filters do not use it.
 */
export const withoutInvisible = [
  (text: string): boolean => !invisible.test(text),
  { error: ({ input }: { input?: unknown }) => messageFor(String(input)) },
] as const

function messageFor(text: string): string {
  const index = text.search(invisible)
  const code = text.codePointAt(index)?.toString(16).toUpperCase().padStart(4, '0')
  const position = [...text.slice(0, index)].length + 1
  return `got the invisible character U+${code} at position ${position}, expected visible text on one line`
}

/** Replaces invisible characters of a name that another system chose by spaces. */
export function replaceInvisible(text: string): string {
  return text.replaceAll(new RegExp(invisible, 'gu'), ' ')
}
