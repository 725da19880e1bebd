import { expect, test } from 'vitest'
import { traceIdFrom } from '../../../../kernel/ids.ts'
import { createCallIds } from './call-ids.ts'

test('ids are UUIDv7 of the instant, and differ', () => {
  const ids = createCallIds()
  const made = Array.from({ length: 5_000 }, () => ids.uuid(1_790_000_000_123))
  expect(new Set(made).size).toBe(made.length)
  for (const id of made) {
    expect(id).toMatch(/^01a0c450-6c7b-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(traceIdFrom(id)).toBe(id)
  }
})

test('span ids are 16 hex digits, differ, and are never zero', () => {
  let fills = 0
  const ids = createCallIds((pool) => {
    fills += 1
    pool.fill(fills === 1 ? 0 : 7)
  })
  expect(ids.observationId()).toBe('0707070707070707')
  const random = createCallIds()
  const made = Array.from({ length: 5_000 }, () => random.observationId())
  expect(new Set(made).size).toBe(made.length)
  expect(made.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true)
})
