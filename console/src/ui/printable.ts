/** A part of a text: shown as it is, or the escape of a character that would not be seen. */
export type TextPart = {
  /** Position in the text, which tells the parts apart. */
  at: number
  text: string
  isEscape: boolean
}

/**
 * Control characters except tab and line feed, zero-width and tag characters, and those that
 * change the direction of text (CVE-2021-42574).
 */
const hidden =
  /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/** Splits a text so that hidden characters can be shown as `U+202E`. */
export function splitHidden(text: string): TextPart[] {
  const parts: TextPart[] = []
  let shown = 0
  for (const match of text.matchAll(hidden)) {
    const [character] = match
    if (character === '\n' || character === '\t') continue
    // A joiner between pictures is part of the picture.
    if (
      character === '\u200d' &&
      /\p{Extended_Pictographic}\ufe0f?$/u.test(text.slice(0, match.index))
    ) {
      continue
    }
    if (match.index > shown)
      parts.push({ at: shown, text: text.slice(shown, match.index), isEscape: false })
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    parts.push({ at: match.index, text: `U+${code}`, isEscape: true })
    shown = match.index + character.length
  }
  if (shown < text.length) parts.push({ at: shown, text: text.slice(shown), isEscape: false })
  return parts
}
