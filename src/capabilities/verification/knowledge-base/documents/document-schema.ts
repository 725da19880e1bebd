import { createHash } from 'node:crypto'
import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { expected, isStorable } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { withoutInvisible } from '../../../../model/names.ts'
import { Answer, type Caller, etagOf, requesterOf } from '../../../../platform/http/index.ts'
import { documentFormats } from '../../knowledge/read-document.ts'
import type { KnowledgeDeps } from '../knowledge-base.ts'
import type { NewDocument } from './chunk-store.ts'
import type { StoredDocument } from './store.ts'

const name_characters_max = 200
const title_characters_max = 400
const url_characters_max = 2_048
const content_bytes_max = 8 * 1024 * 1024
/** JSON may escape each byte of the content as `\u00xx`, but rarely does. */
export const maxDocumentBodyBytes = 12 * 1024 * 1024

/** Text on one line, without invisible characters. */
function lineOfText(characters_max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(characters_max)
    .refine(...withoutInvisible)
}

/** The body of POST and PUT of a document. */
export const documentBody = z
  .strictObject({
    name: lineOfText(name_characters_max).describe('Name, unique in the project.'),
    title: lineOfText(title_characters_max)
      .optional()
      .describe('Title, indexed with each passage. Default: the name.'),
    format: z
      .enum(documentFormats, {
        error: expected(
          `${documentFormats.join(', ')}; convert other formats, such as PDF, to text`,
        ),
      })
      .meta({ id: 'DocumentFormat' }),
    url: z
      .url({ protocol: /^https?$/, error: expected('an http or https URL') })
      .max(url_characters_max)
      .nullable()
      .default(null)
      .describe('Link for readers of the document. The service does not fetch it.'),
    content: z
      .string()
      .min(1)
      .refine((text) => isStorable(text) && text.isWellFormed(), {
        error: 'expected text without U+0000 and halves of surrogate pairs',
      })
      .refine((text) => Buffer.byteLength(text) <= content_bytes_max, {
        error: `expected at most ${content_bytes_max} bytes`,
      })
      .describe('The document in its format, at most 8 MiB.'),
  })
  .meta({ id: 'DocumentRequest' })

/** A document in replies. */
export const documentSchema = record('Document', {
  document_id: z.uuid(),
  name: z.string(),
  title: z.string(),
  format: z.enum(documentFormats),
  url: z.string().nullable(),
  version: z.int().describe('Version, incremented by each change; also the ETag.'),
  digest: z.string().describe('SHA-256 of the content, in hexadecimal.'),
  bytes: z.int().describe('Size of the content.'),
  chunks: z.int().describe('Passages of the document in the index.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  updated_by: z.string(),
})

/** Path of a document. */
export const documentPath = z.strictObject({
  document_id: z.string().describe('Id of the document.'),
})

/** Converts a stored document to its reply. */
export function toDocument(stored: StoredDocument): z.input<typeof documentSchema> {
  const { id: document_id, project_id: _project, ...rest } = stored
  return { document_id, ...rest }
}

/** Returns a document with its ETag. */
export function toAnswer(stored: StoredDocument) {
  return new Answer(toDocument(stored), { headers: { etag: etagOf(stored.version) } })
}

/** Splits a document for the store. Throws `knowledge_base_full`, `rate_limited`. */
export async function prepareDocument(
  { indexer, limits, clock }: KnowledgeDeps,
  { title: given, ...body }: z.output<typeof documentBody>,
  caller: Caller,
): Promise<NewDocument> {
  const { format, content } = body
  const title = given ?? body.name
  const chunks_max = limits.kb_document_chunks_max
  const text = { format, title, content, chunks_max }
  const indexed = await indexer.index(caller.project_id, text)
  if (indexed.chunks > chunks_max) {
    const detail = `content: got ${indexed.chunks} passages, expected at most ${chunks_max}. Split the document.`
    throw problem('knowledge_base_full', { detail })
  }
  return {
    ...body,
    title,
    indexed,
    project_id: caller.project_id,
    digest: createHash('sha256').update(content).digest('hex'),
    bytes: Buffer.byteLength(content),
    now: new Date(clock.now_ms()).toISOString(),
    by: requesterOf(caller),
  }
}
