import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileAggregate } from '../../src/capabilities/query/compile/compile-aggregate.ts'
import { compileQuery } from '../../src/capabilities/query/compile/compile-query.ts'
import { clickhouse } from '../../src/capabilities/query/compile/dialects/clickhouse.ts'
import { namedParams } from '../../src/capabilities/query/compile/statement.ts'
import { aggregateSchema } from '../../src/capabilities/query/language/aggregate-query.ts'
import { querySchema } from '../../src/capabilities/query/language/page-query.ts'
import { toJsonRow } from '../../src/capabilities/query/run/run-query.ts'
import { openClickHouseRecordStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { migratedClickHouse, setMerges, testClickHouse } from '../support/clickhouse.ts'
import { observationOf } from '../support/observations.ts'
import { expectedGroups, expectedPage, expectedSums } from '../support/query-evaluation.ts'
import {
  anyFilter,
  anyGroups,
  anyOrder,
  latestOf,
  observationVersions,
  plainObservation,
  queryStart,
} from '../support/query-records.ts'
import { type QueryStore, queryStores } from '../support/query-stores.ts'
import { correlationOf, rowsOf, traceOf } from '../support/records.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

/**
 * Raise it for a longer search: `QUERY_RUNS=2000 vitest run test/contract/query-stores.test.ts`.
 */
const runs = (committed: number) => Number(process.env['QUERY_RUNS'] ?? committed)
const project_id = newId()
const versions = observationVersions(project_id)
const latest = latestOf(versions)
const plain = latest.map(plainObservation)
const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }
const select = [
  ...['observation_id', 'name', 'status', 'cost_usd', 'total_tokens', 'user_id', 'environment'],
  ...['attributes.n', 'metadata.tenant'],
]

