import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { openQueryApi, type QueryApi } from '../support/query-api.ts'

const window = { from: '2026-11-20T00:00:00Z', to: '2026-11-22T00:00:00Z' }
const trace_id = '0198c0de-0000-7000-8000-000000000001'

let api: QueryApi
beforeAll(async () => {
  api = await openQueryApi()
  await api.insertTask({ task_id: 'one', worst_severity: 4, wasted_tokens: 30 })
  await api.insertTask({ task_id: 'two' })
  await insertFinding({ severity: 'high', type: 'cycle', wasted_tokens: 30 })
  await insertFinding({ severity: 'low', type: 'monologue', wasted_tokens: 7 })
  await insertFinding({ severity: 'critical', type: 'cycle', task_id: 'two', state: 'withdrawn' })
})
afterAll(() => api?.[Symbol.asyncDispose]())

async function insertFinding(given: Record<string, string | number>): Promise<void> {
  const { task_id = 'one', severity, type, state = 'open', wasted_tokens = 0 } = given
  await sql`
    insert into findings (finding_id, project_id, task_id, kind, type, detector, detector_version,
      severity, state, summary, places, trace_ids, wasted_tokens, wasted_cost_usd, recovered,
      confidence, evidence, started_at, first_detected_at, updated_at)
    values (${newId()}, ${api.project_id}, ${task_id}, 'loop', ${type}, ${type}, 1, ${severity},
      ${state}, 'said', '[]', array[${trace_id}]::uuid[], ${wasted_tokens}, 0.25, false, 0.75,
      '{"quote": "secret"}', '2026-11-21T10:00:00Z', now(), now())
  `.execute(api.relational.db)
}

test('findings are queried, filtered and sorted by severity', async () => {
  const { status, body } = await api.call('query', {
    ...{ entity: 'findings', window },
    where: { field: 'state', op: 'ne', value: 'withdrawn' },
    select: ['task_id', 'type', 'severity', 'severity_number', 'trace_ids', 'judge', 'confidence'],
    order_by: [{ field: 'severity_number', direction: 'desc' }],
  })
  expect([status, body]).toMatchObject([200, { served_by: 'postgres' }])
  const same = { task_id: 'one', trace_ids: [trace_id], judge: null, confidence: 0.75 }
  expect(body.rows).toEqual([
    { ...same, type: 'cycle', severity: 'high', severity_number: 4 },
    { ...same, type: 'monologue', severity: 'low', severity_number: 2 },
  ])
})

test('they are counted by type, and other projects do not see them', async () => {
  const asked = {
    ...{ entity: 'findings', window, group_by: ['type'] },
    measures: [
      { fn: 'count', as: 'n' },
      { fn: 'sum', field: 'wasted_tokens', as: 'wasted' },
    ],
  }
  const { status, body } = await api.call('query/aggregate', asked)
  expect(status).toBe(200)
  expect(body.rows).toEqual(
    expect.arrayContaining([
      { type: 'cycle', n: 2, wasted: 30 },
      { type: 'monologue', n: 1, wasted: 7 },
    ]),
  )
  const headers = { 'x-api-key': `lt_${newId()} query:run` }
  const stranger = await api.call('query', { entity: 'findings', window }, { headers })
  expect([stranger.status, stranger.body.rows]).toEqual([200, []])
})

test('all fields are returned except evidence; tasks have their worst severity', async () => {
  const { status, body } = await api.call('query', { entity: 'findings', window })
  expect([status, body.rows.length]).toEqual([200, 3])
  expect(JSON.stringify(body)).not.toContain('secret')
  const tasks = await api.call('query', {
    ...{ entity: 'tasks', window: { from: '2026-01-01T00:00:00Z', to: '2026-12-01T00:00:00Z' } },
    where: { field: 'worst_severity', op: 'gte', value: 4 },
    select: ['task_id', 'wasted_tokens'],
    allow_wide: true,
  })
  expect([tasks.status, tasks.body.rows]).toEqual([200, [{ task_id: 'one', wasted_tokens: 30 }]])
})
