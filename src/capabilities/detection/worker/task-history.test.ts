import { expect, test } from 'vitest'
import { observationOf } from '../../../../test/support/observations.ts'
import { HistoryCache, TaskHistory } from './task-history.ts'

const bounds = { bytes_max: 1_000_000, histories_max: 2, idle_ms_max: 1_000 }
const keyOf = (task_id: string) => ({ project_id: 'p', task_id })
const historyOf = (task_id: string, epoch = 'e1') =>
  new TaskHistory({ ...keyOf(task_id), conversation_id: '' }, epoch)

test('takes a history only with its key and epoch', () => {
  const cache = new HistoryCache(bounds)
  const history = historyOf('a')
  cache.keep(keyOf('a'), history, 0)
  expect(cache.take({ project_id: 'other', task_id: 'a' }, 'e1')).toBeUndefined()
  expect(cache.take(keyOf('a'), 'e1')).toBe(history)
  expect(cache.take(keyOf('a'), 'e1')).toBeUndefined()
  cache.keep(keyOf('a'), history, 0)
  expect(cache.take(keyOf('a'), 'e2')).toBeUndefined()
  expect([cache.size, cache.bytes]).toEqual([0, 0])
})

test('evicts the least recently used history', () => {
  const cache = new HistoryCache(bounds)
  for (const task of ['a', 'b']) cache.keep(keyOf(task), historyOf(task), 0)
  const first = cache.take(keyOf('a'), 'e1')
  if (first !== undefined) cache.keep(keyOf('a'), first, 1)
  cache.keep(keyOf('c'), historyOf('c'), 2)
  expect(cache.take(keyOf('b'), 'e1')).toBeUndefined()
  expect(cache.take(keyOf('a'), 'e1')).toBe(first)
})

test('does not keep a history larger than the limit', () => {
  const cache = new HistoryCache({ ...bounds, bytes_max: -1 })
  cache.keep(keyOf('a'), historyOf('a'), 0)
  expect([cache.size, cache.bytes]).toEqual([0, 0])
})

test('drops idle histories', () => {
  const cache = new HistoryCache(bounds)
  cache.keep(keyOf('a'), historyOf('a'), 0)
  cache.keep(keyOf('b'), historyOf('b'), 900)
  cache.dropIdle(1_000)
  expect(cache.size).toBe(1)
  expect(cache.take(keyOf('b'), 'e1')).toBeDefined()
})

test('is read anew when another row has a call of it', () => {
  const history = historyOf('a')
  const row = observationOf({ project_id: 'p', task_id: 'a' })
  history.add([row])
  const version = { ...row, stored_at_ms: 1, body_bytes: 0 }
  expect(history.selectFresh([version])).toEqual([])
  expect(history.selectFresh([{ ...version, counted_with: 'another' }])).toBe('changed')
})
