import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { simulateFeedback } from '../../../../test/support/simulated-feedback.ts'
import { tailOfT } from '../../../kernel/statistics/student-t.ts'
import { findPatterns } from './find-patterns.ts'
import { countFeatures, type RatedTask } from './rated-task.ts'

const tasks = fc.array(
  fc.record({
    user: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
    is_negative: fc.boolean(),
    features: fc.uniqueArray(fc.constantFrom('x', 'y', 'z')),
  }),
  { minLength: 8, maxLength: 60 },
)
const all = { q_max: 1, tasks_min: 1, users_min: 2, effect_min: -1 }

test('p, rates and interval are those of sums over the tasks', () => {
  fc.assert(
    fc.property(tasks, (list) => {
      for (const found of findPatterns(countFeatures(list), all)) {
        const naive = sumTasks(list, found.feature)
        expect(found.p).toBeCloseTo(naive.p, 8)
        expect(found.difference).toBeCloseTo(naive.difference, 10)
        expect(found.interval[1] - found.difference).toBeLessThanOrEqual(2)
        expect(found.tasks).toBe(naive.tasks)
      }
    }),
  )
})

test('the order of tasks, users and features has no influence', () => {
  fc.assert(
    fc.property(tasks, (list) => {
      const p = (of: RatedTask[]) =>
        findPatterns(countFeatures(of), all).map(({ feature, p, q }) => [
          feature,
          p.toFixed(8),
          q.toFixed(8),
        ])
      expect(p(list.toReversed()).toSorted()).toEqual(p(list).toSorted())
    }),
  )
})

/** The test as its formula says, task by task. */
function sumTasks(list: readonly RatedTask[], feature: string) {
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
  const x = list.map(({ features }) => Number(features.includes(feature)))
  const y = list.map(({ is_negative }) => Number(is_negative))
  const [meanX, meanY] = [mean(x), mean(y)]
  const byUser = new Map<string, number>()
  let total = 0
  for (const [at, { user }] of list.entries()) {
    const product = ((x[at] ?? 0) - meanX) * ((y[at] ?? 0) - meanY)
    total += product
    byUser.set(user, (byUser.get(user) ?? 0) + product)
  }
  const variance = [...byUser.values()].reduce((sum, one) => sum + one * one, 0)
  const have = list.filter(({ features }) => features.includes(feature))
  const rest = list.filter(({ features }) => !features.includes(feature))
  const rate = (some: readonly RatedTask[]) => mean(some.map((one) => Number(one.is_negative)))
  const degrees = new Set(have.map(({ user }) => user)).size - 1
  const t = variance > 1e-12 * have.length ? total / Math.sqrt(variance) : 0
  return { p: tailOfT(t, degrees), difference: rate(have) - rate(rest), tasks: have.length }
}

describe('minimums', () => {
  const rated = (user: number, is_negative: boolean, features: string[] = []): RatedTask => {
    return { user: `u${user}`, is_negative, features }
  }
  const calm = Array.from({ length: 40 }, (_, at) => rated(at, at % 8 === 0))

  test('five users with a clear effect are a pattern, four are not', () => {
    const angry = Array.from({ length: 5 }, (_, at) => rated(100 + at, true, ['tool:refund']))
    const [found] = findPatterns(countFeatures([...calm, ...angry]))
    expect(found).toMatchObject({ feature: 'tool:refund', tasks: 5, users: 5, rate: 1 })
    expect(findPatterns(countFeatures([...calm, ...angry.slice(1)]))).toEqual([])
  })

  test('many tasks of one angry user are not a pattern', () => {
    const angry = Array.from({ length: 200 }, () => rated(100, true, ['tool:refund']))
    expect(findPatterns(countFeatures([...calm, ...angry]))).toEqual([])
  })

  test('no tasks, one task, and a feature of all tasks give no pattern and no error', () => {
    expect(findPatterns(countFeatures([]))).toEqual([])
    expect(findPatterns(countFeatures([rated(1, true, ['x'])]))).toEqual([])
    const everywhere = calm.map((task) => ({ ...task, features: ['x'] }))
    expect(findPatterns(countFeatures(everywhere))).toEqual([])
  })

  test('counts of a user who is not a user of the input are refused', () => {
    const { users, features } = countFeatures(calm.map((task) => ({ ...task, features: ['x'] })))
    const input = { users: users.slice(1), features }
    expect(() => findPatterns(input)).toThrow('not a user of the input')
  })
})

test('noise of users with moods gives no pattern in 19 of 20 projects; planted ones are found', () => {
  const noise = { users: 100, tasks_each: 8, features: 40, planted: 0, effect: 0 }
  const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1)
  const falsely = seeds.filter((seed) => findPatterns(simulateFeedback({ ...noise, seed })).length)
  expect(falsely.length).toBeLessThanOrEqual(2)
  const planted = { ...noise, users: 200, planted: 3, effect: 0.2 }
  const found = seeds.flatMap((seed) => findPatterns(simulateFeedback({ ...planted, seed })))
  const right = found.filter(({ feature }) => ['f0', 'f1', 'f2'].includes(feature))
  expect(right.length / (3 * seeds.length)).toBeGreaterThan(0.5)
  expect(1 - right.length / found.length).toBeLessThanOrEqual(0.06)
})
