/** A verdict of known outcome. */
export interface Label {
  /** Confidence that the verifier stated, 0–1. */
  readonly confidence: number
  readonly isRight: boolean
}

/** A function from stated to measured confidence; the identity until there are enough labels. */
export interface Calibration {
  readonly calibrated: boolean
  readonly labels: number
  /** Steps by confidence; a step holds from `from` to the next one. */
  readonly steps: readonly Step[]
}

export interface Step {
  readonly from: number
  readonly value: number
}

/** Labels that a calibration needs. */
export const minCalibrationLabels = 200

/** Fits a calibration to labels; with fewer than 200 it is the identity, marked as such. */
export function fitCalibration(labels: readonly Label[]): Calibration {
  const isEnough = labels.length >= minCalibrationLabels
  const steps = isEnough ? fitIsotonic(labels) : []
  return { calibrated: isEnough, labels: labels.length, steps }
}

/** Returns the measured confidence for a stated one. */
export function calibrate({ steps }: Calibration, confidence: number): number {
  if (steps.length === 0) return confidence
  let low = 0
  let high = steps.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((steps[middle]?.from ?? 0) <= confidence) low = middle
    else high = middle - 1
  }
  return steps[low]?.value ?? confidence
}

interface Pool {
  readonly from: number
  readonly count: number
  readonly right: number
}

/**
 * Fits the non-decreasing steps with the least squared error, by pooling adjacent violators (Ayer
 * et al. 1955). Labels of equal confidence form one pool, so their order has no influence.
 */
export function fitIsotonic(labels: readonly Label[]): Step[] {
  const pools: Pool[] = []
  for (const pool of poolEqual(labels)) {
    let merged = pool
    let before = pools.at(-1)
    // Integers are compared: right/count of the pool before is not below this one's.
    while (before !== undefined && before.right * merged.count >= merged.right * before.count) {
      pools.pop()
      merged = mergePools(before, merged)
      before = pools.at(-1)
    }
    pools.push(merged)
  }
  return pools.map(({ from, count, right }) => ({ from, value: right / count }))
}

function poolEqual(labels: readonly Label[]): Pool[] {
  const pools = new Map<number, Pool>()
  for (const { confidence, isRight } of labels) {
    const right = isRight ? 1 : 0
    const pool = pools.get(confidence) ?? { from: confidence, count: 0, right: 0 }
    pools.set(confidence, { ...pool, count: pool.count + 1, right: pool.right + right })
  }
  return [...pools.values()].sort((one, other) => one.from - other.from)
}

function mergePools(one: Pool, other: Pool): Pool {
  return { from: one.from, count: one.count + other.count, right: one.right + other.right }
}

/** Bins of the expected calibration error. */
const bins = 10

/** Returns the mean squared error of confidences (Brier 1950); null without labels. */
export function brierScore(labels: readonly Label[]): number | null {
  if (labels.length === 0) return null
  const errors = labels.map(({ confidence, isRight }) => (confidence - (isRight ? 1 : 0)) ** 2)
  return sumInOrder(errors) / labels.length
}

/**
 * Returns the expected calibration error over 10 bins of equal width: the mean distance of the
 * confidence from the share that was right; null without labels.
 */
export function calibrationError(labels: readonly Label[]): number | null {
  if (labels.length === 0) return null
  const distances: number[] = []
  for (let bin = 0; bin < bins; bin++) {
    const inside = labels.filter(
      ({ confidence }) => Math.min(bins - 1, Math.floor(confidence * bins)) === bin,
    )
    const stated = sumInOrder(inside.map(({ confidence }) => confidence))
    const right = inside.filter(({ isRight }) => isRight).length
    distances.push(Math.abs(stated - right))
  }
  return sumInOrder(distances) / labels.length
}

/** Adds numbers from the smallest to the largest, so that their order has no influence. */
function sumInOrder(numbers: readonly number[]): number {
  let sum = 0
  for (const number of numbers.toSorted((one, other) => one - other)) sum += number
  return sum
}
