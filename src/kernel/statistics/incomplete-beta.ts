/** Terms of the continued fraction; it converges in fewer for all degrees of freedom up to 1e7. */
const terms_max = 10_000
const precision = 1e-15
const tiny = 1e-300

/** Returns the regularized incomplete beta function I_x(a, b), to 1e-10; x is 0–1, a and b above 0. */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  )
  // The fraction converges fast on one side of the mean only; the other side is its mirror.
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b
}

/** Continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
function betaFraction(x: number, a: number, b: number): number {
  const step = (fraction: Fraction, numerator: number): number => {
    fraction.d = 1 / awayFromZero(1 + numerator * fraction.d)
    fraction.c = awayFromZero(1 + numerator / fraction.c)
    fraction.value *= fraction.c * fraction.d
    return fraction.c * fraction.d
  }
  const first = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1))
  const fraction: Fraction = { c: 1, d: first, value: first }
  for (let m = 1; m <= terms_max; m += 1) {
    step(fraction, (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)))
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    if (Math.abs(step(fraction, odd) - 1) < precision) break
  }
  return fraction.value
}

type Fraction = { c: number; d: number; value: number }

function awayFromZero(value: number): number {
  return Math.abs(value) < tiny ? tiny : value
}

/** Coefficients of Lanczos with g = 7 and 9 terms (Godfrey 2001): relative error 1e-15. */
const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
]

function logGamma(z: number): number {
  if (z < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * z)) - logGamma(1 - z)
  const [first = 0, ...rest] = lanczos
  const sum = rest.reduce((total, term, at) => total + term / (z + at), first)
  const base = z + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (z - 0.5) * Math.log(base) - base + Math.log(sum)
}
