import { newId } from '../../../../kernel/ids.ts'
import { problem } from '../../../../kernel/problem.ts'
import type { KnowledgeDb, KnowledgeLimits, KnowledgeTransaction } from '../knowledge-base.ts'
import { addToStats } from '../stats.ts'
import {
  deleteChunks,
  insertVersion,
  type NewDocument,
  pruneVersions,
  sumBytes,
} from './chunk-store.ts'
import type { DocumentKey, StoredDocument } from './store.ts'

/** Adds a document. Throws `document_exists`, `knowledge_base_full`, `store_unavailable`. */
export function insertDocument(
  db: KnowledgeDb,
  given: NewDocument,
  limits: KnowledgeLimits,
): Promise<StoredDocument> {
  return db.transaction().execute(async (transaction) => {
    const stored = await transaction
      .insertInto('kb_documents')
      .values({ ...toRow(given, 1), id: newId(), created_at: given.now })
      .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
      .returningAll()
      .executeTakeFirst()
    if (stored === undefined) throw documentExists(given.name)
    await insertVersion(transaction, stored, given)
    const { chunks, terms } = given.indexed
    const change = { documents: 1, chunks, terms, bytes: given.bytes }
    await addToStats(transaction, stored.project_id, change, limits)
    return stored
  })
}

/**
 * Replaces a document by a new version: its chunks, postings and sizes change together. Equal
 * content and fields change nothing. `is_wanted` reports whether the version may be replaced.
 * Returns the stored document with `is_refused` when it may not, and undefined without a document.
 * Throws `document_exists`, `knowledge_base_full`, `store_unavailable`.
 */
export function replaceDocument(
  db: KnowledgeDb,
  {
    id,
    is_wanted,
    ...given
  }: NewDocument & { id: string; is_wanted: (version: number) => boolean },
  limits: KnowledgeLimits,
): Promise<{ document: StoredDocument; is_refused: boolean } | undefined> {
  return db.transaction().execute(async (transaction) => {
    const before = await lockDocument(transaction, { project_id: given.project_id, id })
    if (before === undefined) return undefined
    if (!is_wanted(before.version)) return { document: before, is_refused: true }
    if (isSame(before, given)) return { document: before, is_refused: false }
    const removed = await deleteChunks(transaction, id)
    const document = await transaction
      .updateTable('kb_documents')
      .set(toRow(given, before.version + 1))
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch(throwIfTaken(given.name))
    await insertVersion(transaction, document, given)
    const pruned = await pruneVersions(transaction, document)
    const change = {
      chunks: given.indexed.chunks - removed.chunks,
      terms: given.indexed.terms - removed.terms,
      bytes: given.bytes - pruned,
    }
    await addToStats(transaction, document.project_id, change, limits)
    return { document, is_refused: false }
  })
}

/** Deletes a document with its versions. Returns as `replaceDocument` does. */
export function deleteDocument(
  db: KnowledgeDb,
  { is_wanted, ...key }: DocumentKey & { is_wanted: (version: number) => boolean },
  limits: KnowledgeLimits,
): Promise<{ document: StoredDocument; is_refused: boolean } | undefined> {
  return db.transaction().execute(async (transaction) => {
    const document = await lockDocument(transaction, key)
    if (document === undefined) return undefined
    if (!is_wanted(document.version)) return { document, is_refused: true }
    const removed = await deleteChunks(transaction, key.id)
    const bytes = await sumBytes(transaction, key.id)
    await transaction.deleteFrom('kb_documents').where('id', '=', key.id).execute()
    const change = { documents: -1, chunks: -removed.chunks, terms: -removed.terms, bytes: -bytes }
    await addToStats(transaction, key.project_id, change, limits)
    return { document, is_refused: false }
  })
}

function documentExists(name: string) {
  return problem('document_exists', {
    detail: `name: got ${JSON.stringify(name.slice(0, 80))}, the name of another document. Replace that document, or choose another name.`,
    faults: [{ pointer: '/name', detail: 'already in use' }],
  })
}

function throwIfTaken(name: string) {
  return (error: unknown): never => {
    const isTaken = error instanceof Error && 'code' in error && error.code === uniqueViolation
    throw isTaken ? documentExists(name) : error
  }
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const uniqueViolation = '23505'

function toRow(given: NewDocument, version: number) {
  const { content: _content, indexed, now, by, ...fields } = given
  return { ...fields, version, chunks: indexed.chunks, updated_at: now, updated_by: by }
}

function isSame(before: StoredDocument, given: NewDocument): boolean {
  const fields = ['name', 'title', 'format', 'url', 'digest'] as const
  return fields.every((field) => before[field] === given[field])
}

function lockDocument(transaction: KnowledgeTransaction, { project_id, id }: DocumentKey) {
  return transaction
    .selectFrom('kb_documents')
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .selectAll()
    .forUpdate()
    .executeTakeFirst()
}
