import { splitDocument } from './chunks.ts'
import { buildLibrary, type Library } from './library.ts'
import { readDocument } from './read-document.ts'

/** Indexes one plain text, so that passages of it are found. Offsets are those of the text. */
export function indexText(id: string, title: string, text: string): Library {
  return buildLibrary([splitDocument(id, title, readDocument('text', text))])
}
