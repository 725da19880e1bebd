import { sql } from '../../../../platform/relational/index.ts'
import type { KnowledgeTransaction } from '../knowledge-base.ts'
import type { IndexedText } from './index-text.ts'
import type { StoredDocument } from './store.ts'

/** A document to store, split into chunks. */
export type NewDocument = Pick<StoredDocument, 'name' | 'title' | 'format' | 'url' | 'digest'> & {
  project_id: string
  content: string
  bytes: number
  indexed: IndexedText
  /** ISO 8601. */
  now: string
  by: string
}

/** Versions of a document whose source is kept. */
const maxVersionsKept = 10

/** Adds the source of a document's version with its chunks and their postings. */
export async function insertVersion(
  transaction: KnowledgeTransaction,
  document: StoredDocument,
  { content, indexed, now, by }: NewDocument,
): Promise<void> {
  const { id: document_id, project_id, version, format, digest, bytes } = document
  await transaction
    .insertInto('kb_document_versions')
    .values({
      document_id,
      version,
      format,
      digest,
      bytes,
      source: content,
      created_at: now,
      created_by: by,
    })
    .execute()
  for (const batch of indexed.batches) {
    await insertChunks(transaction, { document_id, project_id, version, batch })
  }
}

/**
 * Adds a batch of chunks with their postings in one statement. Postings of a term are written side
 * by side: a search then reads few pages.
 */
async function insertChunks(
  transaction: KnowledgeTransaction,
  chunks: { document_id: string; project_id: string; version: number; batch: string },
): Promise<void> {
  const { document_id, project_id, version, batch } = chunks
  await sql`
    with given as materialized (
      select * from jsonb_to_recordset(${batch}::jsonb) as given(
        position int, text text, context text, starts_at int, ends_at int,
        terms int, digest text, words jsonb
      )
    ), inserted as (
      insert into kb_chunks (
        project_id, document_id, version, position, text, context, starts_at, ends_at, terms, digest
      )
      select ${project_id}::uuid, ${document_id}::uuid, ${version}::bigint,
        position, text, context, starts_at, ends_at, terms, digest
      from given
      returning id, position, terms
    )
    insert into kb_terms (project_id, term, chunk_id, tf, terms)
    select ${project_id}::uuid, word.key, inserted.id, word.value::int, inserted.terms
    from inserted join given using (position), jsonb_each_text(given.words) as word
    order by word.key, inserted.id
  `.execute(transaction)
}

/** Deletes the chunks of a document with their postings, and returns their sizes. */
export async function deleteChunks(
  transaction: KnowledgeTransaction,
  document_id: string,
): Promise<{ chunks: number; terms: number }> {
  // The foreign key deletes postings too, but with one statement for each chunk.
  await sql`
    delete from kb_terms using kb_chunks
    where kb_chunks.document_id = ${document_id}::uuid and kb_terms.chunk_id = kb_chunks.id
  `.execute(transaction)
  const { rows } = await sql<{ chunks: number; terms: number }>`
    with deleted as (
      delete from kb_chunks where document_id = ${document_id}::uuid returning terms
    )
    select count(*)::int as chunks, coalesce(sum(terms), 0)::int as terms from deleted
  `.execute(transaction)
  return rows[0] ?? { chunks: 0, terms: 0 }
}

/** Deletes all but the newest versions of a document, and returns their bytes. */
export async function pruneVersions(
  transaction: KnowledgeTransaction,
  { id, version }: StoredDocument,
): Promise<number> {
  const pruned = await transaction
    .deleteFrom('kb_document_versions')
    .where('document_id', '=', id)
    .where('version', '<=', version - maxVersionsKept)
    .returning('bytes')
    .execute()
  return pruned.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Returns the bytes of all kept versions of a document. */
export async function sumBytes(
  transaction: KnowledgeTransaction,
  document_id: string,
): Promise<number> {
  const { bytes } = await transaction
    .selectFrom('kb_document_versions')
    .where('document_id', '=', document_id)
    .select(sql<number>`coalesce(sum(bytes), 0)::bigint`.as('bytes'))
    .executeTakeFirstOrThrow()
  return bytes
}
