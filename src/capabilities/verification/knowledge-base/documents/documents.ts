import { z } from 'zod'
import { idPage, idPageAfter, idPageQuery, pageFields } from '../../../../model/id-pages.ts'
import { textParameter } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { KnowledgeDeps } from '../knowledge-base.ts'
import { insertDocument } from './change-store.ts'
import {
  documentBody,
  documentSchema,
  maxDocumentBodyBytes,
  prepareDocument,
  toAnswer,
  toDocument,
} from './document-schema.ts'
import { countDocuments, selectDocuments } from './store.ts'

const url = '/api/v1/verification/documents'

/** POST /api/v1/verification/documents: adds a document to the knowledge base. */
export function createDocument(deps: KnowledgeDeps): Route {
  return defineRoute({
    method: 'POST',
    url,
    id: 'createDocument',
    summary: 'Add a document that claims are checked against',
    etag: true,
    status: 201,
    auth: 'jwt',
    scope: { level: 'project', role: 'editor', key: 'verification:run' },
    body: documentBody,
    body_bytes_max: maxDocumentBodyBytes,
    reply: documentSchema,
    errors: ['document_exists', 'knowledge_base_full', 'rate_limited', 'store_unavailable'],
    idempotent: true,
    handle: async ({ body, caller }) => {
      const prepared = await prepareDocument(deps, body, caller)
      return toAnswer(await insertDocument(deps.db, prepared, deps.limits))
    },
  })
}

/** GET /api/v1/verification/documents: lists documents. */
export function listDocuments({ db }: KnowledgeDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'listDocuments',
    summary: 'Documents of the knowledge base, newest first',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: 'verification:run' },
    query: listQuery,
    reply: record('DocumentList', {
      documents: z.array(documentSchema),
      ...pageFields,
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, name }, caller: { project_id } }) => {
      const list = `documents ${name ?? ''}`
      const { count_max, ...bounds } = idPageAfter(list, { limit, cursor })
      const [rows, counted] = await Promise.all([
        selectDocuments(db, { project_id, name, ...bounds }),
        countDocuments(db, { project_id, name, limit: count_max }),
      ])
      const page = idPage({ rows, counted }, { list, limit, idOf: ({ id }) => id })
      return { documents: page.items.map(toDocument), ...page.info }
    },
  })
}

const listQuery = z.strictObject({
  name: textParameter('Returns only documents whose name contains this text, in any case.', 200),
  ...idPageQuery,
})
