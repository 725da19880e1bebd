import { sql } from '../../../platform/relational/index.ts'
import type { IncidentDb } from '../ports.ts'
import type { DefaultRoute } from '../rules/default-route.ts'

/** The default route of a project, with its version. */
export type StoredRoute = {
  spec: DefaultRoute
  version: number
  updated_at: string
  updated_by: string
}

/** A new default route, with the time and the user of the change. */
export type RouteChange = {
  project_id: string
  spec: DefaultRoute
  updated_at: Date
  updated_by: string
}

/** Finds the default route of a project; undefined when it has set none. */
export async function findRoute(
  db: IncidentDb,
  project_id: string,
): Promise<StoredRoute | undefined> {
  const row = await db
    .selectFrom('incident_default_routes')
    .select(stored)
    .where('project_id', '=', project_id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Writes a route over any version. */
export async function putRoute(db: IncidentDb, change: RouteChange): Promise<StoredRoute> {
  const row = toRow(change)
  const put = await db
    .insertInto('incident_default_routes')
    .values({ ...row, version: 1 })
    .onConflict((conflict) =>
      conflict
        .column('project_id')
        .doUpdateSet({ ...row, version: sql<number>`incident_default_routes.version + 1` }),
    )
    .returning(stored)
    .executeTakeFirstOrThrow()
  return fromRow(put)
}

/** Writes a route if the current version is `version` (0: none); else returns undefined. */
export async function replaceRoute(
  db: IncidentDb,
  change: RouteChange,
  version: number,
): Promise<StoredRoute | undefined> {
  const row = { ...toRow(change), version: version + 1 }
  const replaced =
    version === 0
      ? await db
          .insertInto('incident_default_routes')
          .values(row)
          .onConflict((conflict) => conflict.column('project_id').doNothing())
          .returning(stored)
          .executeTakeFirst()
      : await db
          .updateTable('incident_default_routes')
          .set(row)
          .where('project_id', '=', change.project_id)
          .where('version', '=', version)
          .returning(stored)
          .executeTakeFirst()
  return replaced && fromRow(replaced)
}

const stored = ['spec', 'version', 'updated_at', 'updated_by'] as const

function toRow({ spec, ...change }: RouteChange) {
  return { ...change, spec: JSON.stringify(spec) }
}

function fromRow<R extends { spec: Record<string, unknown> }>(row: R) {
  return { ...row, spec: row.spec as unknown as DefaultRoute }
}
