import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { insertMany } from '../support/many-observations.ts'
import { type Json, openQueryApi, type QueryApi } from '../support/query-api.ts'
import { budget } from '../support/suite/budget.ts'

const window = { from: '2026-09-21T14:10:00Z', to: '2026-09-21T14:40:00Z' }
const rows = budget({ test: 80_000, soak: 400_000 })
let api: QueryApi
let trace_id: string

beforeAll(async () => {
  // Estimates depend on the parts of the tables.
  const columnar = await migratedClickHouse(await testClickHouse('own'))
  api = await openQueryApi({ columnar })
  for (const project_id of [api.project_id, newId(), newId()]) {
    await insertMany(api.columnar, { project_id, rows })
  }
  const page = await api.call('query', { entity: 'observations', window, limit: 1 })
  trace_id = page.body.rows[0].trace_id
}, 60_000)
afterAll(() => api?.[Symbol.asyncDispose]())

const observations = { entity: 'observations', window }
const measures = [{ fn: 'p95', field: 'duration_ms', as: 'p95' }]
const ofName = { field: 'name', op: 'eq', value: 'name 7' }

async function explained(body: object): Promise<Json> {
  const reply = await api.call('query/explain', body)
  expect([reply.status, reply.body.code]).toEqual([200, undefined])
  return reply.body
}

async function ran(body: object): Promise<Json> {
  const path = 'measures' in body ? 'query/aggregate' : 'query'
  const reply = await api.call(path, body)
  expect([reply.status, reply.body.code]).toEqual([200, undefined])
  return reply.body
}

describe('an estimate', () => {
  test.each([
    ['a sum by hour', { ...observations, measures, group_by: ['model', { time_bucket: '1h' }] }],
    ['a filtered sum', { ...observations, measures, where: ofName }],
    ['a search in content', { ...observations, measures, where: containing('123') }],
    ['a trace', { ...observations, where: { field: 'trace_id', op: 'eq', value: () => trace_id } }],
    ['the costliest', { ...observations, order_by: [{ field: 'duration_ms' }] }],
    ['traces', { entity: 'traces', window, measures: [{ fn: 'count', as: 'n' }] }],
    ['the top', { ...observations, measures, group_by: ['name'], top_n: { n: 3, by: 'p95' } }],
    ['pages', observations],
    ['pages of a filter', { ...observations, where: ofName }],
    ['pages with content', { ...observations, where: ofName, select: ['input'] }],
    ['a task', { ...observations, where: { field: 'task_id', op: 'eq', value: 't' } }],
  ])(
    'of %s is near the rows that are read, or has a reason why it is unknown',
    async (_what, given) => {
      const body = JSON.parse(
        JSON.stringify(given, (_key, value) => (typeof value === 'function' ? value() : value)),
      )
      const { estimate } = await explained(body)
      const { stats } = await ran(body)
      if (estimate.rows === null) {
        expect(estimate.reason).toMatch(/./)
        expect(stats.rows_read).toBeLessThanOrEqual(estimate.rows_at_most * 2)
        return
      }
      expect(estimate.reason).toBeNull()
      expect(stats.rows_read).toBeLessThanOrEqual(estimate.rows * 3)
      expect(stats.rows_read).toBeGreaterThanOrEqual(estimate.rows / 3)
    },
  )
})

