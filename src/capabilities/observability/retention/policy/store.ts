import {
  type Kysely,
  type RetentionTables,
  type Selectable,
  sql,
} from '../../../../platform/relational/index.ts'
import type { RetentionRules } from './rules.ts'

/** A project's policy as it stands in the store. */
export type StoredRetention = Selectable<RetentionTables['retention_policies']>

type Db = Kysely<RetentionTables>

/** The policy of a project; undefined when it has set none. */
export function findRetention(db: Db, project_id: string): Promise<StoredRetention | undefined> {
  return db
    .selectFrom('retention_policies')
    .selectAll()
    .where('project_id', '=', project_id)
    .executeTakeFirst()
}

/** Projects that have set a policy. */
export async function projectsWithRetention(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('retention_policies').select('project_id').execute()
  return rows.map(({ project_id }) => project_id)
}

/** What is written, by whom and when. */
export type RetentionChange = RetentionRules & {
  project_id: string
  updated_at: Date
  updated_by: string
}

/** Writes the policy whatever stood there before. */
export function putRetention(db: Db, change: RetentionChange): Promise<StoredRetention> {
  const row = rowOf(change)
  return db
    .insertInto('retention_policies')
    .values({ ...row, version: 1 })
    .onConflict((conflict) =>
      conflict
        .column('project_id')
        .doUpdateSet({ ...row, version: sql<number>`retention_policies.version + 1` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Writes the policy if that of this version (0: none) still stands there; else undefined. */
export function replaceRetention(
  db: Db,
  change: RetentionChange,
  version: number,
): Promise<StoredRetention | undefined> {
  const row = { ...rowOf(change), version: version + 1 }
  if (version === 0) {
    return db
      .insertInto('retention_policies')
      .values(row)
      .onConflict((conflict) => conflict.column('project_id').doNothing())
      .returningAll()
      .executeTakeFirst()
  }
  return db
    .updateTable('retention_policies')
    .set(row)
    .where('project_id', '=', change.project_id)
    .where('version', '=', version)
    .returningAll()
    .executeTakeFirst()
}

function rowOf({ days, environments, ...change }: RetentionChange) {
  return { ...change, days: JSON.stringify(days), environments: JSON.stringify(environments) }
}
