import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import {
  changedSince,
  defineRoute,
  ifMatchHeader,
  type RequestHeaders,
  type Route,
  versionToReplace,
} from '../../../../platform/http/index.ts'
import { checkId, type KnowledgeDeps } from '../knowledge-base.ts'
import { deleteDocument, replaceDocument } from './change-store.ts'
import {
  documentBody,
  documentPath,
  documentSchema,
  maxDocumentBodyBytes,
  prepareDocument,
  toAnswer,
} from './document-schema.ts'
import { findDocument, type StoredDocument } from './store.ts'

const url = '/api/v1/verification/documents/{document_id}'

/** GET /api/v1/verification/documents/{document_id}: returns a document without its content. */
export function getDocument({ db }: KnowledgeDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'getDocument',
    summary: 'Read a document of the knowledge base',
    etag: true,
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: 'verification:run' },
    params: documentPath,
    reply: documentSchema,
    errors: ['document_not_found', 'store_unavailable'],
    handle: async ({ params: { document_id }, caller: { project_id } }) => {
      const document = await findDocument(db, { project_id, id: documentId(document_id) })
      if (document === undefined) throw documentNotFound(document_id)
      return toAnswer(document)
    },
  })
}

/** PUT /api/v1/verification/documents/{document_id}: replaces a document by a new version. */
export function putDocument(deps: KnowledgeDeps): Route {
  return defineRoute({
    method: 'PUT',
    url,
    id: 'putDocument',
    summary: 'Replace a document; equal content makes no new version',
    etag: true,
    auth: 'jwt',
    scope: { level: 'project', role: 'editor', key: 'verification:run' },
    headers: [ifMatchHeader],
    params: documentPath,
    body: documentBody,
    body_bytes_max: maxDocumentBodyBytes,
    reply: documentSchema,
    errors: [
      ...(['document_not_found', 'document_exists', 'precondition_failed'] as const),
      ...(['knowledge_base_full', 'rate_limited', 'store_unavailable'] as const),
    ],
    handle: async ({ params: { document_id }, body, caller, headers }) => {
      const { project_id } = caller
      const id = documentId(document_id)
      // Checked first, so that the thread does not split content for a missing document.
      const known = await findDocument(deps.db, { project_id, id })
      if (known === undefined) throw documentNotFound(id)
      const prepared = await prepareDocument(deps, body, caller)
      const given = { ...prepared, id, is_wanted: versionCheck(headers) }
      const replaced = await replaceDocument(deps.db, given, deps.limits)
      return toAnswer(changed(replaced, id, headers))
    },
  })
}

/** DELETE /api/v1/verification/documents/{document_id}: deletes a document with its versions. */
export function removeDocument({ db, limits }: KnowledgeDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url,
    id: 'deleteDocument',
    summary: 'Delete a document with its versions',
    status: 204,
    auth: 'jwt',
    scope: { level: 'project', role: 'editor', key: 'verification:run' },
    headers: [ifMatchHeader],
    params: documentPath,
    reply: z.undefined(),
    errors: ['document_not_found', 'precondition_failed', 'store_unavailable'],
    handle: async ({ params: { document_id }, caller: { project_id }, headers }) => {
      const id = documentId(document_id)
      const key = { project_id, id, is_wanted: versionCheck(headers) }
      changed(await deleteDocument(db, key, limits), id, headers)
      return undefined
    },
  })
}

/** Returns `document_not_found` for an id. */
export function documentNotFound(id: string) {
  return problem('document_not_found', {
    detail: `document_id: got ${id}, expected a document of this project`,
  })
}

/** Returns the id of a document. Throws `document_not_found` unless it is a UUID. */
export function documentId(id: string): string {
  return checkId(id, 'document_not_found', 'document_id')
}

function versionCheck(headers: RequestHeaders): (version: number) => boolean {
  const wanted = versionToReplace(headers)
  return (version) => wanted === undefined || wanted === version
}

function changed(
  result: { document: StoredDocument; is_refused: boolean } | undefined,
  id: string,
  headers: RequestHeaders,
): StoredDocument {
  if (result === undefined) throw documentNotFound(id)
  if (result.is_refused) throw changedSince(headers, result.document.version)
  return result.document
}
