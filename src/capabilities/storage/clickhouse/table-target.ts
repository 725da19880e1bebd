import type { Columnar } from '../../../platform/columnar/index.ts'
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
  /** A DELETE notes rows in a patch part; else it is a mutation, which one server makes of all parts. */
  has_patches: boolean
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
  const [row] = await asStoreFailure(
    columnar.query<{ engine_full: string; knows_patches: string }>(
      `SELECT engine_full,
         (SELECT count() FROM system.settings WHERE name = 'enable_lightweight_update') AS knows_patches
       FROM system.tables
       WHERE database = {database:String} AND name = {table:String} LIMIT 1`,
      { database, table },
    ),
  )
  const { engine_full = '', knows_patches = '0' } = row ?? {}
  return targetFrom(database, table, { engine: engine_full, knows_patches: knows_patches !== '0' })
}

/** The target by what ClickHouse says of the table's engine, and of itself. */
export function targetFrom(
  database: string,
  table: string,
  { engine, knows_patches }: { engine: string; knows_patches: boolean },
): TableTarget {
  const [, cluster, , local] = /^Distributed\('([^']+)', '([^']*)', '([^']+)'/.exec(engine) ?? []
  if (cluster === undefined || local === undefined) {
    const system = { parts: 'system.parts', mutations: 'system.mutations' }
    const has_patches = knows_patches && engine.includes('enable_block_offset_column = 1')
    return { database, table, cluster: undefined, on_cluster: '', ...system, has_patches }
  }
  return {
    ...{ database, table: local, cluster },
    on_cluster: `ON CLUSTER ${quoted(cluster)}`,
    parts: `cluster(${quotedText(cluster)}, system.parts)`,
    mutations: `cluster(${quotedText(cluster)}, system.mutations)`,
    // A replica makes anew only the parts of the partition.
    has_patches: false,
  }
}

function quoted(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}

function quotedText(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
