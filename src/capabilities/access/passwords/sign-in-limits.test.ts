import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AttemptCount, addAttempt, findWait, limitRules } from './sign-in-limits.ts'

const rule = { free: 3, leak_ms: 100, wait_ms: 10, wait_ms_max: 80, count_max: 8 }

/** Adds attempts as fast as the rule allows; returns the waits before each. */
function waitsOf(attempts: number, given = rule): number[] {
  let count: AttemptCount | undefined
  let now_ms = 1_000
  return Array.from({ length: attempts }, () => {
    const wait_ms = findWait(count, given, now_ms)
    now_ms += wait_ms
    count = addAttempt(count, given, now_ms)
    return wait_ms
  })
}

test('free attempts have no wait; each further one doubles it, up to the maximum', () => {
  const slow = { ...rule, leak_ms: 1_000_000 }
  expect(waitsOf(8, slow)).toEqual([0, 0, 0, 10, 20, 40, 80, 80])
})

test('attempts are forgotten one by one', () => {
  let count: AttemptCount | undefined
  for (const now_ms of [0, 0, 0]) count = addAttempt(count, rule, now_ms)
  expect(findWait(count, rule, 0)).toBe(10)
  expect(findWait(addAttempt(count, rule, 250), rule, 250)).toBe(0)
  expect(findWait(count, rule, 300)).toBe(0)
})

test('a count never outlasts its maximum, and a clock that is ahead adds no wait', () => {
  let count: AttemptCount | undefined
  for (let i = 0; i < 1_000; i += 1) count = addAttempt(count, rule, 0)
  expect(count?.clear_at_ms).toBe(800)
  expect(findWait({ failed_at_ms: 10_000, clear_at_ms: 10_800 }, rule, 0)).toBe(80)
})

test('concurrent attempts count as one each, in whatever order they are added', () => {
  let count: AttemptCount | undefined
  for (const now_ms of [1_002, 1_001, 1_000]) {
    expect(findWait(count, rule, now_ms)).toBe(0)
    count = addAttempt(count, rule, now_ms)
  }
  expect(findWait(count, rule, 1_001)).toBeGreaterThan(0)
})

/** A naive model: a list of the times at which each attempt is forgotten. */
class Model {
  #forgotten: number[] = []
  #last: { at_ms: number; count: number } | undefined

  wait(now_ms: number): number {
    const { at_ms = 0, count = 0 } = this.#last ?? {}
    if (count < rule.free || this.#left(now_ms) === 0) return 0
    let wait_ms = rule.wait_ms
    for (let i = rule.free; i < count; i += 1) wait_ms = Math.min(wait_ms * 2, rule.wait_ms_max)
    return Math.max(0, at_ms + wait_ms - now_ms)
  }

  add(now_ms: number): void {
    const start_ms = Math.max(this.#forgotten.at(-1) ?? 0, now_ms)
    this.#forgotten.push(Math.min(start_ms + rule.leak_ms, now_ms + rule.count_max * rule.leak_ms))
    const left_ms = (this.#forgotten.at(-1) ?? 0) - now_ms
    let count = 0
    while (count * rule.leak_ms < left_ms) count += 1
    this.#last = { at_ms: now_ms, count }
  }

  #left(now_ms: number): number {
    return this.#forgotten.filter((at_ms) => at_ms > now_ms).length
  }
}

test('it decides as a naive model does', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 250 }), { maxLength: 60 }), (pauses) => {
      const model = new Model()
      let count: AttemptCount | undefined
      let now_ms = 0
      for (const pause_ms of pauses) {
        now_ms += pause_ms
        const wait_ms = findWait(count, rule, now_ms)
        expect(wait_ms).toBe(model.wait(now_ms))
        if (wait_ms > 0) continue
        count = addAttempt(count, rule, now_ms)
        model.add(now_ms)
      }
    }),
  )
})

test('guesses of a patient attacker are bounded for each day and key', () => {
  const day_ms = 24 * 60 * 60_000
  const attemptsOf = (name: keyof typeof limitRules) => {
    const given = limitRules[name]
    let [attempts, now_ms] = [0, 0]
    for (let count: AttemptCount | undefined; now_ms < day_ms; attempts += 1) {
      now_ms += findWait(count, given, now_ms)
      count = addAttempt(count, given, now_ms)
    }
    return attempts
  }
  expect(attemptsOf('pair')).toBeLessThan(125)
  expect(attemptsOf('network')).toBeLessThan(200)
  expect(attemptsOf('account')).toBeLessThan(1_600)
  expect(attemptsOf('reset')).toBeLessThan(255)
})
