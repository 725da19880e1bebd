import type { Clock } from '../kernel/time.ts'

/** Tells how long the next one has to wait. */
export type TokenBucket = { reserve_ms(): number }

/**
 * client-go's overall limiter of retries: so many a second, with a burst. A reservation is always
 * given; it only tells when. So the wait grows with the number of keys that fail at once.
 */
export function createTokenBucket(
  clock: Clock,
  { per_second, burst }: { per_second: number; burst: number },
): TokenBucket {
  let tokens = burst
  let counted_ms = clock.now_ms()
  return {
    reserve_ms: () => {
      const now_ms = clock.now_ms()
      tokens = Math.min(burst, tokens + (Math.max(0, now_ms - counted_ms) / 1000) * per_second)
      counted_ms = now_ms
      tokens -= 1
      return tokens >= 0 ? 0 : Math.ceil((-tokens / per_second) * 1000)
    },
  }
}
