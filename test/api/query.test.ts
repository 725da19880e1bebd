import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { openQueryApi, type QueryApi } from '../support/query-api.ts'
import { latestOf, observationVersions, queryStart } from '../support/query-records.ts'
import { correlationOf, eventOf, linkOf, rowsOf } from '../support/records.ts'

const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }
let api: QueryApi

beforeAll(async () => {
  api = await openQueryApi()
  const { project_id, records } = api
  for (const version of observationVersions(project_id)) await api.insert(version)
  // A neighbour with the same ids.
  await api.insert(latestOf(observationVersions(newId())))
  const trace_id = newId()
  const time = queryStart
  await records.insertRows('events', rowsOf('events', [eventOf({ project_id, trace_id, time })]), {
    token: newId(),
  })
  await records.insertRows('links', rowsOf('links', [linkOf({ project_id, trace_id, time })]), {
    token: newId(),
  })
  const named = correlationOf({ project_id, trace_id, time })
  await records.insertRows('correlations', rowsOf('correlations', [named]), { token: newId() })
  await api.insertTask({ task_id: 'task-1' })
})
afterAll(() => api?.[Symbol.asyncDispose]())

describe('a query', () => {
  test.each([
    ['observations', 'clickhouse', 50],
    ['traces', 'clickhouse', 25],
    ['events', 'clickhouse', 1],
    ['links', 'clickhouse', 1],
    ['correlations', 'clickhouse', 1],
    ['tasks', 'postgres', 1],
  ])('of %s is answered by %s', async (entity, store, rows) => {
    const { status, body } = await api.call('query', { entity, window })
    expect(body).toMatchObject({ served_by: store, fallback_reason: null })
    expect([status, body.rows.length]).toEqual([200, rows])
    expect(body.columns.map(({ name }: { name: string }) => name)).toEqual(
      Object.keys(body.rows[0]),
    )
    expect(body.stats.duration_ms).toBeGreaterThan(0)
    if (store === 'postgres')
      expect(body.stats).toMatchObject({ rows_read: null, bytes_read: null })
    else expect(body.stats.rows_read).toBeGreaterThanOrEqual(rows)
  })

  test('aggregates', async () => {
    const { status, body } = await api.call('query/aggregate', {
      entity: 'observations',
      window,
      measures: [{ fn: 'count', as: 'n' }],
      group_by: [{ time_bucket: '1h' }],
      fill: true,
    })
    expect([status, body.truncated]).toEqual([200, false])
    expect(body.rows).toEqual([
      { time_bucket: '2026-09-21T14:00:00.000Z', n: 90 },
      { time_bucket: '2026-09-21T15:00:00.000Z', n: 30 },
    ])
  })

  test('reports that there are more groups than the limit', async () => {
    const body = {
      entity: 'observations',
      window,
      measures: [{ fn: 'count', as: 'n' }],
      group_by: ['observation_id', 'model'],
    }
    const some = await api.call('query/aggregate', { ...body, limit: 10 })
    expect([some.body.rows.length, some.body.truncated]).toEqual([10, true])
    const all = await api.call('query/aggregate', { ...body, limit: 120 })
    expect([all.body.rows.length, all.body.truncated]).toEqual([120, false])
  })

  test('is logged by its hash, without any of its values', async () => {
    const secret = 'a value that is nobody else its business'
    const where = { field: 'user_id', op: 'eq', value: secret }
    const body = { entity: 'observations', window, where }
    await api.call('query', body)
    await api.call('query', { ...body, limit: 3 })
    const lines = api.logged().filter((line) => line.includes('query_hash'))
    const [one, other] = lines.slice(-2).map((line) => JSON.parse(line))
    expect(one).toMatchObject({ project_id: api.project_id, store: 'clickhouse', failed: null })
    expect(one.query_hash).toMatch(/^[\w-]{22}$/)
    expect(other.query_hash).toBe(one.query_hash)
    expect(api.logged().join('')).not.toContain(secret)
  })

  test('explains', async () => {
    const { status, body } = await api.call('query/explain', {
      entity: 'observations',
      window,
      where: { field: 'input', op: 'contains', value: 'x' },
    })
    expect(status).toBe(200)
    expect(body.statement.params).toContainEqual({ name: 'p3', value: 'x' })
  })
})
