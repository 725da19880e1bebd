import {
  type DetectionTables,
  type Kysely,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'

/** What a project has set, by detector; what it left out is the default. */
export type SettingsChoice = {
  readonly [detector: string]: { readonly [setting: string]: unknown }
}

/** A project's choice as it stands in the store. */
export type StoredSettings = Selectable<DetectionTables['detection_settings']>

type Db = Kysely<DetectionTables>

/** The choice of a project; undefined when it has made none. */
export function findSettings(db: Db, project_id: string): Promise<StoredSettings | undefined> {
  return db
    .selectFrom('detection_settings')
    .selectAll()
    .where('project_id', '=', project_id)
    .executeTakeFirst()
}

/** What is written, by whom and when. */
export type SettingsChange = {
  project_id: string
  detectors: SettingsChoice
  updated_at: Date
  updated_by: string
}

/** Writes the choice whatever stood there before. */
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

/** Writes the choice if that of this version (0: none) still stands there; else undefined. */
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
