/** Times of an event, in milliseconds since 1970. */
export type ReportedTimes = {
  /** Time of the event, by the clock of the client; undefined for the time of receipt. */
  occurred_at_ms: number | undefined
  /** Time of sending, by the clock of the client. */
  sent_at_ms: number | undefined
  /** Time of receipt, by the clock of the server. */
  received_at_ms: number
}

/** The time of an event, with the clock that it comes from. */
export type CorrectedTime = {
  occurred_at_ms: number
  /**
   * `client`: as it was sent. `corrected`: moved by the difference of the clocks. `server`: the
   * time of receipt, because the client gave none, or one that no difference of clocks explains.
   */
  clock: 'client' | 'corrected' | 'server'
  /**
   * Clock of the server minus clock of the client; null when the client did not say when it sent.
   */
  skew_ms: number | null
}

/** Differences up to this size are treated as network delay, not as a wrong clock. */
export const skewToleratedMs = 120_000

/** Maximum age of an event. The time of receipt replaces older times. */
export const maxEventAgeMs = 90 * 86_400_000

/**
 * Corrects the time of an event. For every clock of a client, the result is at or before the
 * receipt, by at most `maxEventAgeMs`.
 */
export function correctTime(times: ReportedTimes): CorrectedTime {
  const { occurred_at_ms, sent_at_ms, received_at_ms } = times
  const skew_ms = sent_at_ms === undefined ? null : received_at_ms - sent_at_ms
  if (occurred_at_ms === undefined) {
    return { occurred_at_ms: received_at_ms, clock: 'server', skew_ms }
  }
  const isSkewed = skew_ms !== null && Math.abs(skew_ms) > skewToleratedMs
  const moved_ms = isSkewed ? occurred_at_ms + skew_ms : occurred_at_ms
  const age_ms = received_at_ms - moved_ms
  if (age_ms < -skewToleratedMs || age_ms > maxEventAgeMs) {
    return { occurred_at_ms: received_at_ms, clock: 'server', skew_ms }
  }
  return {
    occurred_at_ms: Math.min(moved_ms, received_at_ms),
    clock: isSkewed ? 'corrected' : 'client',
    skew_ms,
  }
}
