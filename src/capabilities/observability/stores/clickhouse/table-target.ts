import type { Columnar } from '../../../../platform/columnar/index.ts'
import { asStoreFailure } from './store-failure.ts'

/**
 * Where statements that change a table go: to itself, or in a cluster to the tables of rows on each
 * of its servers, since a distributed one takes none of them.
 */
export type TableTarget = {
  database: string
  table: string
  cluster: string | undefined
  /** `ON CLUSTER c`, or nothing. */
  on_cluster: string
  /** What to read `system.parts` from, each part of the data once; and `system.mutations`. */
  parts: string
  mutations: string
}

/** Makes the reader of targets; each table's is read once. */
export function tableTargets(columnar: Columnar): (table: string) => Promise<TableTarget> {
  const known = new Map<string, Promise<TableTarget>>()
  return (table) => {
    const target = known.get(table) ?? readTarget(columnar, table)
    known.set(table, target)
    target.catch(() => known.delete(table))
    return target
  }
}

async function readTarget(columnar: Columnar, table: string): Promise<TableTarget> {
  const { database } = columnar
  const rows = await asStoreFailure(
    columnar.query<{ engine_full: string }>(
      `SELECT engine_full FROM system.tables
       WHERE database = {database:String} AND name = {table:String} LIMIT 1`,
      { database, table },
    ),
  )
  return targetFrom(database, table, rows[0]?.engine_full ?? '')
}

/** The target by what ClickHouse says of the table's engine. */
export function targetFrom(database: string, table: string, engine: string): TableTarget {
  const [, cluster, , local] = /^Distributed\('([^']+)', '([^']*)', '([^']+)'/.exec(engine) ?? []
  if (cluster === undefined || local === undefined) {
    const system = { parts: 'system.parts', mutations: 'system.mutations' }
    return { database, table, cluster: undefined, on_cluster: '', ...system }
  }
  return {
    ...{ database, table: local, cluster },
    on_cluster: `ON CLUSTER ${quoted(cluster)}`,
    parts: `cluster(${quotedText(cluster)}, system.parts)`,
    mutations: `cluster(${quotedText(cluster)}, system.mutations)`,
  }
}

function quoted(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}

function quotedText(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
