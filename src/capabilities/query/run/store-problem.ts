import { type Problem, problem } from '../../../kernel/problem.ts'
import type { StoreName } from '../language/field.ts'

/** What stores are called in sentences. */
export const storeTitles: Readonly<Record<StoreName, string>> = {
  clickhouse: 'ClickHouse',
  postgres: 'PostgreSQL',
}

/** `store_unavailable` that names the store. */
export function storeAway(store: StoreName, cause: unknown): Problem {
  return problem('store_unavailable', {
    detail: `${storeTitles[store]} is out of reach or too slow; try again shortly.`,
    retry_after_s: 1,
    extensions: { store },
    cause,
  })
}
