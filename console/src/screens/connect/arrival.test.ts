import { expect, test } from 'vitest'
import type { TaskTimeline } from '../../api/schema.gen.d.ts'
import { fillKey, filterClients, findArrival, findArrivalOf } from './arrival.ts'

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

test('a call on a later page is found, and the next look begins behind the earlier pages', async () => {
  const since = '2026-11-29T09:00:00Z'
  const earlier = call('2026-11-29T08:59:00Z', 'ok')
  const pages = [[earlier], [earlier], [call('2026-11-29T09:00:01Z', 'error')], [earlier]]
  const read: number[] = []
  const readPage = async (cursor: string | undefined) => {
    const at = Number(cursor ?? 0)
    read.push(at)
    return {
      entries: pages[at] ?? [],
      next_cursor: at + 1 < pages.length ? String(at + 1) : null,
    }
  }
  const wanted = { since, starts: new Map<string, string>() }
  expect(await findArrivalOf('t', wanted, readPage)).toMatchObject({ isError: true })
  pages[3] = [call('2026-11-29T09:00:03Z', 'ok')]
  expect(await findArrivalOf('t', wanted, readPage)).toMatchObject({ isError: false })
  expect(read).toEqual([0, 1, 2, 3, 2, 3])
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
