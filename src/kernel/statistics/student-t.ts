import { incompleteBeta } from './incomplete-beta.ts'

/**
 * Returns P(T > t) of Student's t with the given degrees of freedom, to 1e-10. Source: Abramowitz
 * and Stegun, 26.7.1 with 26.5.27.
 */
export function tailOfT(t: number, degrees: number): number {
  const half = 0.5 * incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5)
  return t >= 0 ? half : 1 - half
}

/** Returns the t whose upper tail is `tail` (above 0, up to 0.5), by bisection. */
export function quantileOfT(tail: number, degrees: number): number {
  let low = 0
  let high = 1
  while (tailOfT(high, degrees) > tail && high < 1e12) high *= 2
  for (let step = 0; step < 200 && high - low > 1e-12 * high; step += 1) {
    const middle = (low + high) / 2
    if (tailOfT(middle, degrees) > tail) low = middle
    else high = middle
  }
  return (low + high) / 2
}
