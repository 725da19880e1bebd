import type { SecondStore } from '../capabilities/ingest/index.ts'
import type { Chore, JobHandler } from '../capabilities/jobs/index.ts'
import {
  type OnServed,
  openClickHouseRunner,
  openPostgresRunner,
} from '../capabilities/query/index.ts'
import { openHotRowWriter, openHotSource } from '../capabilities/storage/index.ts'
import {
  chooseByRouting,
  createHotWrites,
  createRoutingCache,
  hotWindowBackfill,
  hotWindowChores,
  hotWindowTrim,
  type StoreRoutingRoutesDeps,
  startRouteStats,
  storeBenchmark,
} from '../capabilities/store-routing/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/**
 * The worker's part in hot windows: its second write, and the jobs that fill and trim them and that
 * compare the stores.
 */
export function openHotWindows(
  { clock, logger, metrics }: RoleContext,
  { db, columnar, relational }: Pick<Stores, 'db' | 'columnar' | 'relational'>,
): { second: SecondStore; handlers: JobHandler[]; chores: Chore[] } {
  const writer = openHotRowWriter(db)
  const routings = createRoutingCache({ db, clock })
  return {
    second: createHotWrites({ db, writer, routings, clock, logger, metrics }),
    handlers: [
      hotWindowBackfill({ db, writer, source: openHotSource({ columnar }) }),
      hotWindowTrim({ db, clock }),
      storeBenchmark({
        runners: {
          clickhouse: openClickHouseRunner({ columnar, logger }),
          postgres: openPostgresRunner(relational),
        },
        chooseStore: chooseByRouting({ db, routings, clock }),
        ...{ db, clock },
      }),
    ],
    chores: hotWindowChores({ db, writer, clock }),
  }
}

/** What an API answers of store routing, how it chooses a store, and what it counts of reads. */
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
