import { evidenceText_chars_max } from '../contract.ts'

/** A text for evidence: cut to `chars_max`, never within a surrogate pair; an ellipsis says so. */
export function cutText(text: string, chars_max = evidenceText_chars_max): string {
  if (text.length <= chars_max) return text
  const end = isHighSurrogate(text.charCodeAt(chars_max - 2)) ? chars_max - 2 : chars_max - 1
  return `${text.slice(0, end)}…`
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
