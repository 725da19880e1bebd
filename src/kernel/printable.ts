/**
 * Makes text safe for a terminal: control characters, and characters that change the direction of
 * text, are written as JSON escapes.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
