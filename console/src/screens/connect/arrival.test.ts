import { expect, test } from 'vitest'
import type { TaskTimeline } from '../../api/schema.gen.d.ts'
import { fillKey, filterClients, findArrival } from './arrival.ts'

const call = (time: string, status: 'ok' | 'error', message = '') =>
  ({
    role: 'model_call',
    ...{ time, status, provider: 'openai', model: 'gpt-5-mini' },
    status_code: status === 'ok' ? 200 : 401,
    error: status === 'ok' ? null : { type: 'invalid_key', message },
    tokens: { total: 12 },
  }) as TaskTimeline['entries'][number]

test('a call from before the wait does not turn the light on', () => {
  const entries = [call('2026-11-29T09:00:00.000000001Z', 'ok')]
  expect(findArrival(entries, '2026-11-29T09:00:01Z')).toBeUndefined()
  expect(findArrival([], '2026-11-29T09:00:01Z')).toBeUndefined()
})

test('an answered call comes before one that failed earlier', () => {
  const since = '2026-11-29T09:00:00Z'
  const failed = call('2026-11-29T09:00:01Z', 'error', 'no such key')
  const answered = call('2026-11-29T09:00:02Z', 'ok')
  expect(findArrival([failed, answered], since)).toMatchObject({ isError: false, total_tokens: 12 })
  expect(findArrival([failed], since)).toMatchObject({
    ...{ isError: true, message: 'invalid_key: no such key', status_code: 401 },
  })
})

test('clients are found by all words, in any order', () => {
  const clients = [
    { name: 'openai-python', title: 'openai (Python)', calls: 'Responses' },
    { name: 'openai-node', title: 'openai (Node)', calls: 'Responses' },
  ]
  expect(filterClients(clients, 'node  OpenAI').map(({ name }) => name)).toEqual(['openai-node'])
  expect(filterClients(clients, ' ')).toHaveLength(2)
  expect(filterClients(clients, 'ruby')).toEqual([])
})

test('a key with a replacement pattern stays as it is', () => {
  expect(fillKey(['a "<key>"', 'b'], '$&')).toBe('a "$&"\nb')
})
