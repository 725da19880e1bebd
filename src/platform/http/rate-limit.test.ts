import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRateLimiter } from './rate-limit.ts'

test('0 sets no limit', () => {
  const limiter = createRateLimiter(0)
  for (let i = 0; i < 1_000; i += 1) expect(limiter.take('a', 0).allowed).toBe(true)
})

test('each key has its own limit', () => {
  const limiter = createRateLimiter(1)
  expect(limiter.take('a', 0).allowed).toBe(true)
  expect(limiter.take('b', 0).allowed).toBe(true)
  expect(limiter.take('a', 10).allowed).toBe(false)
})

test('allows a call after the stated wait', () => {
  const gaps = fc.array(fc.nat(20_000), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), gaps, (limit, waits) => {
      const limiter = createRateLimiter(limit)
      let now_ms = 1_790_000_000_000
      for (const wait_ms of waits) {
        now_ms += wait_ms
        const decision = limiter.take('a', now_ms)
        if (decision.allowed) continue
        const wait_s = decision.fault.retry_after_s ?? 0
        expect(wait_s).toBeGreaterThan(0)
        expect(wait_s).toBeLessThanOrEqual(120)
        now_ms += wait_s * 1000
        expect(limiter.take('a', now_ms).allowed).toBe(true)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('allows exactly the limit within a minute after an idle minute', () => {
  const limiter = createRateLimiter(10)
  let allowed = 0
  for (let at_ms = 0; at_ms < 60_000; at_ms += 100) {
    if (limiter.take('a', at_ms).allowed) allowed += 1
  }
  expect(allowed).toBe(10)
})

test('counts a bounded number of names, and keeps those that keep calling', () => {
  const limiter = createRateLimiter(2, { names_max: 100 })
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < 3; n += 1) limiter.take('loud', 0)
  for (let n = 0; n < 200_000; n += 1) {
    limiter.take(`name ${n}`, 0)
    if (n % 50 === 0) expect(limiter.take('loud', 0).allowed).toBe(false)
  }
  // The first of the others is forgotten, so its calls count from 0 again.
  expect(limiter.take('name 0', 0).headers).toContain('1')
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000)
})

test('a call that is given back does not count', () => {
  const limiter = createRateLimiter(1)
  for (let n = 0; n < 10; n += 1) {
    expect(limiter.take('a', 0).allowed).toBe(true)
    limiter.giveBack('a', 0)
  }
  limiter.giveBack('a', 0)
  expect(limiter.take('a', 0).allowed).toBe(true)
  expect(limiter.take('a', 0).allowed).toBe(false)
})
