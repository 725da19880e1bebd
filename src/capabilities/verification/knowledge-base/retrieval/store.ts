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
 * Ranks chunks for several questions by BM25 as `searchIndex` does, best first, and returns the
 * hits of each question in the order of the questions. Equal scores, up to 1e-9, are ordered by id.
 *
 * One statement plans the ranking once, and runs it for each question. Frequent terms have tens of
 * thousands of postings: `offset 0` keeps the planner from reading them all instead of looking up
 * those of the best candidates.
 */
export async function rankChunks(
  db: KnowledgeDb,
  questions: readonly (readonly PlannedTerm[])[],
  asked: { project_id: string; averageLength: number; limit: number },
): Promise<Hit[][]> {
  const { project_id, averageLength, limit } = asked
  const { k1, b } = defaultBm25
  const terms = questions.flatMap((own, question) => own.map((term) => ({ question, ...term })))
  const kept = questions.map((own) =>
    own.every(({ finds }) => finds) ? limit : Math.max(limit, completed_max),
  )
  const gain = sql<number>`weight * posting.tf * ${k1 + 1}::float8
    / (posting.tf + ${k1 * (1 - b)}::float8 + ${(k1 * b) / averageLength}::float8 * posting.terms)`
  const { rows } = await sql<Hit & { question: number }>`
    with asked as materialized (
      select * from unnest(
        ${terms.map(({ question }) => question)}::int[],
        ${terms.map(({ term }) => term)}::text[],
        ${terms.map(({ weight }) => weight)}::float8[],
        ${terms.map(({ finds }) => finds)}::boolean[]
      ) as asked(question, term, weight, finds)
    )
    select question, ranked.chunk_id, ranked.score
    from unnest(${questions.map((_, at) => at)}::int[], ${kept}::int[]) as questions(question, kept),
    lateral (
      with own as materialized (
        select term, weight, finds from asked where asked.question = questions.question
      ), scored as (
        select chunk_id, sum(${gain}) as score
        from own, lateral (
          select chunk_id, tf, terms from kb_terms
          where project_id = ${project_id}::uuid and kb_terms.term = own.term offset 0
        ) as posting
        where finds group by chunk_id
      ), best as materialized (
        select chunk_id, score from scored
        order by (score * 1e9)::bigint desc, chunk_id limit questions.kept
      ), added as (
        select chunk_id, sum(${gain}) as score
        from own, lateral (
          select chunk_id, tf, terms from kb_terms
          where project_id = ${project_id}::uuid and kb_terms.term = own.term
            and chunk_id = any(array(select chunk_id from best)) offset 0
        ) as posting
        where not finds group by chunk_id
      ), completed as (
        select chunk_id, best.score + coalesce(added.score, 0) as score
        from best left join added using (chunk_id)
      )
      select chunk_id, score from completed
      order by (score * 1e9)::bigint desc, chunk_id limit ${limit}::int
    ) as ranked
    order by question, (score * 1e9)::bigint desc, chunk_id
  `.execute(db)
  const hits = Map.groupBy(rows, ({ question }) => question)
  return questions.map((_, at) =>
    (hits.get(at) ?? []).map(({ chunk_id, score }) => ({ chunk_id, score })),
  )
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
