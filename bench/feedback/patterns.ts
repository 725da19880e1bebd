import {
  findPatterns,
  type PatternInput,
} from '../../src/capabilities/feedback/patterns/find-patterns.ts'
import { simulateFeedback } from '../../test/support/simulated-feedback.ts'

/**
 * `npm run bench:patterns`: how often the test of patterns is wrong and right on 200 simulated
 * projects, beside the usual test of two shares with the same adjustment; the same with users in
 * groups, as large windows are counted; and its time on a million tasks.
 */
const seeds = Array.from({ length: 200 }, (_, at) => at + 1_000)
const base = { tasks_each: 8, features: 40, planted: 0, effect: 0 }
const q_max = 0.05
const effect_min = 0.05

for (const users of [100, 200]) {
  const noise = seeds.map((seed) => simulateFeedback({ ...base, users, seed }))
  show(`noise, ${users} users`, noise, 0)
  const about = { ...base, users, planted: 3, effect: 0.2 }
  show(
    `3 planted, ${users} users`,
    seeds.map((seed) => simulateFeedback({ ...about, seed })),
    3,
  )
}
for (const planted of [0, 3]) {
  const about = { ...base, users: 800, planted, effect: planted === 0 ? 0 : 0.1 }
  const users = seeds.map((seed) => simulateFeedback({ ...about, seed }))
  show(`${planted} planted of 10 points, 800 users`, users, planted)
  show(`${planted} planted of 10 points, 800 users in 64 groups`, users.map(group), planted)
}
const million = simulateFeedback({ ...base, users: 125_000, seed: 1 })
const started = performance.now()
findPatterns(million)
console.log(`1,000,000 tasks, counted: ${Math.round(performance.now() - started)} ms`)

/** Sums the counts of users by 64 groups, as large windows are counted. */
function group({ users, features }: PatternInput): PatternInput {
  const sum = (of: PatternInput['users']) => {
    const groups = Map.groupBy(of, ({ user }) => String(Number(user.slice(1)) % 64))
    return [...groups].map(([user, members]) => ({
      user,
      tasks: members.reduce((total, { tasks }) => total + tasks, 0),
      negative: members.reduce((total, { negative }) => total + negative, 0),
    }))
  }
  return {
    users: sum(users),
    features: features.map(({ feature, users: having }) => ({ feature, users: sum(having) })),
  }
}

function show(name: string, projects: readonly PatternInput[], planted: number): void {
  const clustered = projects.map((input) => findPatterns(input).map(({ feature }) => feature))
  console.log(
    `${name}: by user ${rates(clustered, planted)}; usual ${rates(projects.map(usual), planted)}`,
  )
}

function rates(found: readonly string[][], planted: number): string {
  const all = found.flat()
  const right = all.filter((feature) => Number(feature.slice(1)) < planted).length
  const any = found.filter(({ length }) => length > 0).length / found.length
  if (planted === 0) return `${percent(any)} of projects find anything`
  return `power ${percent(right / (planted * found.length))}, false ${percent(1 - right / all.length)}`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

/** The z test of two shares, which takes all tasks for independent. */
function usual({ users, features }: PatternInput): string[] {
  const sum = (of: PatternInput['users']) => ({
    n: of.reduce((total, { tasks }) => total + tasks, 0),
    k: of.reduce((total, { negative }) => total + negative, 0),
  })
  const all = sum(users)
  const tested = features.map(({ feature, users: having }) => {
    const { n, k } = sum(having)
    const difference = k / n - (all.k - k) / (all.n - n)
    const mean = all.k / all.n
    const z = difference / Math.sqrt(mean * (1 - mean) * (1 / n + 1 / (all.n - n)))
    return { feature, difference, p: normalTail(z) }
  })
  const sorted = tested.toSorted((one, other) => one.p - other.p)
  const last = sorted.findLastIndex(({ p }, at) => p <= (q_max * (at + 1)) / sorted.length)
  const found = sorted.slice(0, last + 1).filter(({ difference }) => difference >= effect_min)
  return found.map(({ feature }) => feature)
}

/** P(Z > z), to 1e-7 (Abramowitz and Stegun, 26.2.17). */
function normalTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const terms = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429]
  const sum = terms.reduceRight((total, term) => t * (term + total), 0)
  const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * sum
  return z >= 0 ? tail : 1 - tail
}
