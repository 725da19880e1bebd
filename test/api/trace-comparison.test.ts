import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { keyOf } from '../support/task-api.ts'
import { type GivenRow, openTraceApi, type TraceApi } from '../support/trace-api.ts'

let api: TraceApi
beforeAll(async () => {
  api = await openTraceApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const path = (one: string, other: string, query = '') =>
  `traces/${one}/comparison?with=${other}&${query}`

const rows = (tool: string, took: number, status: 'ok' | 'error'): GivenRow[] => [
  { id: 'agent', at: 0, took: 50 + took, type: 'agent', name: 'agent', task_name: 'one' },
  {
    ...{ id: 'chat', parent: 'agent', at: 5, took, type: 'generation', name: 'chat', status },
    ...{ input_uncached_tokens: took, cost_usd: `0.0${took}` },
  },
  { id: tool, parent: 'agent', at: 40 + took, took: 5, type: 'tool', name: tool },
]

test('the differences from another trace', async () => {
  const one = await api.store(rows('search', 20, 'ok'))
  const other = await api.store(rows('browse', 30, 'error'))
  const { status, body } = await api.get(path(one, other.replaceAll('-', '')))
  expect(status).toBe(200)
  expect(body).toMatchObject({
    left: { trace_id: one, served_by: 'clickhouse' },
    right: { trace_id: other },
    same_task_name: true,
    counts: { matched: 2, added: 1, removed: 1, changed: 1 },
    total: 4,
    next_cursor: null,
  })
  expect(body.pairs).toMatchObject([
    { state: 'matched', name: 'agent', difference: { duration_ms: 10, self_ms: 0, tokens: 10 } },
    { state: 'changed', name: 'chat', difference: { duration_ms: 10, cost_usd: '0.01' } },
    { state: 'removed', name: 'search', depth: 1, right: null },
    { state: 'added', name: 'browse', depth: 1, left: null },
  ])
  expect(body.operations[0]).toMatchObject({
    ...{ type: 'generation', name: 'chat' },
    left: { self_ms: 20, errors: 0 },
    right: { self_ms: 30, errors: 1 },
  })
  const changes = await api.get(path(one, other, 'changes=true&limit=2'))
  expect(changes.body).toMatchObject({ total: 3, pairs: [{ name: 'chat' }, { name: 'search' }] })
  const cursor = `changes=true&limit=2&cursor=${changes.body.next_cursor}`
  const rest = await api.get(path(one, other, cursor))
  expect(rest.body).toMatchObject({ pairs: [{ name: 'browse' }], next_cursor: null })
  await api.store([{ id: 'late', parent: 'agent', at: 1, took: 1 }], other)
  expect((await api.get(path(one, other, cursor))).body.code).toBe('invalid_cursor')
})

test('refuses traces of others, and invalid input', async () => {
  const one = await api.store(rows('search', 20, 'ok'))
  const theirs = newId()
  expect((await api.get(path(one, theirs))).body.code).toBe('trace_not_found')
  expect((await api.get(path(theirs, one))).status).toBe(404)
  expect((await api.get(path(one, one), keyOf(newId(), 'query:run'))).status).toBe(404)
  expect((await api.get(path(one, one), {})).status).toBe(401)
  expect((await api.get(path(one, one), keyOf(api.project_id, 'tasks:read'))).status).toBe(403)
  for (const query of ['limit=0', 'changes=maybe', 'cursor=x', 'more=1']) {
    expect((await api.get(path(one, one, query))).status).toBe(400)
  }
  expect((await api.get(path(one, 'nonsense'))).status).toBe(400)
  expect((await api.get(`traces/${one}/comparison`)).status).toBe(400)
})
