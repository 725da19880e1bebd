import { z } from 'zod'
import { isStorable } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { KnowledgeDeps } from '../knowledge-base.ts'
import { searchChunks } from '../retrieval/search-chunks.ts'
import { type StoredChunk, selectChunks } from '../retrieval/store.ts'

/** POST /api/v1/verification/documents/search: finds passages as verification does. */
export function searchDocuments({ db }: KnowledgeDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/verification/documents/search',
    id: 'searchDocuments',
    summary: 'Search the documents for passages that share rare words with a text',
    audit: 'content',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: 'verification:run' },
    body: searchBody,
    reply: record('DocumentSearch', { results: z.array(foundPassage) }),
    errors: ['store_unavailable'],
    handle: async ({ body: { query, limit }, caller: { project_id } }) => {
      const questions = [{ text: query }]
      const [found] = await searchChunks(db, { project_id, questions, limit })
      const hits = found?.hits ?? []
      const ids = hits.map(({ chunk_id }) => chunk_id)
      const chunks = await selectChunks(db, { project_id, ids, around: 0 })
      const byId = new Map(chunks.map((chunk) => [chunk.id, chunk]))
      const results = hits.flatMap(({ chunk_id, score }) => {
        const chunk = byId.get(chunk_id)
        return chunk === undefined ? [] : [toPassage(chunk, score)]
      })
      return { results }
    },
  })
}

const searchBody = z
  .strictObject({
    query: z
      .string()
      .min(1)
      .max(10_000)
      .refine(isStorable, { error: 'expected text without U+0000' })
      .describe('A claim, a question or some words.'),
    limit: z.int().min(1).max(50).default(10).describe('Maximum passages, 1–50.'),
  })
  .meta({ id: 'DocumentSearchRequest' })

const foundPassage = record('FoundPassage', {
  score: z.number().describe('BM25 score; comparable only within a search.'),
  document_id: z.uuid(),
  name: z.string(),
  url: z.string().nullable(),
  version: z.int(),
  quote: z.string().describe('Text of the passage, without markup.'),
  at: z
    .tuple([z.int(), z.int()])
    .describe('UTF-16 offsets in the content of the version: start, and end exclusive.'),
  context: z.string().describe('Title of the document and header of the table.'),
  digest: z.string().describe('SHA-256 of the passage, in hexadecimal.'),
})

function toPassage(chunk: StoredChunk, score: number): z.input<typeof foundPassage> {
  const { document_id, name, url, version, text: quote, context, digest } = chunk
  const at: [number, number] = [chunk.starts_at, chunk.ends_at]
  return { score, document_id, name, url, version, quote, at, context, digest }
}
