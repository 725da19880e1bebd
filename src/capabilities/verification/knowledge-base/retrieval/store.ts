import { sql } from '../../../../platform/relational/index.ts'
import { defaultBm25 } from '../../knowledge/postings.ts'
import type { DocumentFormat } from '../../knowledge/read-document.ts'
import type { KnowledgeDb } from '../knowledge-base.ts'
import type { PlannedTerm } from './plan-search.ts'

/** Chunks of a project and their mean length in terms. */
export type IndexSize = { chunks: number; averageLength: number }

/** A chunk that a question found. */
export type Hit = { chunk_id: number; score: number }

/** Candidates whose score is completed by frequent terms. */
const completed_max = 100

/** Returns the size of a project's index. */
export async function readIndexSize(db: KnowledgeDb, project_id: string): Promise<IndexSize> {
  const stats = await db
    .selectFrom('kb_stats')
    .where('project_id', '=', project_id)
    .select(['chunks', 'terms'])
    .executeTakeFirst()
  const { chunks = 0, terms = 0 } = stats ?? {}
  return { chunks, averageLength: chunks === 0 ? 0 : terms / chunks }
}

/** Chunks that are counted for a term. */
export const counted_max = 20_000

/** Counts the chunks with each term, up to 20,000. */
export async function countChunks(
  db: KnowledgeDb,
  project_id: string,
  terms: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ term: string; n: number }>`
    select asked.term, found.n
    from unnest(${terms}::text[]) as asked(term), lateral (
      select count(*)::int as n from (
        select from kb_terms
        where project_id = ${project_id}::uuid and kb_terms.term = asked.term
        limit ${counted_max}::int
      ) as counted
    ) as found
  `.execute(db)
  return new Map(rows.map(({ term, n }) => [term, n]))
}

/**
 * Ranks chunks by BM25 as `searchIndex` does, best first. Equal scores, up to 1e-9, are ordered by
 * id. One statement for each question: the planner chooses badly for several.
 */
export async function rankChunks(
  db: KnowledgeDb,
  terms: readonly PlannedTerm[],
  asked: { project_id: string; averageLength: number; limit: number },
): Promise<Hit[]> {
  const { project_id, averageLength, limit } = asked
  const { k1, b } = defaultBm25
  const isComplete = terms.every(({ finds }) => finds)
  const gain = sql<number>`weight * kb_terms.tf * ${k1 + 1}::float8
    / (kb_terms.tf + ${k1 * (1 - b)}::float8 + ${(k1 * b) / averageLength}::float8 * kb_terms.terms)`
  const { rows } = await sql<Hit>`
    with asked as materialized (
      select * from unnest(
        ${terms.map(({ term }) => term)}::text[],
        ${terms.map(({ weight }) => weight)}::float8[],
        ${terms.map(({ finds }) => finds)}::boolean[]
      ) as asked(term, weight, finds)
    ), scored as (
      select chunk_id, sum(${gain}) as score
      from asked join kb_terms
        on kb_terms.project_id = ${project_id}::uuid and kb_terms.term = asked.term
      where finds group by chunk_id
    ), best as materialized (
      select chunk_id, score from scored
      order by (score * 1e9)::bigint desc, chunk_id
      limit ${isComplete ? limit : Math.max(limit, completed_max)}::int
    ), added as (
      select best.chunk_id, sum(${gain}) as score
      from best join asked on not asked.finds join kb_terms
        on kb_terms.project_id = ${project_id}::uuid and kb_terms.term = asked.term
        and kb_terms.chunk_id = best.chunk_id
      group by best.chunk_id
    ), completed as (
      select chunk_id, best.score + coalesce(added.score, 0) as score
      from best left join added using (chunk_id)
    )
    select chunk_id, score from completed
    order by (score * 1e9)::bigint desc, chunk_id limit ${limit}::int
  `.execute(db)
  return rows
}

/** A chunk with its document. */
export type StoredChunk = {
  id: number
  document_id: string
  version: number
  position: number
  text: string
  context: string
  starts_at: number
  ends_at: number
  digest: string
  name: string
  url: string | null
  format: DocumentFormat
  document_digest: string
}

/** Reads chunks of a project, with as many chunks before and after each as `around` says. */
export async function selectChunks(
  db: KnowledgeDb,
  { project_id, ids, around }: { project_id: string; ids: readonly number[]; around: number },
): Promise<StoredChunk[]> {
  const { rows } = await sql<StoredChunk>`
    select chunks.id, chunks.document_id, chunks.version, chunks.position, chunks.text,
      chunks.context, chunks.starts_at, chunks.ends_at, chunks.digest,
      documents.name, documents.url, documents.format, documents.digest as document_digest
    from (
      select distinct hits.document_id, hits.version, hits.position + step as position
      from kb_chunks as hits, generate_series(${-around}::int, ${around}::int) as step
      where hits.id = any(${ids}::bigint[]) and hits.project_id = ${project_id}::uuid
    ) as wanted
    join kb_chunks as chunks using (document_id, version, position)
    join kb_documents as documents on documents.id = chunks.document_id
    order by chunks.document_id, chunks.position
  `.execute(db)
  return rows
}

/** Reads the source of a version of a document, if it has at most this many bytes. */
export async function selectSource(
  db: KnowledgeDb,
  key: { project_id: string; document_id: string; version: number; bytes_max: number },
): Promise<string | undefined> {
  const row = await db
    .selectFrom('kb_document_versions as versions')
    .innerJoin('kb_documents as documents', 'documents.id', 'versions.document_id')
    .where('documents.project_id', '=', key.project_id)
    .where('versions.document_id', '=', key.document_id)
    .where('versions.version', '=', key.version)
    .where('versions.bytes', '<=', key.bytes_max)
    .select('versions.source')
    .executeTakeFirst()
  return row?.source
}