describe('the bytes of an estimate', () => {
  const wide = 'ALTER TABLE observations MODIFY SETTING min_bytes_for_wide_part = 0'

  test.each([
    ['Compact', [], 'parts'],
    ['Wide', [wide], 'columns'],
    ['Compact and Wide', [undefined, wide], 'columns'],
  ] as const)('are near those that are read of %s parts', async (_what, steps, bytes_from) => {
    const columnar = await migratedClickHouse(await testClickHouse('own'))
    await using own = await openQueryApi({ columnar })
    for (const step of steps) {
      // FINAL also reads the sorting key where parts overlap, so the parts have different projects.
      if (step !== undefined) await columnar.command(step)
      else await insertMany(columnar, { project_id: newId(), rows: 20_000 })
    }
    await insertMany(columnar, { project_id: own.project_id, rows: 20_000 })
    const types = await columnar.query<{ part_type: string }>(
      `SELECT DISTINCT part_type FROM system.parts
        WHERE active AND database = currentDatabase() AND table = 'observations'`,
    )
    expect(types.length).toBe(Math.max(1, steps.length))
    for (const body of [
      { measures, group_by: ['model', { time_bucket: '1h' }] },
      { measures: [{ fn: 'count', as: 'n' }] },
      { measures, where: ofName },
      { measures, where: containing('123') },
      { order_by: [{ field: 'duration_ms' }] },
    ]) {
      const path = 'measures' in body ? 'query/aggregate' : 'query'
      const asked = { ...observations, ...body }
      const { estimate } = (await own.call('query/explain', asked)).body
      const { stats } = (await own.call(path, asked)).body
      expect(estimate.bytes_from).toBe(bytes_from)
      expect(estimate.bytes, JSON.stringify(body)).toBeGreaterThan(stats.bytes_read / 3)
      expect(estimate.bytes, JSON.stringify(body)).toBeLessThan(stats.bytes_read * 3)
    }
  })

  test('are unknown where rows are, and have no source then', async () => {
    const { estimate } = await explained(observations)
    expect(estimate).toMatchObject({ rows: null, bytes: null, bytes_from: null })
  })
})

test('it runs nothing: rows of a sub-query are not looked up', async () => {
  const none = { field: 'task_id', op: 'eq', value: 'no such task' }
  const { estimate } = await explained({ ...observations, where: none })
  // If it knew that the sub-query is empty, no rows would be left to read.
  expect(estimate.rows_at_most).toBeGreaterThan(rows / 3)
  const page = await explained(observations)
  expect(page.estimate.rows_at_most).toBeGreaterThan(rows / 3)
})

test('refused and slow queries get warnings', async () => {
  const codes = async (body: object) =>
    (await explained(body)).warnings.map(({ code }: { code: string }) => code)
  expect(await codes({ ...observations, where: containing('x'), select: ['input'] })).toEqual([
    'no_index',
    'contains_on_content',
    'content_columns',
  ])
  const wide = { entity: 'observations', window: { from: '2026-08-01T00:00:00Z', to: window.to } }
  expect(await codes(wide)).toEqual(['wide_window'])
  expect(await codes({ ...observations, order_by: [{ field: 'duration_ms' }] })).toEqual(['sorted'])
  const empty = { not: { field: 'user_id', op: 'in', value: ['', 'u-1'] } }
  expect(await codes({ ...observations, where: empty })).toEqual(['no_index', 'empty_text'])
  const key = { field: 'attributes.tenant', op: 'eq', value: 'acme' }
  expect(await codes({ ...observations, where: key })).toEqual(['no_index', 'map_keys'])
  expect(await codes({ ...observations, where: byTrace() })).toEqual([])
})

test('it shows store, statement, limits and the normalised query', async () => {
  const body = await explained({ ...observations, where: byTrace(), limit: 3 })
  expect(body).toMatchObject({
    kind: 'query',
    query_class: 'point',
    query: {
      entity: 'observations',
      order_by: [
        { field: 'start_time', direction: 'desc' },
        { field: 'trace_id', direction: 'desc' },
        { field: 'observation_id', direction: 'desc' },
      ],
      limit: 3,
    },
    store: { chosen: 'clickhouse', candidates: [{ eligible: true }, { eligible: false }] },
    limits: { query_rows_read_max: 10_000_000, query_time_ms_max: 10_000 },
  })
  expect(body.statement.text).not.toContain(trace_id)
  expect(body.statement.params.map(({ value }: { value: unknown }) => value)).toContain(trace_id)
  expect(body.plan.join('\n')).toContain('ReadFromMergeTree')
  const tasks = await explained({ entity: 'tasks', window })
  expect(tasks.store.chosen).toBe('postgres')
  expect(tasks.estimate).toMatchObject({
    rows: null,
    reason: expect.stringContaining('PostgreSQL'),
  })
  expect(tasks.plan.join('\n')).toMatch(/Scan.* on tasks/)
})

function byTrace() {
  return { field: 'trace_id', op: 'eq', value: trace_id }
}

function containing(value: string) {
  return { field: 'input', op: 'contains', value }
}
