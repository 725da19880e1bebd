import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { computeFunnel, type StepTime } from './compute-funnel.ts'

const steps = ['a', 'b', 'c', 'd'] as const
type Step = (typeof steps)[number]

const monday_ms = Date.UTC(2026, 1, 23)
const day_ms = 86_400_000

const at = (subject: string, step: Step, seconds: number): StepTime<Step> => {
  return { subject, step, at_ms: monday_ms + seconds * 1_000 }
}

test('no events are an empty funnel', () => {
  const { subjects, rows, cohorts } = computeFunnel(steps, [])
  expect([subjects, cohorts]).toEqual([0, []])
  expect(rows[0]).toEqual({
    ...{ step: 'a', done: 0, reached: 0, of_all: null, of_previous: null, timed: 0 },
    ...{ median_s: null, p90_s: null, out_of_order: 0 },
  })
})

test('a later step implies the earlier ones; times are between steps that were taken', () => {
  const { subjects, rows } = computeFunnel(steps, [
    ...[at('x', 'a', 0), at('x', 'b', 10), at('x', 'd', 40)],
    ...[at('y', 'a', 0), at('y', 'b', 30)],
    at('z', 'a', 5),
    at('w', 'c', 7),
  ])
  expect(subjects).toBe(4)
  expect(rows.map(({ done }) => done)).toEqual([3, 2, 1, 1])
  expect(rows.map(({ reached }) => reached)).toEqual([4, 3, 2, 1])
  expect(rows.map(({ of_all }) => of_all)).toEqual([1, 3 / 4, 2 / 4, 1 / 4])
  expect(rows.map(({ of_previous }) => of_previous)).toEqual([1, 3 / 4, 2 / 3, 1 / 2])
  expect(rows.map(({ timed }) => timed)).toEqual([0, 2, 0, 1])
  expect(rows.map(({ median_s }) => median_s)).toEqual([null, 10, null, 30])
  expect(rows.map(({ p90_s }) => p90_s)).toEqual([null, 30, null, 30])
})

test('a step before the step before it has no time, and is counted', () => {
  const { rows } = computeFunnel(steps, [at('x', 'a', 10), at('x', 'b', 4)])
  expect(rows[1]).toMatchObject({ reached: 1, timed: 0, median_s: null, out_of_order: 1 })
})

test('weeks begin on Monday in UTC', () => {
  const { cohorts } = computeFunnel(steps, [
    at('before', 'a', -1),
    ...[at('first', 'a', 0), at('first', 'c', 30 * 86_400)],
    at('last', 'b', 7 * 86_400 - 1),
    at('after', 'a', 7 * 86_400),
  ])
  expect(cohorts.map(({ week, subjects }) => [week, subjects])).toEqual([
    ['2026-02-16', 1],
    ['2026-02-23', 2],
    ['2026-03-02', 1],
  ])
  expect(cohorts[1]?.reached.map(({ subjects }) => subjects)).toEqual([2, 2, 1, 0])
})

describe('against a naive model', () => {
  const times = fc.array(
    fc.record({
      subject: fc.constantFrom('s1', 's2', 's3', 's4', 's5'),
      step: fc.constantFrom(...steps),
      at_ms: fc.integer({ min: monday_ms - 30 * day_ms, max: monday_ms + 30 * day_ms }),
    }),
    { maxLength: 40 },
  )

  /** Counts by asking each subject about each step. */
  function naive(given: readonly StepTime<Step>[]) {
    const subjects = [...new Set(given.map(({ subject }) => subject))]
    const firstOf = (subject: string, step: Step) => {
      const own = given.filter((one) => one.subject === subject && one.step === step)
      return own.length === 0 ? undefined : Math.min(...own.map(({ at_ms }) => at_ms))
    }
    return steps.map((step, index) => ({
      done: subjects.filter((one) => firstOf(one, step) !== undefined).length,
      reached: subjects.filter((one) =>
        steps.slice(index).some((later) => firstOf(one, later) !== undefined),
      ).length,
      gaps: subjects.flatMap((one) => {
        const own = firstOf(one, step)
        const before = steps
          .slice(0, index)
          .map((earlier) => firstOf(one, earlier))
          .filter((time) => time !== undefined)
          .at(-1)
        return own === undefined || before === undefined ? [] : [own - before]
      }),
    }))
  }

  test('counts are equal, and the median splits the times', () => {
    fc.assert(
      fc.property(times, (given) => {
        const model = naive(given)
        const { rows, subjects } = computeFunnel(steps, given)
        expect(rows.map(({ done }) => done)).toEqual(model.map(({ done }) => done))
        expect(rows.map(({ reached }) => reached)).toEqual(model.map(({ reached }) => reached))
        expect(rows[0]?.reached).toBe(subjects)
        for (const [index, row] of rows.entries()) {
          const passed = (model[index]?.gaps ?? []).filter((gap) => gap >= 0)
          expect(row.timed).toBe(passed.length)
          expect(row.timed + row.out_of_order).toBe(model[index]?.gaps.length)
          for (const [share, value] of [
            [0.5, row.median_s],
            [0.9, row.p90_s],
          ] as const) {
            if (value === null) expect(passed).toEqual([])
            else {
              const below = passed.filter((gap) => gap / 1_000 <= value).length
              const above = passed.filter((gap) => gap / 1_000 < value).length
              expect(below).toBeGreaterThanOrEqual(share * passed.length)
              expect(above).toBeLessThan(share * passed.length)
            }
          }
        }
      }),
    )
  })

  test('order, repetition and renaming of the given times change nothing', () => {
    fc.assert(
      fc.property(times, fc.integer(), (given, seed) => {
        const shuffled = given.toSorted(
          (one, other) => ((one.at_ms * 31 + seed) % 7) - ((other.at_ms * 31 + seed) % 7),
        )
        const later = given.map((one) => ({ ...one, at_ms: one.at_ms + 1 }))
        const expected = computeFunnel(steps, given)
        expect(computeFunnel(steps, [...shuffled, ...later])).toEqual(expected)
        const renamed = given.map((one) => ({ ...one, subject: `other ${one.subject}` }))
        expect(computeFunnel(steps, renamed)).toEqual(expected)
      }),
    )
  })

  test('shares never grow along the steps, and cohorts sum up to the funnel', () => {
    fc.assert(
      fc.property(times, (given) => {
        const { rows, cohorts, subjects } = computeFunnel(steps, given)
        for (const [index, row] of rows.entries()) {
          expect(row.reached).toBeLessThanOrEqual(rows[index - 1]?.reached ?? subjects)
          expect(row.done).toBeLessThanOrEqual(row.reached)
          const sum = cohorts.reduce((all, one) => all + (one.reached[index]?.subjects ?? 0), 0)
          expect(sum).toBe(row.reached)
        }
        expect(cohorts.reduce((all, one) => all + one.subjects, 0)).toBe(subjects)
      }),
    )
  })
})
