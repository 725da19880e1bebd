import {
  type ChooseStore,
  openClickHouseRunner,
  openPostgresRunner,
  openQueries,
  type QuerySettings,
  type RunDeps,
} from '../capabilities/observability/query/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Opens what runs queries on both stores. */
export function openQueryRuns(
  { metrics, logger }: RoleContext,
  settings: QuerySettings,
  about: Pick<Stores, 'columnar' | 'relational'> & { chooseStore: ChooseStore },
): RunDeps {
  const { columnar, relational, chooseStore } = about
  return openQueries({
    runners: {
      clickhouse: openClickHouseRunner({ columnar, logger }),
      postgres: openPostgresRunner(relational),
    },
    chooseStore,
    onServed: () => undefined,
    ...{ settings, metrics, logger },
  })
}
