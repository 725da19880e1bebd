import { expect, test } from 'vitest'
import { Bell } from './bell.ts'

const never = new AbortController().signal
const long_ms = 600_000

test('a ring ends a wait', async () => {
  const bell = new Bell()
  const waited = bell.wait(long_ms, never)
  bell.ring()
  await waited
})

test('a ring before the wait is not lost, and ends one wait only', async () => {
  const bell = new Bell()
  bell.ring()
  bell.ring()
  await bell.wait(long_ms, never)
  const abort = new AbortController()
  let isOver = false
  const waited = bell.wait(long_ms, abort.signal).then(() => {
    isOver = true
  })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(isOver).toBe(false)
  abort.abort()
  await waited
})

test('rings of the future end waits, one for all of the same moment', async () => {
  const bell = new Bell()
  for (let at = 0; at < 3_000; at += 1) bell.ringAfter(60)
  await bell.wait(long_ms, never)
  bell.ringAfter(long_ms)
  bell.ringAfter(-1)
  await bell.wait(long_ms, never)
  bell.close()
})

test('a wait ends after its time, and when its signal aborts', async () => {
  const bell = new Bell()
  await bell.wait(1, never)
  await bell.wait(long_ms, AbortSignal.abort())
})
