import { readySlices } from '../capabilities/lifecycle/archive/index.ts'
import {
  type ChooseStore,
  type OnServed,
  openClickHouseRunner,
  openPostgresRunner,
  openQueries,
  type QuerySettings,
  type RunDeps,
} from '../capabilities/query/index.ts'
import {
  chooseByRouting,
  createRoutingCache,
  type StoreRoutingRoutesDeps,
  startRouteStats,
} from '../capabilities/store-routing/index.ts'
import type { Relational } from '../platform/relational/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Opens the runners of queries on both stores. */
export function openQueryRuns(
  { metrics, logger, clock }: RoleContext,
  settings: QuerySettings,
  ports: Pick<Stores, 'columnar' | 'relational' | 'db'> & {
    /** Connections for queries only, so that slow queries do not delay sign-in. */
    reads: Pick<Relational<unknown>, 'pool' | 'scoped'>
    chooseStore: ChooseStore
    onServed: OnServed
  },
): RunDeps {
  const { columnar, relational, reads, db, chooseStore, onServed } = ports
  return openQueries({
    runners: {
      clickhouse: openClickHouseRunner({ columnar, logger }),
      postgres: openPostgresRunner({ ...reads, cancel_through: relational.pool }),
    },
    chooseStore,
    onServed,
    restoredSlices: (project_id) => readySlices(db, { project_id, now: new Date(clock.now_ms()) }),
    settings,
    metrics,
    logger,
  })
}

/**
 * Opens the API's part of store routing: its routes, the choice of a store, and read statistics.
 */
export function openStoreRouting(
  { clock, logger, parts }: Pick<RoleContext, 'clock' | 'logger' | 'parts'>,
  { db }: Pick<Stores, 'db'>,
): {
  deps: StoreRoutingRoutesDeps
  chooseStore: ReturnType<typeof chooseByRouting>
  onServed: OnServed
} {
  const routings = createRoutingCache({ db, clock })
  const stats = startRouteStats({ db, clock, logger })
  parts.defer(() => stats.stop())
  return {
    deps: { db, clock, routings, stats },
    chooseStore: chooseByRouting({ db, routings, clock }),
    onServed: stats.onServed,
  }
}
