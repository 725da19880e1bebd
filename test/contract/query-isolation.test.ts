import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileAggregate } from '../../src/capabilities/query/compile/compile-aggregate.ts'
import { compileQuery } from '../../src/capabilities/query/compile/compile-query.ts'
import type { Dialect } from '../../src/capabilities/query/compile/dialect.ts'
import { clickhouse } from '../../src/capabilities/query/compile/dialects/clickhouse.ts'
import { namedParams, type Statement } from '../../src/capabilities/query/compile/statement.ts'
import { openClickHouseRunner } from '../../src/capabilities/query/index.ts'
import { aggregateSchema } from '../../src/capabilities/query/language/aggregate-query.ts'
import { querySchema } from '../../src/capabilities/query/language/page-query.ts'
import { toJsonRow } from '../../src/capabilities/query/run/run-query.ts'
import { openClickHouseStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { expectedGroups, expectedPage } from '../support/query-evaluation.ts'
import {
  anyFilter,
  anyGroups,
  anyOrder,
  latestOf,
  observationVersions,
  plainObservation,
} from '../support/query-records.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

/** The dialect without its filter by project: the placeholder is the column itself. */
const forgetful: Dialect = {
  ...clickhouse,
  forSource: () => forgetful,
  project: () => 'project_id',
}

const [own, other] = [newId(), newId()]
const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }
const limits = {
  rows_read_max: 1_000_000,
  bytes_read_max: 1_000_000_000,
  time_ms_max: 20_000,
  memory_bytes_max: 1_000_000_000,
  result_rows_max: 10_000,
}
const select = ['observation_id', 'name', 'status', 'cost_usd', 'user_id', 'environment']
const latest = latestOf(observationVersions(own))
const plain = latest.map(plainObservation)

let columnar: ColumnarServer

beforeAll(async () => {
  columnar = await migratedClickHouse(await testClickHouse('own'))
  const store = openClickHouseStore({ columnar })
  await store.insert(latest, { token: newId() })
  const foreign = latest.map((each, at) => ({
    ...each,
    project_id: other,
    observation_id: `foreign-${each.observation_id}`,
    name: at % 2 === 0 ? each.name : 'foreign',
  }))
  await store.insert(foreign, { token: newId() })
})
afterAll(() => columnar?.close())

async function run(statement: Statement) {
  const runner = openClickHouseRunner({
    columnar,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  const about = { project_id: own, query_id: newId(), limits }
  const { rows } = await runner.run(statement, { ...about, signal: new AbortController().signal })
  return rows.map((row) => toJsonRow(row, statement.columns))
}

function compilePage(body: object) {
  const { query } = querySchema.parse({ entity: 'observations', window, ...body })
  return compileQuery(query, { project_id: own, dialect: forgetful })
}

test('random queries without their filter by project read no row of another project', async () => {
  await fc.assert(
    fc.asyncProperty(anyFilter, anyOrder, async (where, order_by) => {
      const asked = { where, order_by, limit: 200, select }
      const rows = (await run(compilePage(asked))).slice(0, asked.limit)
      expect(rows).toEqual(expectedPage('observations', plain, asked))
    }),
    { numRuns: fuzzRuns(40) },
  )
})

test('random sums without their filter by project count no row of another project', async () => {
  await fc.assert(
    fc.asyncProperty(anyGroups, async (asked) => {
      const aggregate = aggregateSchema.parse({ entity: 'observations', window, ...asked })
      const statement = compileAggregate(aggregate, { project_id: own, dialect: forgetful })
      const rows = (await run(statement)).slice(0, asked.limit)
      expect(rows).toEqual(expectedGroups('observations', plain, asked))
    }),
    { numRuns: fuzzRuns(25) },
  )
})

test('the queries do read rows of another project when nothing else filters them', async () => {
  const statement = compilePage({ limit: 200, select })
  expect(statement.text).toContain('project_id = project_id')
  const rows = await columnar.query<object>(statement.text, namedParams(statement))
  expect(rows.some((row) => Object.values(row).join().includes('foreign-'))).toBe(true)
})
