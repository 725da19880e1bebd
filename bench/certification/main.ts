import { clopperPearson, kornGraubard } from '../../src/kernel/statistics/rate-interval.ts'
import { randomNumbers } from '../../test/support/otlp-requests.ts'

/**
 * `npm run bench:certification`: how often a release exactly at a limit of 0.9 would pass an absolute
 * gate (2.5 % is promised), when the users have moods with a correlation of 0.1. Beside it
 * Clopper–Pearson, which takes all tasks for independent. DRAWS=1000 is quicker.
 */
const limit = 0.9
const correlation = 0.1
const tail = 0.025
const draws = Number(process.env['DRAWS'] ?? 20_000)
const random = randomNumbers(2_026)

console.log(`${draws} draws, limit ${limit}, correlation ${correlation}`)
for (const [users, tasks] of [
  [20, 25],
  [50, 10],
  [50, 40],
  [100, 5],
] as const) {
  let [clustered, exact] = [0, 0]
  for (let draw = 0; draw < draws; draw += 1) {
    const clusters = Array.from({ length: users }, () => ({ n: tasks, k: successes(tasks) }))
    const k = clusters.reduce((sum, one) => sum + one.k, 0)
    // Below the limit no lower bound can reach it.
    if (k <= limit * users * tasks) continue
    if ((kornGraubard(clusters, tail)?.[0] ?? 0) >= limit) clustered += 1
    if (clopperPearson({ n: users * tasks, k }, tail)[0] >= limit) exact += 1
  }
  const shown = [clustered, exact].map((count) => `${((100 * count) / draws).toFixed(2)} %`)
  console.log(`${users} users × ${tasks} tasks: by user ${shown[0]}, Clopper–Pearson ${shown[1]}`)
}

/** Successes of a user whose mood is beta distributed. */
function successes(tasks: number): number {
  const scale = 1 / correlation - 1
  const [good, bad] = [gamma(limit * scale), gamma((1 - limit) * scale)]
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
