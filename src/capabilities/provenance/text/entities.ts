import { decodeHTML, decodeHTMLStrict } from 'entities'
import { type MappedText, type Range, TextBuilder } from './mapped-text.ts'

/** An entity of HTML; names without a semicolon are decoded in HTML only. */
const name = '#x?[0-9a-f]{1,8}|[a-z][a-z0-9]{1,31}'
/** Matches an entity or white space. */
export const entityOrSpace = new RegExp(`\\s+|&(?:${name});?`, 'gi')
const entity = new RegExp(`&(?:${name});`, 'gi')
/** An entity, or a character that JSON escapes: `\u2212` is a minus sign. */
const escaped = new RegExp(`&(?:${name});|\\\\u[0-9a-f]{4}`, 'gi')

/** Decodes an entity of HTML, such as `&minus;`, `&#8722;` and `&copy`; unknown ones stay. */
export function decodeEntity(written: string): string {
  return decodeHTML(written)
}

/** Copies a range of a text with its entities decoded; a space that does not break is a space. */
export function copyDecoded(builder: TextBuilder, source: string, [start, end]: Range): void {
  copyReplaced(builder, { source, start, end }, entity)
}

/** Decodes the entities and JSON escapes of a text; undefined for a text without them. */
export function decodeText(text: string): MappedText | undefined {
  if (!text.includes('&') && !text.includes('\\u')) return undefined
  const builder = new TextBuilder(text)
  copyReplaced(builder, { source: text, start: 0, end: text.length }, escaped)
  return builder.finish()
}

type Part = { source: string; start: number; end: number }

function copyReplaced(builder: TextBuilder, { source, start, end }: Part, pattern: RegExp): void {
  let at = start
  for (const match of source.slice(start, end).matchAll(pattern)) {
    const [written] = match
    const from = start + match.index
    builder.copy(at, from)
    builder.write(decodeWritten(written), from, written.length)
    at = from + written.length
  }
  builder.copy(at, end)
}

function decodeWritten(written: string): string {
  if (written.startsWith('&')) return decodeHTMLStrict(written).replace(/^\s$/, ' ')
  return String.fromCharCode(Number.parseInt(written.slice(2), 16))
}
