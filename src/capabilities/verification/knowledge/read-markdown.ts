import { type MappedText, TextBuilder } from '../text/mapped-text.ts'

/** Reads Markdown as plain text: markers are left out, code and table cells are kept. */
export function readMarkdown(source: string): MappedText {
  const builder = new TextBuilder(source)
  let start = 0
  while (start < source.length) {
    const found = source.indexOf('\n', start)
    const end = found === -1 ? source.length : found
    readLine(builder, source, start, end)
    start = end + 1
  }
  return builder.finish()
}

const lineMarker = /^[ \t]{0,40}(?:#{1,6}[ \t]|>[ \t]?|[-*+][ \t]|\|)?[ \t]{0,40}/
const unreadLine = /^[ \t]*(?:```|~~~)|^[-=*_ |:\t]{3,}$/
/** Emphasis, code marks, and the frame of a link or image: `[text](address)`. */
const inlineMarker = /\*{1,3}|__|`{1,8}|!?\[|\]\([^()\s]{0,500}\)|\]|\\(?=[\\`*_{}[\]()#+.!|-])/g

function readLine(builder: TextBuilder, source: string, start: number, end: number): void {
  const line = source.slice(start, end)
  builder.line(start)
  if (unreadLine.test(line)) return
  let at = lineMarker.exec(line)?.[0].length ?? 0
  const text = line.trimEnd()
  const length = text.endsWith('|') ? text.slice(0, -1).trimEnd().length : text.length
  for (const match of text.matchAll(inlineMarker)) {
    if (match.index < at) continue
    builder.copy(start + at, start + Math.min(match.index, length))
    at = match.index + match[0].length
  }
  builder.copy(start + at, start + length)
}
