import {
  countUpTo,
  type Selectable,
  sql,
  type VerificationTables,
} from '../../../../platform/relational/index.ts'
import type { KnowledgeDb } from '../knowledge-base.ts'

/** A document as stored; `version` is its ETag. */
export type StoredDocument = Selectable<VerificationTables['kb_documents']>

/** A stored version, without its source. */
export type StoredVersion = Omit<Selectable<VerificationTables['kb_document_versions']>, 'source'>

/** A document of a project. */
export type DocumentKey = { project_id: string; id: string }

/** Finds a document of a project. */
export function findDocument(db: KnowledgeDb, { project_id, id }: DocumentKey) {
  return db
    .selectFrom('kb_documents')
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .selectAll()
    .executeTakeFirst()
}

/** Filters of a list of documents: `name` is a part of the name, in any case. */
export type DocumentFilter = { project_id: string; name: string | undefined }

/** Returns a page of documents, newest first. */
export function selectDocuments(
  db: KnowledgeDb,
  { after, limit, ...filter }: DocumentFilter & { after: string | undefined; limit: number },
): Promise<StoredDocument[]> {
  const rows = filtered(db, filter).selectAll().orderBy('id', 'desc').limit(limit)
  return (after === undefined ? rows : rows.where('id', '<', after)).execute()
}

/** Counts documents up to a limit. */
export async function countDocuments(
  db: KnowledgeDb,
  { limit, ...filter }: DocumentFilter & { limit: number },
): Promise<number> {
  return countUpTo(db, filtered(db, filter).select('id'), limit)
}

function filtered(db: KnowledgeDb, { project_id, name }: DocumentFilter) {
  const rows = db.selectFrom('kb_documents').where('project_id', '=', project_id)
  if (name === undefined) return rows
  return rows.where(sql<boolean>`position(lower(${name}) in lower(name)) > 0`)
}

/** Returns the kept versions of a document, newest first. */
export function selectVersions(db: KnowledgeDb, { project_id, id }: DocumentKey) {
  return versionsOf(db, { project_id, id })
    .select((each) => versionColumns.map((column) => each.ref(`versions.${column}`).as(column)))
    .orderBy('versions.version', 'desc')
    .execute() as Promise<StoredVersion[]>
}

const versionColumns = [
  ...['document_id', 'version', 'format', 'digest', 'bytes', 'created_at', 'created_by'],
] as const

/** Finds a kept version of a document, with its source. */
export function findVersion(
  db: KnowledgeDb,
  { version, ...key }: DocumentKey & { version: number },
) {
  return versionsOf(db, key)
    .where('versions.version', '=', version)
    .selectAll('versions')
    .executeTakeFirst()
}

function versionsOf(db: KnowledgeDb, { project_id, id }: DocumentKey) {
  return db
    .selectFrom('kb_documents as documents')
    .innerJoin('kb_document_versions as versions', 'versions.document_id', 'documents.id')
    .where('documents.project_id', '=', project_id)
    .where('documents.id', '=', id)
}
