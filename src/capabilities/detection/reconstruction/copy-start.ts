/**
 * The first `chars` of a text, without half a character at the end. What is left of a long text is
 * copied, since a slice would keep all of it in memory.
 */
export function copyStart(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return Buffer.from(text.slice(0, isHalf ? chars - 1 : chars), 'utf16le').toString('utf16le')
}
