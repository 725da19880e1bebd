import { expect, test } from 'vitest'
import { BodyBuffers } from './row-batch.ts'

const mib = 1024 * 1024

test('a returned buffer is reused, also for a smaller body', () => {
  const bodies = new BodyBuffers(2)
  const first = bodies.take(5 * mib)
  expect(first).toHaveLength(5 * mib)
  bodies.give(first)
  const second = bodies.take(2 * mib)
  expect(second).toHaveLength(2 * mib)
  expect(second.buffer).toBe(first.buffer)
  expect(bodies.take(2 * mib).buffer).not.toBe(first.buffer)
})

test('the limit on kept buffers holds, and a larger buffer replaces a smaller one', () => {
  const bodies = new BodyBuffers(1)
  const [small, other] = [bodies.take(2 * mib), bodies.take(2 * mib)]
  bodies.give(small)
  bodies.give(other)
  const large = bodies.take(9 * mib)
  expect(large).toHaveLength(9 * mib)
  bodies.give(large)
  expect(bodies.take(2 * mib).buffer).toBe(large.buffer)
  expect(bodies.take(2 * mib).buffer).not.toBe(other.buffer)
})

test('small buffers are not kept, because they may share memory', () => {
  const bodies = new BodyBuffers(2)
  const small = bodies.take(100)
  expect(small).toHaveLength(100)
  bodies.give(small)
  expect(bodies.take(2 * mib).buffer).not.toBe(small.buffer)
})
