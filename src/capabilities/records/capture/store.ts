import {
  type CaptureTables,
  type Kysely,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import type { CaptureRules } from './contract.ts'

/** A project's rules as they stand in the store. */
export type StoredPolicy = Selectable<CaptureTables['capture_policies']>

type Db = Kysely<CaptureTables>

/** The rules of a project; undefined when it has set none. */
export function findPolicy(db: Db, project_id: string): Promise<StoredPolicy | undefined> {
  return db
    .selectFrom('capture_policies')
    .selectAll()
    .where('project_id', '=', project_id)
    .executeTakeFirst()
}

/** What is written, by whom and when. */
export type PolicyChange = CaptureRules & {
  project_id: string
  updated_at: Date
  updated_by: string
}

/** Writes the rules whatever stood there before. */
export function putPolicy(db: Db, change: PolicyChange): Promise<StoredPolicy> {
  const row = rowOf(change)
  return db
    .insertInto('capture_policies')
    .values({ ...row, version: 1 })
    .onConflict((conflict) =>
      conflict
        .column('project_id')
        .doUpdateSet({ ...row, version: sql<number>`capture_policies.version + 1` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Writes the rules if those of this version (0: none) still stand there; else undefined. */
export function replacePolicy(
  db: Db,
  change: PolicyChange,
  version: number,
): Promise<StoredPolicy | undefined> {
  const row = { ...rowOf(change), version: version + 1 }
  if (version === 0) {
    return db
      .insertInto('capture_policies')
      .values(row)
      .onConflict((conflict) => conflict.column('project_id').doNothing())
      .returningAll()
      .executeTakeFirst()
  }
  return db
    .updateTable('capture_policies')
    .set(row)
    .where('project_id', '=', change.project_id)
    .where('version', '=', version)
    .returningAll()
    .executeTakeFirst()
}

function rowOf({ masks, ...change }: PolicyChange) {
  return { ...change, masks: JSON.stringify(masks) }
}
