import {
  type Kysely,
  type SavedQueryTables,
  type Selectable,
  sql,
} from '../../platform/relational/index.ts'

type Db = Kysely<SavedQueryTables>

/** A saved query as it stands in the store. */
export type StoredQuery = Selectable<SavedQueryTables['saved_queries']>

/** What somebody may see. */
export type Seen = { project_id: string; owner: string }

/** One that the caller may see; undefined when there is none. */
export function findSaved(db: Db, { project_id, owner, id }: Seen & { id: string }) {
  return visible(db, { project_id, owner }).where('id', '=', id).selectAll().executeTakeFirst()
}

/** A page of those that the caller may see, newest first. */
export function selectSaved(
  db: Db,
  { before, limit, kind, ...seen }: Seen & Filter & { before?: string; limit: number },
): Promise<StoredQuery[]> {
  const rows = ofKind(visible(db, seen), kind).selectAll().orderBy('id', 'desc').limit(limit)
  return (before === undefined ? rows : rows.where('id', '<', before)).execute()
}

type Filter = { kind?: 'query' | 'aggregate' | undefined }

/** How many the caller may see, counted up to the limit. */
export async function countSaved(
  db: Db,
  { limit, kind, ...seen }: Seen & Filter & { limit: number },
): Promise<number> {
  const { n } = await db
    .selectFrom(ofKind(visible(db, seen), kind).select('id').limit(limit).as('seen'))
    .select((each) => each.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

function visible(db: Db, { project_id, owner }: Seen) {
  return db
    .selectFrom('saved_queries')
    .where('project_id', '=', project_id)
    .where((each) => each.or([each('visibility', '=', 'project'), each('owner', '=', owner)]))
}

function ofKind(rows: ReturnType<typeof visible>, kind: Filter['kind']) {
  return kind === undefined ? rows : rows.where('kind', '=', kind)
}

/** Adds one; 'full' when the project has as many as it may, 'taken' when the name is. */
export function insertSaved(
  db: Db,
  row: StoredQuery,
  { projectMax }: { projectMax: number },
): Promise<StoredQuery | 'full' | 'taken'> {
  return db.transaction().execute(async (transaction) => {
    // Two that come at one time must not both be the last.
    await sql`select pg_advisory_xact_lock(hashtextextended(${row.project_id}, 12))`.execute(
      transaction,
    )
    const { n } = await transaction
      .selectFrom('saved_queries')
      .where('project_id', '=', row.project_id)
      .select((each) => each.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    if (Number(n) >= projectMax) return 'full'
    const stored = await transaction
      .insertInto('saved_queries')
      .values(written(row))
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst()
    return stored ?? 'taken'
  })
}

/** Replaces one if it is of this version; undefined when it is not, 'taken' when the name is. */
export async function replaceSaved(
  db: Db,
  row: StoredQuery,
): Promise<StoredQuery | undefined | 'taken'> {
  try {
    return await db
      .updateTable('saved_queries')
      .set({ ...written(row), version: row.version + 1 })
      .where('project_id', '=', row.project_id)
      .where('id', '=', row.id)
      .where('version', '=', row.version)
      .returningAll()
      .executeTakeFirst()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === uniqueViolation) return 'taken'
    throw error
  }
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const uniqueViolation = '23505'

function written({ body, parameters, ...row }: StoredQuery) {
  return { ...row, body: JSON.stringify(body), parameters: JSON.stringify(parameters) }
}

/** Deletes one if it is of this version; false when it is not. */
export async function deleteSaved(
  db: Db,
  { project_id, id, version }: Pick<StoredQuery, 'project_id' | 'id' | 'version'>,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('saved_queries')
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .where('version', '=', version)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
