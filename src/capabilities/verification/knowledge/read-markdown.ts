import { copyDecoded, type MappedText, TextBuilder } from '../../provenance/text/index.ts'

/**
 * Reads Markdown as plain text: markers are left out, code and table cells are kept. Entities are
 * decoded, but not in code.
 */
export function readMarkdown(source: string): MappedText {
  const builder = new TextBuilder(source)
  let start = 0
  let isFenced = false
  while (start < source.length) {
    const found = source.indexOf('\n', start)
    const end = found === -1 ? source.length : found
    if (fence.test(source.slice(start, end))) isFenced = !isFenced
    readLine(builder, { source, start, end, isFenced })
    start = end + 1
  }
  return builder.finish()
}

const lineMarker = /^[ \t]{0,40}(?:#{1,6}[ \t]|>[ \t]?|[-*+][ \t]|\|)?[ \t]{0,40}/
const fence = /^[ \t]*(?:```|~~~)/
const unreadLine = /^[ \t]*(?:```|~~~)|^[-=*_ |:\t]{3,}$/
/** Emphasis, code marks, and the frame of a link or image: `[text](address)`. */
const inlineMarker = /\*{1,3}|__|`{1,8}|!?\[|\]\([^()\s]{0,500}\)|\]|\\(?=[\\`*_{}[\]()#+.!|-])/g

type Line = { source: string; start: number; end: number; isFenced: boolean }

function readLine(builder: TextBuilder, { source, start, end, isFenced }: Line): void {
  const line = source.slice(start, end)
  builder.line(start)
  if (unreadLine.test(line)) return
  let at = lineMarker.exec(line)?.[0].length ?? 0
  const text = line.trimEnd()
  const length = text.endsWith('|') ? text.slice(0, -1).trimEnd().length : text.length
  let isCode = isFenced
  const copy = (to: number) => {
    if (isCode) builder.copy(start + at, start + to)
    else if (to > at) copyDecoded(builder, source, [start + at, start + to])
  }
  for (const match of text.matchAll(inlineMarker)) {
    if (match.index < at) continue
    copy(Math.min(match.index, length))
    if (match[0].startsWith('`')) isCode = isFenced || !isCode
    at = match.index + match[0].length
  }
  copy(length)
}
