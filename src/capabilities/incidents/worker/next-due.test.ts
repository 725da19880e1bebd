import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newestSlot } from '../evaluation/slots.ts'
import { type LastEvaluation, nextDue } from './next-due.ts'

const waits = { retry_ms: 5_000, retry_ms_max: 60_000, partial_ms: 10_000 }
const never: LastEvaluation = { last_slot: null, evaluated_at: null, partial: null, failures: null }
const instant = (at_ms: number) => new Date(at_ms).toISOString()
const start_ms = Date.parse('2026-01-01T00:00:00Z')

const rules = fc.record({
  interval: fc.constantFrom('30s', '1m', '5m', '7m', '1h'),
  delay: fc.constantFrom('0s', '30s', '90s', '1m', '10m'),
})

test('a rule is due at the first instant with a newer slot, as a look at each second finds', () => {
  fc.assert(
    fc.property(rules, fc.nat(9_000), ({ interval, delay }, last_s) => {
      const rule = { interval, delay, for: '0s' }
      const last_ms = newestSlot(rule, start_ms + last_s * 1_000)
      const due_ms = nextDue(rule, { ...never, last_slot: instant(last_ms) }, waits)
      let naive_ms = last_ms
      while (newestSlot(rule, naive_ms) <= last_ms) naive_ms += 1_000
      expect(due_ms).toBe(naive_ms)
    }),
    { numRuns: 200 },
  )
})

test('before its first slot a rule is due at once', () => {
  expect(nextDue({ interval: '1m', delay: '30s' }, never, waits)).toBe(Number.NEGATIVE_INFINITY)
})

test('a rule that waits for rows, or failed, is given time', () => {
  const rule = { interval: '1m', delay: '0s' }
  const last = { ...never, last_slot: instant(start_ms), evaluated_at: instant(start_ms + 60_000) }
  expect(nextDue(rule, last, waits)).toBe(start_ms + 60_000)
  expect(nextDue(rule, { ...last, partial: true }, waits)).toBe(start_ms + 70_000)
  expect(nextDue(rule, { ...last, failures: 1 }, waits)).toBe(start_ms + 65_000)
  expect(nextDue(rule, { ...last, failures: 9 }, waits)).toBe(start_ms + 120_000)
})
