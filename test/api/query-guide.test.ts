import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { savedQueryRoutes } from '../../src/capabilities/saved-queries/index.ts'
import type { Kysely, SavedQueryTables } from '../../src/platform/relational/index.ts'
import { callsOfGuide } from '../support/guide-calls.ts'
import { guideObservations, guideTasks } from '../support/guide-records.ts'
import { openQueryApi, type QueryApi } from '../support/query-api.ts'

const calls = await callsOfGuide('docs/guides/query.md')
const prefix = '/api/v2/observability/'
let api: QueryApi

beforeAll(async () => {
  api = await openQueryApi({
    routes: (queries, relational) =>
      savedQueryRoutes({
        db: relational.db as unknown as Kysely<SavedQueryTables>,
        clock: { now_ms: () => Date.UTC(2026, 8, 21, 12) },
        queries,
        saved_queries_max: 10,
      }),
  })
  await api.insert(guideObservations(api.project_id))
  for (const task of guideTasks) await api.insertTask(task)
})
afterAll(() => api?.[Symbol.asyncDispose]())

test('the guide has ten questions, and more', () => {
  expect(calls.filter(({ heading }) => /^\d+\. /.test(heading))).toHaveLength(10)
  for (const { heading, answer } of calls) expect([heading, answer]).not.toContain(undefined)
})

describe('the guide to queries', () => {
  test.each(calls)('$heading', async ({ path, body, answer }) => {
    const reply = await api.call(path.slice(prefix.length), body)
    expect([reply.status < 300, reply.body.detail]).toEqual([true, undefined])
    if (Array.isArray(answer)) expect(reply.body.rows).toEqual(answer)
    else expect(reply.body).toMatchObject(answer as object)
  })

  test('a saved query is run', async () => {
    const saved = await api.call('saved-queries', undefined, { method: 'GET' })
    const [{ saved_query_id }] = saved.body.saved_queries
    const run = { parameters: { user: 'u-1' } }
    const { body } = await api.call(`saved-queries/${saved_query_id}/run`, run)
    expect(body).toMatchObject({
      rows: [{ cost_usd: expect.stringMatching(/^0\.\d+$/) }],
      window: { from: '2026-09-20T12:00:00.000Z', to: '2026-09-21T12:00:00.000Z' },
    })
  })
})
