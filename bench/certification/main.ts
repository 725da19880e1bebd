import { incompleteBeta } from '../../src/kernel/statistics/incomplete-beta.ts'
import {
  type Cluster,
  clopperPearson,
  kornGraubard,
} from '../../src/kernel/statistics/rate-interval.ts'
import { randomNumbers } from '../../test/support/otlp-requests.ts'

/**
 * `npm run bench:certification`: how often a release exactly at a limit passes an absolute gate that
 * promises 2.5 %, when users have moods. Beside it Clopper–Pearson, which takes all tasks for
 * independent. DRAWS=2000 is quicker.
 */
const tail = 0.025
const draws = Number(process.env['DRAWS'] ?? 40_000)
const random = randomNumbers(2_026)
const looks_max = 5

/** Users with tasks each; `unequal`: the tasks of a user have an exponential distribution. */
type World = {
  users: number
  tasks: number
  limit: number
  correlation: number
  sizes: 'equal' | 'unequal'
  /** True rate of the release; the limit by default. */
  rate?: number
}

console.log(`${draws} draws; standard error of 2.5 %: ${shown(Math.sqrt((0.025 * 0.975) / draws))}`)
const shapes = [
  [20, 25],
  [50, 10],
  [50, 40],
  [100, 5],
  [100, 40],
] as const
for (const sizes of ['equal', 'unequal'] as const) {
  for (const [limit, correlation] of [
    [0.9, 0.1],
    [0.8, 0.02],
    [0.95, 0.3],
  ] as const) {
    for (const [users, tasks] of shapes) measure({ users, tasks, limit, correlation, sizes })
  }
}
for (const [users, tasks] of [
  [20, 25],
  [50, 10],
  [50, 40],
] as const) {
  measureLooks({ users, tasks, limit: 0.9, correlation: 0.1, sizes: 'equal' })
}
for (const users of [50, 80, 100, 150]) {
  measurePower({ users, tasks: 10, limit: 0.9, correlation: 0.1, sizes: 'equal', rate: 0.95 })
}
printCoverage()

function measure(world: World): void {
  let [clustered, exact] = [0, 0]
  for (let draw = 0; draw < draws; draw += 1) {
    const clusters = drawUsers(world)
    const total = totalOf(clusters)
    // Below the limit no lower bound can reach it.
    if (total.k <= world.limit * total.n) continue
    if ((kornGraubard(clusters, tail)?.[0] ?? 0) >= world.limit) clustered += 1
    // The same as clopperPearson(total, tail)[0] >= world.limit.
    if (incompleteBeta(world.limit, total.k, total.n - total.k + 1) <= tail) exact += 1
  }
  const rates = [clustered, exact].map((count) => shown(count / draws))
  console.log(`${describe(world)}: by user ${rates[0]}, Clopper–Pearson ${rates[1]}`)
}

/** Five looks at evidence that accumulates, with and without their share of the error. */
function measureLooks(world: World): void {
  let [shared, unshared] = [0, 0]
  for (let draw = 0; draw < draws; draw += 1) {
    const looks = drawUsers({ ...world, users: world.users * looks_max })
    const seen = Array.from({ length: looks_max }, (_, at) =>
      looks.slice(0, world.users * (at + 1)),
    )
    const passes = (level: number) =>
      seen.some((clusters) => isPassed(clusters, world.limit, level))
    if (!passes(tail)) continue
    unshared += 1
    if (passes(tail / looks_max)) shared += 1
  }
  const rates = [shared, unshared].map((count) => shown(count / draws))
  console.log(`${describe(world)} a look, ${looks_max} looks: ${rates[0]}, unshared ${rates[1]}`)
}

/** How often a release that is better than the limit passes at the first of five looks. */
function measurePower(world: World): void {
  let passed = 0
  for (let draw = 0; draw < draws; draw += 1) {
    if (isPassed(drawUsers(world), world.limit, tail / looks_max)) passed += 1
  }
  console.log(`${describe(world)}, true rate ${world.rate}: passes in ${shown(passed / draws)}`)
}

function isPassed(clusters: readonly Cluster[], limit: number, level: number): boolean {
  const total = totalOf(clusters)
  return total.k > limit * total.n && (kornGraubard(clusters, level)?.[0] ?? 0) >= limit
}

/** Prints the greatest error a side of Clopper–Pearson, enumerated for each n from 5 to 500. */
function printCoverage(): void {
  const rates = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99]
  for (const rate of rates) {
    let [worst, at] = [0, 0]
    for (let n = 5; n <= 500; n += 1) {
      const missed = missedAt(n, rate)
      if (missed > worst) [worst, at] = [missed, n]
    }
    console.log(
      `exact coverage, rate ${rate}, n 5–500: greatest error ${shown(worst)} at n = ${at}`,
    )
  }
}

/** Returns the chance that the lower bound is above the rate: P(K ≥ the least k that misses). */
function missedAt(n: number, rate: number): number {
  let [low, high] = [0, n + 1]
  while (low < high) {
    const k = Math.floor((low + high) / 2)
    if (clopperPearson({ n, k }, tail)[0] > rate) high = k
    else low = k + 1
  }
  return low > n ? 0 : incompleteBeta(rate, low, n - low + 1)
}

function describe({ users, tasks, limit, correlation, sizes }: World): string {
  return `limit ${limit}, correlation ${correlation}, ${users} users × ${tasks} ${sizes}`
}

function shown(rate: number): string {
  return `${(100 * rate).toFixed(2)} %`
}

function totalOf(clusters: readonly Cluster[]): Cluster {
  return clusters.reduce((sum, one) => ({ n: sum.n + one.n, k: sum.k + one.k }), { n: 0, k: 0 })
}

function drawUsers(world: World): Cluster[] {
  return Array.from({ length: world.users }, () => {
    const drawn = world.sizes === 'equal' ? 1 : -Math.log(1 - random())
    const n = Math.max(1, Math.round(world.tasks * drawn))
    return { n, k: successes(n, world) }
  })
}

/** Successes of a user whose mood is beta distributed. */
function successes(tasks: number, { limit, correlation, rate = limit }: World): number {
  const scale = 1 / correlation - 1
  const [good, bad] = [gamma(rate * scale), gamma((1 - rate) * scale)]
  const mood = good / (good + bad)
  return Array.from({ length: tasks }, random).filter((value) => value < mood).length
}

/** A gamma distributed number: Marsaglia and Tsang (2000). */
function gamma(shape: number): number {
  if (shape < 1) return gamma(shape + 1) * random() ** (1 / shape)
  const d = shape - 1 / 3
  for (;;) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    const cube = (1 + normal / Math.sqrt(9 * d)) ** 3
    const isTaken =
      Math.log(1 - random()) < (normal * normal) / 2 + d - d * cube + d * Math.log(cube)
    if (cube > 0 && isTaken) return d * cube
  }
}
