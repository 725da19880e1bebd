/**
 * Makes text safe for a terminal: control characters, characters that change the direction of text,
 * and invisible ones are written as JSON escapes. Joiners stay, since scripts and emoji need them.
 */
export function printable(text: string): string {
  return text.replaceAll(hidden, escapeOf)
}

/** Makes text of several lines safe for a terminal, like `printable`; line feeds stay. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

const hidden =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/** Returns the JSON escape of a character; two for one beyond U+FFFF. */
function escapeOf(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