describe.each(Object.entries(queryStores))('%s', (_name, open) => {
  let store: QueryStore

  beforeAll(async () => {
    store = await open()
    for (const [at, version] of versions.entries()) {
      await store.insert(version.map((each) => ({ ...each, message_id: `m${at}` })))
    }
    // Another project with the same ids, which must stay invisible.
    const other = newId()
    await store.insert(latest.map((observation) => ({ ...observation, project_id: other })))
  })
  afterAll(() => store?.close())

  async function page(body: object, after?: readonly string[], of = project_id) {
    const { query } = querySchema.parse({ window, ...body })
    const statement = compileQuery(query, { project_id: of, dialect: store.dialect, after })
    const rows = await store.run(statement)
    const shown = rows.slice(0, query.limit).map((row) => toJsonRow(row, statement.columns))
    const last = rows[query.limit - 1]
    const next = last && statement.keys.map(({ alias }) => String(last[alias]))
    return { rows: shown, next: rows.length > query.limit ? next : undefined }
  }

  async function groups(body: object, of = project_id) {
    const aggregate = aggregateSchema.parse({ window, ...body })
    const statement = compileAggregate(aggregate, { project_id: of, dialect: store.dialect })
    return (await store.run(statement)).map((row) => toJsonRow(row, statement.columns))
  }

  describe('pages', () => {
    test('of random queries equal a plain evaluation, each record once', async () => {
      await fc.assert(
        fc.asyncProperty(anyFilter, anyOrder, fc.integer({ min: 1, max: 40 }), async (...given) => {
          const [where, order_by, limit] = given
          const { rows } = await page({ entity: 'observations', where, order_by, limit, select })
          expect(rows).toEqual(
            expectedPage('observations', plain, { where, order_by, limit, select }),
          )
        }),
        { numRuns: runs(fuzzRuns(60)) },
      )
    })

    test('together hold all records, in the same order', async () => {
      await fc.assert(
        fc.asyncProperty(anyFilter, anyOrder, async (where, order_by) => {
          const body = { entity: 'observations', where, order_by, limit: 17, select }
          const all: unknown[] = []
          let after: readonly string[] | undefined
          do {
            const { rows, next } = await page(body, after)
            all.push(...rows)
            after = next
          } while (after && all.length < 1_000)
          expect(all).toEqual(
            expectedPage('observations', plain, { where, order_by, limit: 1_000, select }),
          )
        }),
        { numRuns: runs(fuzzRuns(12)) },
      )
    })

    test('of all records, the latest first, hold each once, however often it was sent', async () => {
      const own = newId()
      const few = latest.slice(0, 9).map((each) => ({ ...each, project_id: own }))
      await store.insert(few)
      const all = { where: { and: [] }, order_by: [], limit: 9, select }
      const expected = expectedPage('observations', few.map(plainObservation), all)
      const newest = few.filter((each) => each.observation_id === expected[0]?.['observation_id'])
      // More versions than a page's bound expects.
      for (let times = 0; times < 60; times += 1) await store.insert(newest)
      const seen: unknown[] = []
      let after: readonly string[] | undefined
      do {
        const { rows, next } = await page({ entity: 'observations', select, limit: 1 }, after, own)
        seen.push(...rows)
        after = next
      } while (after && seen.length < 100)
      expect(newest).toHaveLength(1)
      expect(seen).toEqual(expected)
    })

    test('with content have the same rows as without', async () => {
      const body = {
        entity: 'observations',
        where: { field: 'status', op: 'ne', value: 'ok' },
        order_by: [{ field: 'cost_usd', direction: 'asc' }],
        limit: 20,
      }
      const light = await page({ ...body, select })
      const full = await page({ ...body, select: [...select, 'input', 'attributes'] })
      expect(light.rows.length).toBeGreaterThan(5)
      expect(full.rows).toMatchObject(light.rows)
      expect(full.next).toEqual(light.next)
      for (const row of full.rows) expect(row['input']).toBe(`input of ${row['observation_id']}`)
    })

    test('show a record that was sent again at its new position', async () => {
      const moved = versions[0]?.find(({ task_id, observation_id }) => {
        const now = latest.find((each) => each.observation_id === observation_id)
        return now && now.task_id !== task_id
      })
      const where = { field: 'task_id', op: 'eq', value: moved?.task_id }
      const { rows } = await page({ entity: 'observations', where, limit: 1_000 })
      expect(moved).toBeDefined()
      expect(rows.map((row) => row['observation_id'])).not.toContain(moved?.observation_id)
      expect(rows.length).toBeGreaterThan(0)
    })
  })

  describe('aggregates', () => {
    test('of random filters use the latest versions', async () => {
      await fc.assert(
        fc.asyncProperty(anyFilter, async (where) => {
          const measures = [
            { fn: 'count', as: 'n' },
            { fn: 'sum', field: 'cost_usd', as: 'cost' },
            { fn: 'sum', field: 'total_tokens', as: 'tokens' },
            { fn: 'error_rate', as: 'errors' },
            { fn: 'count_distinct', field: 'trace_id', as: 'traces' },
            { fn: 'p90', field: 'duration_ms', as: 'p90' },
            { fn: 'max', field: 'attributes.n', as: 'largest' },
          ]
          const group_by = ['model', { time_bucket: '7m' }]
          const body = { entity: 'observations', where, measures, group_by, limit: 1_000 }
          const expected = expectedSums(plain, where)
          expect(await groups(body)).toEqual(
            expected.map((sums) => ({ ...sums, p90: expect.closeTo(sums.p90, 6) })),
          )
        }),
        { numRuns: runs(fuzzRuns(30)) },
      )
    })

    test('of random groups equal a plain evaluation, in the same order', async () => {
      await fc.assert(
        fc.asyncProperty(anyGroups, async (asked) => {
          const expected = expectedGroups('observations', plain, asked)
          const rows = await groups({ entity: 'observations', ...asked })
          expect(rows.slice(0, asked.limit)).toEqual(expected)
        }),
        { numRuns: runs(fuzzRuns(30)) },
      )
    })

    test('of the top groups are the first of all, in the same order', async () => {
      const field = fc.constantFrom('user_id', 'model', 'trace_id', 'metadata.tenant')
      await fc.assert(
        fc.asyncProperty(anyFilter, field, fc.integer({ min: 1, max: 4 }), async (...given) => {
          const [where, name, n] = given
          const measures = [{ fn: 'count', as: 'n' }]
          const asked = { where, measures, group_by: [name], order_by: [], limit: n }
          const top_n = { n, by: 'n', other: false }
          const rows = await groups({ entity: 'observations', ...asked, top_n })
          const expected = expectedGroups('observations', plain, asked)
          expect(rows).toEqual(expected.map((row) => ({ ...row, other: false })))
        }),
        { numRuns: runs(fuzzRuns(15)) },
      )
    })

    test('of the top groups and all others count every record once', async () => {
      const measures = [{ fn: 'count', as: 'n' }]
      const rows = await groups({
        entity: 'observations',
        measures,
        group_by: ['name'],
        top_n: { n: 2, by: 'n' },
      })
      const all = await groups({ entity: 'observations', measures, group_by: ['name'] })
      expect(rows.filter(({ other }) => other === true)).toHaveLength(1)
      expect(
        rows.filter(({ other }) => other === false).map(({ n, name }) => ({ name, n })),
      ).toEqual(all.slice(0, 2))
      expect(rows.reduce((sum, { n }) => sum + Number(n), 0)).toBe(latest.length)
    })

    test.each(['Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Asia/Kolkata'])(
      'by days of %s hold the records of each local day',
      async (time_zone) => {
        const of = newId()
        // Clocks change in Berlin on 25 October, and on Lord Howe Island on 4 October, by half an hour.
        const from_ms = Date.parse('2026-10-03T00:00:00Z')
        const starts_ms = Array.from({ length: 24 * 25 }, (_, hour) => from_ms + hour * 3_600_000)
        const records = starts_ms.map((ms, at) =>
          observationOf({
            ...{ project_id: of, observation_id: `hour-${at}`, message_id: 'hours' },
            ...{ start_time: BigInt(ms) * 1_000_000n, end_time: BigInt(ms) * 1_000_000n },
          }),
        )
        await store.insert(records)
        const measures = [
          { fn: 'count', as: 'n' },
          { fn: 'rate', as: 'rate' },
        ]
        const window = { from: '2026-10-03T05:00:00Z', to: '2026-10-27T17:00:00Z' }
        const group_by = [{ time_bucket: '1d', time_zone }]
        const rows = await groups({ entity: 'observations', window, measures, group_by }, of)
        const inside = starts_ms.filter(
          (ms) => ms >= Date.parse(window.from) && ms < Date.parse(window.to),
        )
        const date = new Intl.DateTimeFormat('en', { timeZone: time_zone, dateStyle: 'short' })
        const days = [...Map.groupBy(inside, (ms) => date.format(ms)).values()]
        expect(rows.map(({ n }) => n)).toEqual(days.map(({ length }) => length))
        const midnights = rows.map(({ time_bucket }) => new Date(String(time_bucket)))
        const clock = new Intl.DateTimeFormat('en', { timeZone: time_zone, timeStyle: 'short' })
        expect(new Set(midnights.map((each) => clock.format(each)))).toEqual(new Set(['12:00 AM']))
        // One record an hour, in a whole day of any length, except where days begin at half hours.
        if (time_zone === 'Europe/Berlin') {
          for (const { rate } of rows.slice(1, -1)) expect(rate).toBeCloseTo(1 / 3600, 9)
          expect(rows.map(({ n }) => n)).toContain(25)
        }
      },
    )

    test('tell two Kubernetes clusters apart', async () => {
      const of = newId()
      const records = ['eu-1', 'us-1', 'eu-1', undefined].map((cluster, at) =>
        observationOf({
          ...{ project_id: of, observation_id: `o-${at}`, message_id: 'clusters' },
          ...{ start_time: queryStart, end_time: queryStart },
          attributes: cluster === undefined ? {} : { 'resource.k8s.cluster.name': cluster },
        }),
      )
      await store.insert(records)
      const measures = [{ fn: 'count', as: 'n' }]
      const body = { entity: 'observations', measures, group_by: ['cluster_name'] }
      expect(await groups(body, of)).toEqual([
        { cluster_name: 'eu-1', n: 2 },
        { cluster_name: 'us-1', n: 1 },
        { cluster_name: null, n: 1 },
      ])
      const where = { field: 'cluster_name', op: 'eq', value: 'us-1' }
      const { rows } = await page(
        { entity: 'observations', where, select: ['cluster_name'] },
        undefined,
        of,
      )
      expect(rows).toEqual([{ cluster_name: 'us-1' }])
    })

    test('of no rows are zero or unknown', async () => {
      const where = { field: 'name', op: 'eq', value: 'no such name' }
      const fns = ['sum', 'avg', 'min', 'p95'].flatMap((fn) => [
        { fn, field: 'cost_usd', as: `${fn}_cost` },
        { fn, field: 'duration_ms', as: `${fn}_ms` },
      ])
      const measures = [{ fn: 'count', as: 'n' }, { fn: 'rate', as: 'rate' }, ...fns]
      expect(await groups({ entity: 'observations', where, measures })).toEqual([
        {
          n: 0,
          rate: 0,
          sum_cost: '0',
          sum_ms: 0,
          avg_cost: null,
          avg_ms: null,
          min_cost: null,
          min_ms: null,
          p95_cost: null,
          p95_ms: null,
        },
      ])
    })

    test('of money are decimals', async () => {
      const measures = ['avg', 'p50', 'max'].map((fn) => ({ fn, field: 'cost_usd', as: fn }))
      const [row] = await groups({ entity: 'observations', measures })
      for (const value of Object.values(row ?? {})) expect(value).toMatch(/^\d+(\.\d{1,9})?$/)
    })

    test('can be compared', async () => {
      const measures = [{ fn: 'sum', field: 'cost_usd', as: 'cost' }]
      const body = { entity: 'observations', measures, group_by: ['name'], limit: 100 }
      const all = await groups(body)
      const having = { field: 'cost', op: 'gt', value: String(all[1]?.['cost']) }
      expect(await groups({ ...body, having })).toEqual(all.slice(0, 1))
    })
  })

  test('traces are computed from observations and the trace record', async () => {
    const [first] = latest
    const trace_id = String(first?.trace_id)
    const record = traceOf({
      project_id,
      trace_id,
      time: queryStart,
      name: 'named',
      metadata: ['tenant', 'acme'],
    })
    await store.insertTrace({ ...record, name: 'old' }, 'm1')
    await store.insertTrace(record, 'm2')
    const of = latest.filter((each) => each.trace_id === trace_id)
    const { rows } = await page({
      entity: 'traces',
      select: ['name', 'observations', 'has_error', 'metadata.tenant', 'start_time'],
      where: { field: 'metadata.tenant', op: 'eq', value: 'acme' },
    })
    expect(rows).toMatchObject([
      {
        name: 'named',
        observations: of.length,
        has_error: of.some(({ status }) => status === 'error'),
        'metadata.tenant': 'acme',
      },
    ])
    const all = await page({ entity: 'traces', limit: 1_000, select: ['observations'] })
    const sum = all.rows.reduce((total, row) => total + Number(row['observations']), 0)
    expect(sum).toBe(latest.length)
  })
})

