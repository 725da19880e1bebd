import { catalogue } from '../language/catalogue.ts'
import type { StoreName } from '../language/field.ts'
import type { ChooseStore } from './contract.ts'
import { storeTitles } from './store-problem.ts'

/** ClickHouse for whatever it has, else PostgreSQL: where projects have no routing of their own. */
export const chooseByEntity: ChooseStore = async ({ entity }) => {
  const has = (store: StoreName) => catalogue[entity].stores[store] !== undefined
  const chosen: StoreName = has('clickhouse') ? 'clickhouse' : 'postgres'
  const candidates = (['clickhouse', 'postgres'] as const).map((store) => ({
    store,
    eligible: store === chosen,
    reason: has(store) ? reasons[store] : `${storeTitles[store]} has no ${entity}`,
  }))
  return { candidates, order: [chosen], fallback: false }
}

const reasons: Readonly<Record<StoreName, string>> = {
  clickhouse: 'ClickHouse has them all',
  postgres: 'PostgreSQL is asked where ClickHouse has none',
}
