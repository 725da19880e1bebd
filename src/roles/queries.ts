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
import type { Relational } from '../platform/relational/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Opens what runs queries on both stores. */
export function openQueryRuns(
  { metrics, logger, clock }: RoleContext,
  settings: QuerySettings,
  about: Pick<Stores, 'columnar' | 'relational' | 'db'> & {
    /** Connections for queries alone: slow ones hold up no sign-in. */
    reads: Pick<Relational<unknown>, 'pool'>
    chooseStore: ChooseStore
    onServed: OnServed
  },
): RunDeps {
  const { columnar, relational, reads, db, chooseStore, onServed } = about
  return openQueries({
    runners: {
      clickhouse: openClickHouseRunner({ columnar, logger }),
      postgres: openPostgresRunner({ pool: reads.pool, cancel_through: relational.pool }),
    },
    ...{ chooseStore, onServed },
    restoredSlices: (project_id) => readySlices(db, { project_id, now: new Date(clock.now_ms()) }),
    ...{ settings, metrics, logger },
  })
}
