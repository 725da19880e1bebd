import { type MappedText, TextBuilder } from '../../provenance/text/index.ts'
import { readHtml } from './read-html.ts'
import { readJson } from './read-json.ts'
import { readMarkdown } from './read-markdown.ts'

export const documentFormats = ['text', 'markdown', 'html', 'json'] as const
export type DocumentFormat = (typeof documentFormats)[number]

/** Reads a document as plain text that knows its offsets in the source. */
export function readDocument(format: DocumentFormat, source: string): MappedText {
  return readers[format](source)
}

const readers: Record<DocumentFormat, (source: string) => MappedText> = {
  text: readText,
  markdown: readMarkdown,
  html: readHtml,
  json: readJson,
}

function readText(source: string): MappedText {
  const builder = new TextBuilder(source)
  builder.copy(0, source.length)
  return builder.finish()
}
