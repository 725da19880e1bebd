import {
  type CaptureTables,
  type Kysely,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import type { CaptureRules } from './contract.ts'

/** A project's stored rules. */
export type StoredPolicy = Selectable<CaptureTables['capture_policies']>

type Db = Kysely<CaptureTables>

/** Returns the rules of a project; undefined when it has set none. */
export function findPolicy(db: Db, project_id: string): Promise<StoredPolicy | undefined> {
  return db
    .selectFrom('capture_policies')
    .selectAll()
    .where('project_id', '=', project_id)
    .executeTakeFirst()
}

/** New rules, with the time and the user of the change. */
export type PolicyChange = CaptureRules & {
  project_id: string
  updated_at: Date
  updated_by: string
}

/** Writes the rules over any version. */
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

/** Writes the rules if the current version is `version` (0: no rules); else returns undefined. */
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
