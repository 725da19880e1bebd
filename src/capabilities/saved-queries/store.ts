import {
  type Kysely,
  type SavedQueryTables,
  type Selectable,
  sql,
} from '../../platform/relational/index.ts'

type Db = Kysely<SavedQueryTables>

/** A saved query as stored. */
export type StoredQuery = Selectable<SavedQueryTables['saved_queries']>

/** A viewer: sees the project's shared queries and its own. */
export type Viewer = { project_id: string; owner: string }

/** Finds a saved query that the viewer may see. */
export function findSaved(db: Db, { project_id, owner, id }: Viewer & { id: string }) {
  return visible(db, { project_id, owner }).where('id', '=', id).selectAll().executeTakeFirst()
}

/** Returns a page of the queries that the viewer may see, newest first. */
export function selectSaved(
  db: Db,
  {
    before,
    limit,
    kind,
    ...viewer
  }: Viewer & Filter & { before?: string | undefined; limit: number },
): Promise<StoredQuery[]> {
  const rows = ofKind(visible(db, viewer), kind).selectAll().orderBy('id', 'desc').limit(limit)
  return (before === undefined ? rows : rows.where('id', '<', before)).execute()
}

type Filter = { kind?: 'query' | 'aggregate' | undefined }

/** Counts the queries that the viewer may see, up to the limit. */
export async function countSaved(
  db: Db,
  { limit, kind, ...viewer }: Viewer & Filter & { limit: number },
): Promise<number> {
  const { n } = await db
    .selectFrom(ofKind(visible(db, viewer), kind).select('id').limit(limit).as('seen'))
    .select((each) => each.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

function visible(db: Db, { project_id, owner }: Viewer) {
  return db
    .selectFrom('saved_queries')
    .where('project_id', '=', project_id)
    .where((each) => each.or([each('visibility', '=', 'project'), each('owner', '=', owner)]))
}

function ofKind(rows: ReturnType<typeof visible>, kind: Filter['kind']) {
  return kind === undefined ? rows : rows.where('kind', '=', kind)
}

/** Adds a query. Returns 'full' at the project's maximum, 'taken' if the name is in use. */
export function insertSaved(
  db: Db,
  row: StoredQuery,
  { projectMax }: { projectMax: number },
): Promise<StoredQuery | 'full' | 'taken'> {
  return db.transaction().execute(async (transaction) => {
    // The lock keeps two concurrent inserts from both taking the last slot.
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
      .values(toRow(row))
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst()
    return stored ?? 'taken'
  })
}

/**
 * Replaces a query of this version. Returns undefined for another version, 'taken' for a name in
 * use.
 */
export async function replaceSaved(
  db: Db,
  row: StoredQuery,
): Promise<StoredQuery | undefined | 'taken'> {
  try {
    return await db
      .updateTable('saved_queries')
      .set({ ...toRow(row), version: row.version + 1 })
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

function toRow({ body, parameters, ...row }: StoredQuery) {
  return { ...row, body: JSON.stringify(body), parameters: JSON.stringify(parameters) }
}

/** Deletes a query of this version. Returns false for another version. */
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
