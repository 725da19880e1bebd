import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileAggregate } from '../../src/capabilities/query/compile/compile-aggregate.ts'
import { compileQuery } from '../../src/capabilities/query/compile/compile-query.ts'
import type { Statement } from '../../src/capabilities/query/compile/statement.ts'
import { aggregateSchema } from '../../src/capabilities/query/language/aggregate-query.ts'
import { querySchema } from '../../src/capabilities/query/language/page-query.ts'
import { toJsonRow } from '../../src/capabilities/query/run/run-query.ts'
import { newId } from '../../src/kernel/ids.ts'
import { observationOf } from '../support/observations.ts'
import {
  anyFilter,
  anyGroups,
  anyOrder,
  observationVersions,
  queryStart,
} from '../support/query-records.ts'
import { type QueryStore, queryStores } from '../support/query-stores.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

/**
 * Raise it for a longer search: `QUERY_RUNS=2000 vitest run
 * test/contract/query-across-stores.test.ts`.
 */
const runs = Number(process.env['QUERY_RUNS'] ?? fuzzRuns(25))
const project_id = newId()
const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }
const select = ['observation_id', 'name', 'user_id', 'environment', 'cost_usd', 'metadata.tenant']
let one: QueryStore
let other: QueryStore

beforeAll(async () => {
  one = await queryStores.clickhouse()
  other = await queryStores.postgres()
  for (const store of [one, other]) {
    for (const version of observationVersions(project_id)) await store.insert(version)
  }
})
afterAll(() => Promise.all([one?.close(), other?.close()]))

async function pageOf(store: QueryStore, body: object, after?: readonly string[]) {
  const { query } = querySchema.parse({ window, entity: 'observations', ...body })
  const statement = compileQuery(query, { project_id, dialect: store.dialect, after })
  const rows = (await store.run(statement)).slice(0, query.limit)
  return {
    rows: rows.map((row) => toJsonRow(row, statement.columns)),
    keys: rows.map((row) => statement.keys.map(({ alias }) => String(row[alias]))),
  }
}

async function groupsOf(store: QueryStore, body: object) {
  const aggregate = aggregateSchema.parse({ window, entity: 'observations', ...body })
  const statement = compileAggregate(aggregate, { project_id, dialect: store.dialect })
  return (await store.run(statement)).map((row) => toJsonRow(row, statement.columns))
}

test("a page's position holds in both stores", async () => {
  await fc.assert(
    fc.asyncProperty(anyFilter, anyOrder, async (where, order_by) => {
      const body = { where, order_by, limit: 9, select }
      const first = await pageOf(one, body)
      expect((await pageOf(other, body)).rows).toEqual(first.rows)
      const after = first.keys.at(-1)
      if (after === undefined) return
      const second = await pageOf(other, body, after)
      expect(second.rows).toEqual((await pageOf(one, body, after)).rows)
      const back = second.keys.at(-1)
      if (back === undefined) return
      const [third, theirs] = [await pageOf(one, body, back), await pageOf(other, body, back)]
      expect(third.rows).toEqual(theirs.rows)
    }),
    { numRuns: runs },
  )
})

test('groups are the same in both stores, in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(anyGroups, async (asked) => {
      expect(await groupsOf(other, asked)).toEqual(await groupsOf(one, asked))
    }),
    { numRuns: runs },
  )
})

test('sums of tokens above 2^64 are the same in both stores, and their positions hold', async () => {
  const tenant = newId()
  const most = Number.MAX_SAFE_INTEGER
  const rows = [newId(), newId()].flatMap((trace_id, trace) =>
    Array.from({ length: 2_049 + trace }, (_, at) =>
      observationOf({
        ...{ project_id: tenant, trace_id, observation_id: `call-${at}`, type: 'generation' },
        ...{ start_time: queryStart, end_time: queryStart },
        ...{ input_uncached_tokens: most, output_visible_tokens: at === 0 ? 7 : null },
      }),
    ),
  )
  const sums = {
    measures: ['input_tokens', 'output_tokens'].map((field) => ({ fn: 'sum', field, as: field })),
    where: { field: 'is_call', op: 'eq', value: true },
  }
  const order_by = [{ field: 'input_tokens', direction: 'desc' }]
  const traces = { entity: 'traces', order_by, limit: 1, select: ['input_tokens'] }
  for (const store of [one, other]) {
    await store.insert(rows)
    const run = async (statement: Statement) =>
      (await store.run(statement)).map((row) => toJsonRow(row, statement.columns))
    const aggregate = aggregateSchema.parse({ window, entity: 'observations', ...sums })
    const statement = compileAggregate(aggregate, { project_id: tenant, dialect: store.dialect })
    expect(await run(statement)).toEqual([{ input_tokens: most * 4_099, output_tokens: 14 }])
    const { query } = querySchema.parse({ window, ...traces })
    const compile = (after?: string[]) =>
      compileQuery(query, { project_id: tenant, dialect: store.dialect, after })
    const [first] = await store.run(compile())
    expect(toJsonRow(first ?? {}, compile().columns)).toMatchObject({
      input_tokens: most * 2_050,
    })
    const after = compile().keys.map(({ alias }) => String(first?.[alias]))
    expect(await run(compile(after))).toMatchObject([{ input_tokens: most * 2_049 }])
  }
})
