import { type Columnar, quoteText } from '../../../platform/columnar/index.ts'
import { asStoreFailure } from './store-failure.ts'

/**
 * The target of statements that change a table: the table itself, or in a cluster the local tables
 * on each server, since a distributed table can't be changed.
 */
export type TableTarget = {
  database: string
  table: string
  cluster: string | undefined
  /** `ON CLUSTER c`, or ''. */
  on_cluster: string
  /** The tables to read `system.parts` (a part once for each replica) and `system.mutations` from. */
  parts: string
  mutations: string
  /** Whether a DELETE writes a patch part. Otherwise it is a mutation of all parts. */
  has_patches: boolean
}

/** Opens a cache of the targets of tables. */
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
    columnar.acrossProjects('catalogue').query<{ engine_full: string; knows_patches: string }>(
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

/** Determines the target from the table's engine and the server's features. */
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
    database,
    table: local,
    cluster,
    on_cluster: `ON CLUSTER ${quoteName(cluster)}`,
    parts: `clusterAllReplicas(${quoteText(cluster)}, system.parts)`,
    mutations: `cluster(${quoteText(cluster)}, system.mutations)`,
    // A replica rewrites only the parts of the partition, so patches are not needed.
    has_patches: false,
  }
}

function quoteName(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}
