import { expect, test } from 'vitest'
import { BodyBytes, createBodyBuffers, createInflightBytes } from './inflight-bytes.ts'

const kib = 1024
const mib = 1024 * kib

test('a buffer is reused only after it is given back', () => {
  const buffers = createBodyBuffers(4 * mib)
  const one = buffers.take(mib)
  const other = buffers.take(mib)
  expect(other).not.toBe(one)
  buffers.give(one)
  expect(buffers.take(mib - 5)).toBe(one)
})

test('a buffer has at least the requested length', () => {
  const buffers = createBodyBuffers(64 * mib)
  for (const length of [1, 128 * kib, 128 * kib + 1, 8 * mib, 8 * mib + 1, 20 * mib]) {
    const buffer = buffers.take(length)
    expect(buffer.length).toBeGreaterThanOrEqual(length)
    buffers.give(buffer)
  }
})

test('free buffers stay within the limit, and very large ones are not kept', () => {
  const buffers = createBodyBuffers(2 * mib)
  const taken = [buffers.take(mib), buffers.take(mib), buffers.take(mib)]
  for (const buffer of taken) buffers.give(buffer)
  const again = [buffers.take(mib), buffers.take(mib), buffers.take(mib)]
  expect(again.filter((buffer) => taken.includes(buffer))).toHaveLength(2)
  const large = createBodyBuffers(64 * mib)
  const one = large.take(9 * mib)
  large.give(one)
  expect(large.take(9 * mib)).not.toBe(one)
})

test('the pieces of a body are joined, and its buffer serves the next one after the release', () => {
  const inflight = createInflightBytes(64 * mib)
  const first = new BodyBytes(inflight)
  const pieces = [Buffer.alloc(70 * kib, 'a'), Buffer.alloc(80 * kib, 'b')]
  const body = first.joined(pieces, 150 * kib)
  expect(body.equals(Buffer.concat(pieces))).toBe(true)
  const second = new BodyBytes(inflight)
  expect(second.joined(pieces, 150 * kib).buffer).not.toBe(body.buffer)
  first.release()
  first.release()
  const [third, fourth] = [new BodyBytes(inflight), new BodyBytes(inflight)]
  expect(third.joined(pieces, 150 * kib).buffer).toBe(body.buffer)
  expect(fourth.joined(pieces, 150 * kib).buffer).not.toBe(body.buffer)
})

test('a body of one piece is that piece, and a small one is copied to a buffer of its own', () => {
  const held = new BodyBytes(createInflightBytes(mib))
  const piece = Buffer.from('whole')
  expect(held.joined([piece], 5)).toBe(piece)
  expect(held.joined([piece, piece], 10).toString()).toBe('wholewhole')
  expect(held.joined([], 0)).toHaveLength(0)
})
