/** Sizes of clusters, and the squared residuals (HC3) of a rate in them. */
export type Residuals = { sizes: readonly number[]; squares: readonly number[]; rate: number }

/**
 * Returns the degrees of freedom of the variance of a rate over C clusters, from 1 to C − 1.
 * Satterthwaite's, under a working model in which the samples of a cluster are equally correlated
 * (Bell and McCaffrey 2002; Imbens and Kolesár 2016): a few large clusters carry most of the
 * variance. It is then divided by (κ − 1)/2 for the kurtosis κ of the standardised residuals, which
 * is 1 for normal ones (the variance of the variance is estimated, as Pan and Wall 2002 do): so do
 * a few users with bad moods.
 */
export function varianceDegrees(residuals: Residuals): number {
  const variances = workingVariances(residuals)
  const degrees = modelDegrees(residuals.sizes, variances)
  const standardised = residuals.squares.map((square, at) => square / (variances[at] ?? 1))
  const mean = sum(standardised) / standardised.length
  const kurtosis = sum(standardised.map((one) => one ** 2)) / standardised.length / mean ** 2
  const corrected = Math.min(degrees, (2 * degrees) / Math.max(1e-9, kurtosis - 1))
  return Math.max(1, Math.min(residuals.sizes.length - 1, corrected))
}

/** Returns the variances of clusters, up to a factor: m(1 + (m − 1)ρ), with ρ by its moments. */
function workingVariances({ sizes, squares, rate }: Residuals): number[] {
  const n = sum(sizes)
  const pairs = sum(sizes.map((size) => size * (size - 1)))
  const excess = sum(squares) / (rate * (1 - rate)) - n
  const correlation = pairs > 0 ? Math.max(0, Math.min(1, excess / pairs)) : 0
  return sizes.map((size) => size * (1 + (size - 1) * correlation))
}

/**
 * Returns tr(MΣ)² / tr((MΣ)²), where yᵀMy is the variance as a form of the sums y of the clusters,
 * and Σ holds the working variances: M = diag(a) − u1ᵀ − 1uᵀ + c11ᵀ.
 */
function modelDegrees(sizes: readonly number[], variances: readonly number[]): number {
  const n = sum(sizes)
  const shares = sizes.map((size) => size / n)
  const a = shares.map((share) => 1 / (1 - share) ** 2)
  const u = shares.map((share, at) => share * (a[at] ?? 0))
  const c = sum(shares.map((share, at) => share * (u[at] ?? 0)))
  const moment = (power: number) => sum(variances.map((v, at) => v * (u[at] ?? 0) ** power))
  const [s0, s1, s2] = [moment(0), moment(1), moment(2)]
  const outside = variances.map((_, at) => c - 2 * (u[at] ?? 0))
  const trace = sum(variances.map((v, at) => v * ((a[at] ?? 0) + (outside[at] ?? 0))))
  const squared = c ** 2 * s0 ** 2 - 4 * c * s0 * s1 + 2 * s0 * s2 + 2 * s1 ** 2
  const diagonal = sum(
    variances.map((v, at) => v ** 2 * (a[at] ?? 0) * ((a[at] ?? 0) + 2 * (outside[at] ?? 0))),
  )
  return trace ** 2 / (squared + diagonal)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
