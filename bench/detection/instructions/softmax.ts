/** A multinomial logistic regression over features that are present or not. */
export type Softmax = {
  classes: readonly string[]
  /** Features by their index. */
  features: ReadonlyMap<string, number>
  /** `weights[feature * classes.length + class]`; the last row has the intercepts. */
  weights: Float64Array
}

export type Example = { features: ReadonlySet<string>; label: string }

type Options = {
  /** L2 penalty of the weights, but not of the intercepts, beside the sum of all losses. */
  ridge: number
  /** Rarer features are left out. */
  examples_min: number
  steps: number
}

/** Fits by L-BFGS on all examples at once; the fit is deterministic. */
export function fitSoftmax(
  examples: readonly Example[],
  { ridge, examples_min, steps }: Options,
): Softmax {
  const classes = [...new Set(examples.map(({ label }) => label))].sort()
  const features = frequentFeatures(examples, examples_min)
  const rows = examples.map((example) => rowOf(example, features))
  const labels = examples.map(({ label }) => classes.indexOf(label))
  const size = (features.size + 1) * classes.length
  const loss = (weights: Float64Array) =>
    lossOf({ rows, labels, count: classes.length, ridge }, weights)
  return { classes, features, weights: minimise(loss, new Float64Array(size), steps) }
}

function frequentFeatures(examples: readonly Example[], examples_min: number): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { features } of examples)
    for (const feature of features) counts.set(feature, (counts.get(feature) ?? 0) + 1)
  const frequent = [...counts].filter(([, count]) => count >= examples_min)
  return new Map(frequent.map(([feature], at) => [feature, at]))
}

/** Returns the indexes of an example's features, and that of the intercepts. */
function rowOf({ features }: Example, indexes: ReadonlyMap<string, number>): Int32Array {
  return Int32Array.from([
    ...[...features].flatMap((feature) => indexes.get(feature) ?? []),
    indexes.size,
  ])
}

type Fitted = {
  rows: readonly Int32Array[]
  labels: readonly number[]
  count: number
  ridge: number
}
type Point = { loss: number; gradient: Float64Array }

function lossOf({ rows, labels, count, ridge }: Fitted, weights: Float64Array): Point {
  const gradient = new Float64Array(weights.length)
  let loss = 0
  for (const [at, row] of rows.entries()) {
    const label = labels[at] ?? 0
    const chances = chancesOf(row, weights, count)
    loss -= Math.log(Math.max(chances[label] ?? 0, Number.MIN_VALUE))
    chances[label] = (chances[label] ?? 0) - 1
    for (const feature of row) addAt(gradient, chances, feature * count)
  }
  const free = weights.length - count
  for (const [at, weight] of weights.subarray(0, free).entries()) {
    loss += (ridge / 2) * weight * weight
    gradient[at] = (gradient[at] ?? 0) + ridge * weight
  }
  return { loss, gradient }
}

/** Returns the probability of each class for an example. */
function chancesOf(row: Int32Array, weights: Float64Array, count: number): Float64Array {
  const scores = new Float64Array(count)
  for (const feature of row)
    addAt(scores, weights.subarray(feature * count, (feature + 1) * count), 0)
  const highest = Math.max(...scores)
  const powers = scores.map((score) => Math.exp(score - highest))
  const sum = powers.reduce((total, power) => total + power, 0)
  return powers.map((power) => power / sum)
}

function addAt(sums: Float64Array, values: Float64Array, start: number): void {
  for (let at = 0; at < values.length; at += 1)
    sums[start + at] = (sums[start + at] ?? 0) + (values[at] ?? 0)
}

type Change = { move: Float64Array; turn: Float64Array; product: number }
const memory = 6

/** L-BFGS with a backtracking line search. */
function minimise(
  lossAt: (weights: Float64Array) => Point,
  start: Float64Array,
  steps: number,
): Float64Array {
  let weights = start
  let point = lossAt(weights)
  const changes: Change[] = []
  for (let step = 0; step < steps; step += 1) {
    const direction = directionOf(point.gradient, changes)
    const slope = dot(direction, point.gradient)
    let length = changes.length === 0 ? 1 / Math.sqrt(dot(direction, direction)) : 1
    let moved = add(weights, direction, length)
    let next = lossAt(moved)
    while (next.loss > point.loss + 1e-4 * length * slope && length > 1e-8) {
      length /= 2
      moved = add(weights, direction, length)
      next = lossAt(moved)
    }
    const move = add(moved, weights, -1)
    const turn = add(next.gradient, point.gradient, -1)
    const product = dot(move, turn)
    if (product > 1e-12) changes.push({ move, turn, product })
    if (changes.length > memory) changes.shift()
    const gain = point.loss - next.loss
    weights = moved
    point = next
    if (gain < 1e-5 * point.loss) break
  }
  return weights
}

function directionOf(gradient: Float64Array, changes: readonly Change[]): Float64Array {
  let direction: Float64Array = gradient.map((value) => -value)
  const shares = changes.toReversed().map(({ move, turn, product }) => {
    const share = dot(move, direction) / product
    direction = add(direction, turn, -share)
    return share
  })
  const last = changes.at(-1)
  if (last !== undefined) {
    const scale = last.product / dot(last.turn, last.turn)
    direction = direction.map((value) => value * scale)
  }
  for (const [at, { move, turn, product }] of changes.entries()) {
    const share = shares[changes.length - 1 - at] ?? 0
    direction = add(direction, move, share - dot(turn, direction) / product)
  }
  return direction
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0)
  return sum
}

function add(one: Float64Array, other: Float64Array, times: number): Float64Array {
  return one.map((value, at) => value + times * (other[at] ?? 0))
}