describe('entities that only ClickHouse has', () => {
  let columnar: ColumnarServer
  beforeAll(async () => {
    columnar = await migratedClickHouse(await testClickHouse('own'))
    await setMerges(columnar, 'correlations', 'STOP')
  })
  afterAll(() => columnar?.close())

  async function rowsOfPage(body: object) {
    const { query } = querySchema.parse({ window, ...body })
    const statement = compileQuery(query, { project_id, dialect: clickhouse })
    return columnar.query(statement.text, namedParams(statement))
  }

  test('a correlation that moved is found at its new time only', async () => {
    const records = openClickHouseRecordStore({ columnar })
    const hour = 3_600_000_000_000n
    const before = correlationOf({ project_id, time: queryStart })
    const moved = { ...before, time: queryStart + 5n * hour }
    await records.insertRows('correlations', rowsOf('correlations', [before]), { token: newId() })
    await records.insertRows('correlations', rowsOf('correlations', [moved], 'm2'), {
      token: newId(),
    })
    const body = { entity: 'correlations', select: ['correlation_value'] }
    expect(await rowsOfPage(body)).toEqual([])
    const later = { from: window.to, to: '2026-09-22T00:00:00Z' }
    expect(await rowsOfPage({ ...body, window: later })).toHaveLength(1)
  })

  test.each(['events', 'links'])('%s can be queried', async (entity) => {
    expect(await rowsOfPage({ entity })).toEqual([])
  })
})
