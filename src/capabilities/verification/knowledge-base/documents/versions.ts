import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { documentFormats } from '../../knowledge/read-document.ts'
import type { KnowledgeDeps } from '../knowledge-base.ts'
import { documentId, documentNotFound } from './document.ts'
import { documentPath } from './document-schema.ts'
import { findVersion, type StoredVersion, selectVersions } from './store.ts'

const versionFields = {
  document_id: z.uuid(),
  version: z.int(),
  format: z.enum(documentFormats),
  digest: z.string().describe('SHA-256 of the content, in hexadecimal.'),
  bytes: z.int(),
  created_at: z.iso.datetime(),
  created_by: z.string(),
}

/** GET /api/v1/verification/documents/{document_id}/versions: lists kept versions. */
export function listVersions({ db }: KnowledgeDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/documents/{document_id}/versions',
    id: 'listDocumentVersions',
    summary: 'The newest 10 versions of a document',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: 'verification:run' },
    params: documentPath,
    reply: record('DocumentVersionList', {
      versions: z.array(record('DocumentVersion', versionFields)),
      total: z.int(),
      next_cursor: z.null(),
    }),
    errors: ['document_not_found', 'store_unavailable'],
    handle: async ({ params: { document_id }, caller: { project_id } }) => {
      const versions = await selectVersions(db, { project_id, id: documentId(document_id) })
      if (versions.length === 0) throw documentNotFound(document_id)
      return { versions: versions.map(toVersion), total: versions.length, next_cursor: null }
    },
  })
}

/** GET /api/v1/verification/documents/{document_id}/versions/{version}: returns its content. */
export function getVersion({ db }: KnowledgeDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/documents/{document_id}/versions/{version}',
    id: 'getDocumentVersion',
    summary: 'Read the content of a version of a document',
    audit: 'content',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: 'verification:run' },
    params: documentPath.extend({ version: z.string().describe('Number of the version.') }),
    reply: record('DocumentVersionContent', { ...versionFields, content: z.string() }),
    errors: ['document_not_found', 'store_unavailable'],
    handle: async ({ params: { document_id, version }, caller: { project_id } }) => {
      const id = documentId(document_id)
      const number = /^\d{1,15}$/.test(version) ? Number(version) : 0
      const found = await findVersion(db, { project_id, id, version: number })
      if (found === undefined) throw versionNotFound(version)
      const { source: content, ...stored } = found
      return { ...toVersion(stored), content }
    },
  })
}

function versionNotFound(version: string) {
  return problem('document_not_found', {
    detail: `version: got "${version.slice(0, 80)}", expected a version from the list of versions`,
  })
}

function toVersion({ document_id, version, format, digest, bytes, ...created }: StoredVersion) {
  const { created_at, created_by } = created
  return { document_id, version, format, digest, bytes, created_at, created_by }
}
