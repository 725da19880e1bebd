import {
  type DetectionTables,
  type Kysely,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'

/** A project's settings by detector, without defaults. */
export type SettingsChoice = {
  readonly [detector: string]: { readonly [setting: string]: unknown }
}

/** A project's stored settings. */
export type StoredSettings = Selectable<DetectionTables['detection_settings']>

type Db = Kysely<DetectionTables>

/** Returns the stored settings of a project; undefined if it has set nothing. */
export function findSettings(db: Db, project_id: string): Promise<StoredSettings | undefined> {
  return db
    .selectFrom('detection_settings')
    .selectAll()
    .where('project_id', '=', project_id)
    .executeTakeFirst()
}

/** A change of settings, with author and time. */
type SettingsChange = {
  project_id: string
  detectors: SettingsChoice
  updated_at: Date
  updated_by: string
}

/** Writes the settings regardless of their current version. */
export function putSettings(db: Db, change: SettingsChange): Promise<StoredSettings> {
  const row = rowOf(change)
  return db
    .insertInto('detection_settings')
    .values({ ...row, version: 1 })
    .onConflict((conflict) =>
      conflict
        .column('project_id')
        .doUpdateSet({ ...row, version: sql<number>`detection_settings.version + 1` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/**
 * Writes the settings if `version` is still current (0: none stored); otherwise returns undefined.
 */
export function replaceSettings(
  db: Db,
  change: SettingsChange,
  version: number,
): Promise<StoredSettings | undefined> {
  const row = { ...rowOf(change), version: version + 1 }
  if (version === 0) {
    return db
      .insertInto('detection_settings')
      .values(row)
      .onConflict((conflict) => conflict.column('project_id').doNothing())
      .returningAll()
      .executeTakeFirst()
  }
  return db
    .updateTable('detection_settings')
    .set(row)
    .where('project_id', '=', change.project_id)
    .where('version', '=', version)
    .returningAll()
    .executeTakeFirst()
}

function rowOf({ detectors, ...change }: SettingsChange) {
  return { ...change, detectors: JSON.stringify(detectors) }
}
