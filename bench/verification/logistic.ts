/** A logistic regression: `p = 1 / (1 + exp(−(intercept + Σ weight · value)))`. */
export type LogisticModel = { intercept: number; weights: readonly number[] }

/** Steps of Newton's method; a fit of a dozen signs needs fewer than ten. */
const steps_max = 50
/** Change of a coefficient below which the fit has converged. */
const change_min = 1e-9

/**
 * Fits a logistic regression by Newton's method. Values are scaled to a standard deviation of 1
 * before `ridge`, the L2 penalty of their weights. The fit is deterministic.
 */
export function fitLogistic(
  rows: readonly (readonly number[])[],
  isTrue: readonly boolean[],
  ridge: number,
): LogisticModel {
  const columns = (rows[0] ?? []).map((_, at) => scaleOf(rows.map((row) => row[at] ?? 0)))
  const scaled = rows.map((row) => [
    1,
    ...row.map((value, at) => (value - (columns[at]?.mean ?? 0)) / (columns[at]?.deviation ?? 1)),
  ])
  const penalties = [0, ...columns.map(() => ridge)]
  let fitted = penalties.map(() => 0)
  for (let step = 0; step < steps_max; step += 1) {
    const changes = newtonStep(scaled, isTrue, { fitted, penalties })
    fitted = fitted.map((value, at) => value + (changes[at] ?? 0))
    if (changes.every((change) => Math.abs(change) < change_min)) break
  }
  const weights = columns.map(({ deviation }, at) => (fitted[at + 1] ?? 0) / deviation)
  const shift = columns.reduce((sum, { mean }, at) => sum + (weights[at] ?? 0) * mean, 0)
  return { intercept: (fitted[0] ?? 0) - shift, weights }
}

/** Returns the probability that a model gives to the values of a row. */
export function predict({ intercept, weights }: LogisticModel, row: readonly number[]): number {
  return logistic(row.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), intercept))
}

function logistic(value: number): number {
  return 1 / (1 + Math.exp(-value))
}

function scaleOf(values: readonly number[]): { mean: number; deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return { mean, deviation: Math.sqrt(variance) || 1 }
}

function newtonStep(
  rows: readonly (readonly number[])[],
  isTrue: readonly boolean[],
  { fitted, penalties }: { fitted: readonly number[]; penalties: readonly number[] },
): number[] {
  const gradient = fitted.map((value, at) => -(penalties[at] ?? 0) * value)
  const curvature = penalties.map((own, at) =>
    penalties.map((_, other) => (at === other ? own : 0)),
  )
  for (const [place, row] of rows.entries()) {
    const p = logistic(row.reduce((sum, value, at) => sum + value * (fitted[at] ?? 0), 0))
    const error = (isTrue[place] === true ? 1 : 0) - p
    for (const [at, value] of row.entries()) {
      gradient[at] = (gradient[at] ?? 0) + error * value
      const line = curvature[at] ?? []
      for (const [to, other] of row.entries()) {
        line[to] = (line[to] ?? 0) + p * (1 - p) * value * other
      }
    }
  }
  return solve(curvature, gradient)
}

/** Solves a system of linear equations by Gaussian elimination with pivoting. */
function solve(matrix: readonly (readonly number[])[], values: readonly number[]): number[] {
  const lines = matrix.map((line, at) => [...line, values[at] ?? 0])
  for (let column = 0; column < lines.length; column += 1) {
    const rest = lines.splice(column).sort((one, other) => size(other, column) - size(one, column))
    lines.push(...rest)
    const pivot = lines[column] ?? []
    for (const [at, line] of lines.entries()) {
      if (at === column) continue
      const factor = (line[column] ?? 0) / (pivot[column] ?? 1)
      lines[at] = line.map((value, to) => value - factor * (pivot[to] ?? 0))
    }
  }
  return lines.map((line, at) => (line.at(-1) ?? 0) / (line[at] ?? 1))
}

function size(line: readonly number[], column: number): number {
  return Math.abs(line[column] ?? 0)
}
