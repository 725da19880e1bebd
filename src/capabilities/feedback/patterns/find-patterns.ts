import { quantileOfT, tailOfT } from '../../../kernel/statistics/student-t.ts'

/** Tasks of one user that have feedback, and those of them with negative feedback. */
export type UserCounts = { user: string; tasks: number; negative: number }

/** A feature with the counts of its tasks, by user. Each user occurs once. */
export type FeatureCounts = { feature: string; users: readonly UserCounts[] }

/** Counts in which patterns are found: of all users, and of the users of each feature. */
export type PatternInput = { users: readonly UserCounts[]; features: readonly FeatureCounts[] }

export type PatternSettings = {
  /** Largest share of false patterns among the found ones, on average. */
  q_max: number
  /** Minimum tasks and users with the feature. */
  tasks_min: number
  users_min: number
  /** Minimum difference of the rates of negative feedback, 0–1. */
  effect_min: number
}

export const defaultPatternSettings: PatternSettings = {
  q_max: 0.05,
  tasks_min: 3,
  users_min: 5,
  effect_min: 0.05,
}

/** A feature whose tasks get more negative feedback than other tasks. Rates are 0–1. */
export type Pattern = {
  feature: string
  tasks: number
  users: number
  negative: number
  rate: number
  /** Rate of the tasks without the feature. */
  rate_without: number
  difference: number
  /** Interval of the difference with 95 % confidence, clustered by user. */
  interval: readonly [low: number, high: number]
  p: number
  /** The p value, adjusted by Benjamini and Hochberg over all features with the minimum counts. */
  q: number
}

/**
 * Finds the features with more negative feedback, smallest p first. Tasks of one user are no
 * independent samples, because users differ in features and mood: the variance is summed by user.
 * With x the feature, y negative feedback and means over all N tasks,
 * T = Σ (x − x̄)(y − ȳ) and V = Σ over users (Σ over tasks of the user (x − x̄)(y − ȳ))².
 * T/√V is compared with Student's t with (users having the feature − 1) degrees, one-sided. Both
 * need counts only: for a user with n tasks, k negative, of which m and j have the feature, the
 * inner sum is (j − ȳm) − x̄(k − ȳn). Linear in the length of the input.
 */
export function findPatterns(
  input: PatternInput,
  settings: PatternSettings = defaultPatternSettings,
): Pattern[] {
  const all = sumUsers(input.users)
  const tested = input.features.flatMap((counts) => {
    const found = testFeature(all, counts, settings)
    return found === undefined ? [] : [found]
  })
  // The family is not filtered by effect size, which would raise the false discovery rate.
  return adjust(tested).filter(({ q, difference }) => {
    return q <= settings.q_max && difference >= settings.effect_min
  })
}

type AllUsers = {
  byUser: ReadonlyMap<string, UserCounts>
  tasks: number
  negative: number
  /** Rate of negative feedback over all tasks. */
  mean: number
  /** Σn², Σkn and Σk² over users with n tasks, k negative. */
  squares: { nn: number; kn: number; kk: number }
}

function sumUsers(users: readonly UserCounts[]): AllUsers {
  const byUser = new Map(users.map((counts) => [counts.user, counts]))
  if (byUser.size !== users.length) throw new Error('a user occurs twice')
  const squares = { nn: 0, kn: 0, kk: 0 }
  let [tasks, negative] = [0, 0]
  for (const { tasks: n, negative: k } of users) {
    tasks += n
    negative += k
    squares.nn += n * n
    squares.kn += k * n
    squares.kk += k * k
  }
  return { byUser, tasks, negative, mean: negative / tasks, squares }
}

/**
 * Returns undefined for a feature with too few tasks or users, or without tasks to compare with.
 */
function testFeature(
  all: AllUsers,
  { feature, users }: FeatureCounts,
  { tasks_min, users_min }: PatternSettings,
): Pattern | undefined {
  const tasks = users.reduce((sum, one) => sum + one.tasks, 0)
  const negative = users.reduce((sum, one) => sum + one.negative, 0)
  if (tasks < tasks_min || users.length < users_min || tasks === all.tasks) return undefined
  const rate = negative / tasks
  const rate_without = (all.negative - negative) / (all.tasks - tasks)
  const difference = rate - rate_without
  const { covariance, spread } = sumSquares(all, users, { tasks, rate, rate_without })
  const degrees = users.length - 1
  const t = covariance === 0 ? 0 : (negative - tasks * all.mean) / Math.sqrt(covariance)
  const reach = quantileOfT(0.025, degrees) * Math.sqrt(spread)
  const interval = [Math.max(-1, difference - reach), Math.min(1, difference + reach)] as const
  const counts = { feature, tasks, users: users.length, negative }
  return { ...counts, rate, rate_without, difference, interval, p: tailOfT(t, degrees), q: 1 }
}

/** Sums the squares by user: of the test, and of the difference of the two rates. */
function sumSquares(
  all: AllUsers,
  users: readonly UserCounts[],
  { tasks, rate, rate_without }: Pick<Pattern, 'tasks' | 'rate' | 'rate_without'>,
): { covariance: number; spread: number } {
  const share = tasks / all.tasks
  const others = all.tasks - tasks
  // Sums over all users as if they had no task with the feature; users with one are replaced below.
  let covariance = share * share * squaresAround(all.squares, all.mean)
  let spread = squaresAround(all.squares, rate_without) / (others * others)
  for (const { user, tasks: m, negative: j } of users) {
    const whole = all.byUser.get(user)
    if (whole === undefined) throw new Error('a user of a feature is not a user of the input')
    const rest = whole.negative - all.mean * whole.tasks
    covariance += (j - all.mean * m - share * rest) ** 2 - (share * rest) ** 2
    const asOther = (whole.negative - rate_without * whole.tasks) / others
    const without = (whole.negative - j - rate_without * (whole.tasks - m)) / others
    spread += ((j - rate * m) / tasks - without) ** 2 - asOther ** 2
  }
  return { covariance: positive(covariance, tasks), spread: positive(spread, 1) }
}

/** Σ over users (k − rate · n)². */
function squaresAround({ nn, kn, kk }: AllUsers['squares'], rate: number): number {
  return kk - 2 * rate * kn + rate * rate * nn
}

/** Returns 0 for a sum of squares that is 0 but for rounding. */
function positive(sum: number, scale: number): number {
  return sum > 1e-12 * scale ? sum : 0
}

/** Sorts by p and sets q: Benjamini and Hochberg (1995). */
function adjust(tested: readonly Pattern[]): Pattern[] {
  const sorted = tested.toSorted((one, other) => one.p - other.p)
  let least = 1
  return sorted
    .toReversed()
    .map((pattern, at) => {
      least = Math.min(least, (pattern.p * sorted.length) / (sorted.length - at))
      return { ...pattern, q: least }
    })
    .toReversed()
}
