import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileAggregate } from '../../src/capabilities/query/compile/compile-aggregate.ts'
import { compileQuery } from '../../src/capabilities/query/compile/compile-query.ts'
import type { Dialect } from '../../src/capabilities/query/compile/dialect.ts'
import { namedParams, type Statement } from '../../src/capabilities/query/compile/statement.ts'
import { aggregateSchema } from '../../src/capabilities/query/language/aggregate-query.ts'
import type { EntityName } from '../../src/capabilities/query/language/catalogue.ts'
import { querySchema } from '../../src/capabilities/query/language/page-query.ts'
import { toJsonRow } from '../../src/capabilities/query/run/run-query.ts'
import { openClickHouseRecordStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  type DetectionTables,
  openRelational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { migratedClickHouse } from '../support/clickhouse.ts'
import { testPostgres } from '../support/postgres.ts'
import { entityCases, type Stores } from '../support/query-entities.ts'
import {
  expectedGroups,
  expectedPage,
  type Groups,
  type Order,
  type PlainRecord,
} from '../support/query-evaluation.ts'
import { latestOf, observationVersions } from '../support/query-records.ts'
import { type QueryStore, queryStores } from '../support/query-stores.ts'
import { plainTraces, traceQueries, traceRecords } from '../support/query-traces.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

/**
 * Raise it for a longer search: `QUERY_RUNS=2000 vitest run test/contract/query-unknown.test.ts`.
 */
const runs = Number(process.env['QUERY_RUNS'] ?? fuzzRuns(25))
const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }

type Asked = {
  entity: EntityName
  project_id: string
  dialect: Dialect
  run(statement: Statement): Promise<Record<string, unknown>[]>
}
type Queries = {
  select: readonly string[]
  where: fc.Arbitrary<object>
  order: fc.Arbitrary<Order>
  groups: fc.Arbitrary<Groups>
}

/** Reads consecutive pages and groups; compares them with a plain evaluation. */
async function checkPages({ entity, run, ...about }: Asked, queries: Queries, all: PlainRecord[]) {
  const { select } = queries
  await fc.assert(
    fc.asyncProperty(queries.where, queries.order, async (where, order_by) => {
      const { query } = querySchema.parse({ entity, window, where, order_by, limit: 23, select })
      const seen: unknown[] = []
      let after: readonly string[] | undefined
      do {
        const statement = compileQuery(query, { ...about, after })
        const rows = await run(statement)
        seen.push(...rows.slice(0, 23).map((row) => toJsonRow(row, statement.columns)))
        const last = rows.length > 23 ? rows[22] : undefined
        after = last && statement.keys.map(({ alias }) => String(last[alias]))
      } while (after && seen.length < 500)
      expect(seen).toEqual(expectedPage(entity, all, { where, order_by, limit: 500, select }))
    }),
    { numRuns: runs },
  )
}

async function checkGroups({ entity, run, ...about }: Asked, queries: Queries, all: PlainRecord[]) {
  await fc.assert(
    fc.asyncProperty(queries.groups, async (asked) => {
      const statement = compileAggregate(aggregateSchema.parse({ entity, window, ...asked }), about)
      const rows = (await run(statement)).slice(0, asked.limit)
      const shown = rows.map((row) => toJsonRow(row, statement.columns))
      expect(shown).toEqual(expectedGroups(entity, all, asked))
    }),
    { numRuns: runs },
  )
}

const pagesHold = 'matches ne, not_in and exists: false alone, and comes last on every page'
const groupsHold = 'is one group, is not counted as a value, and comes last'

describe.each(Object.entries(queryStores))('unknown text of traces in %s', (_name, open) => {
  const project_id = newId()
  const observations = latestOf(observationVersions(project_id))
  const records = traceRecords(observations)
  const all = plainTraces(observations, records)
  let store: QueryStore

  beforeAll(async () => {
    store = await open()
    await store.insert(observations)
    for (const record of records) await store.insertTrace(record, 'm1')
  })
  afterAll(() => store?.close())

  const asked = () => ({ entity: 'traces' as const, project_id, ...store })
  test(pagesHold, () => checkPages(asked(), traceQueries, all))
  test(groupsHold, () => checkGroups(asked(), traceQueries, all))
})

describe.each(entityCases)('unknown text of $entity in $dialect.store', (about) => {
  const { entity, dialect } = about
  const project_id = newId()
  const { plain, insert } = about.recordsIn(project_id)
  let stores: Stores

  beforeAll(async () => {
    const columnar = await migratedClickHouse()
    const relational = openRelational<TaskTables & DetectionTables>({
      scope: allTenants,
      url: await testPostgres(),
      pool_max: 4,
      connect_timeout_ms: 5_000,
      statement_timeout_ms: 30_000,
      logger: createLogger({ role: 'test', level: 'silent' }),
    })
    stores = { columnar, relational, records: openClickHouseRecordStore({ columnar }) }
    await insert(stores)
  })
  afterAll(() => Promise.all([stores?.columnar.close(), stores?.relational.close()]))

  const run = async (statement: Statement): Promise<Record<string, unknown>[]> => {
    const { text, params } = statement
    return dialect.store === 'clickhouse'
      ? stores.columnar.query(text, namedParams(statement))
      : (await stores.relational.pool.query(text, [...params])).rows
  }
  const asked = { entity, project_id, dialect, run }
  test(pagesHold, () => checkPages(asked, about, plain))
  test(groupsHold, () => checkGroups(asked, about, plain))
})
