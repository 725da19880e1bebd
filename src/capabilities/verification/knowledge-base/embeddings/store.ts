import { sql } from '../../../../platform/relational/index.ts'
import type { KnowledgeDb } from '../knowledge-base.ts'

/** Reads the vectors of chunks by a model. */
export async function selectVectors(
  db: KnowledgeDb,
  { ids, model }: { ids: readonly number[]; model: string },
): Promise<Map<number, number[]>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('kb_embeddings')
    .where('chunk_id', 'in', ids)
    .where('model', '=', model)
    .select(['chunk_id', 'vector'])
    .execute()
  return new Map(rows.map(({ chunk_id, vector }) => [chunk_id, vector]))
}

/** A chunk without a vector. */
export type UnembeddedChunk = { id: number; project_id: string; text: string }

/** Reads chunks of one project that have no vector of a model, oldest first. */
export async function selectUnembedded(
  db: KnowledgeDb,
  { model, limit, without }: { model: string; limit: number; without: readonly string[] },
): Promise<UnembeddedChunk[]> {
  const { rows } = await sql<UnembeddedChunk>`
    with missing as (
      select id, project_id, context || chr(10) || text as text from kb_chunks
      where project_id <> all(${without}::uuid[]) and not exists (
        select from kb_embeddings where chunk_id = kb_chunks.id and model = ${model}
      )
      order by id limit ${limit}::int
    )
    select * from missing
    where project_id = (select project_id from missing order by id limit 1)
    order by id
  `.execute(db)
  return rows
}

/** Adds vectors of chunks; chunks that were replaced meanwhile are left out. */
export async function insertVectors(
  db: KnowledgeDb,
  model: string,
  vectors: readonly { chunk_id: number; vector: readonly number[] }[],
): Promise<void> {
  await sql`
    insert into kb_embeddings (chunk_id, model, vector)
    select given.chunk_id, ${model}, given.vector
    from jsonb_to_recordset(${JSON.stringify(vectors)}::jsonb) as given(chunk_id bigint, vector real[])
    join kb_chunks on kb_chunks.id = given.chunk_id
    on conflict do nothing
  `.execute(db)
}
