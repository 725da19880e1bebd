const second_ms = 1000
const minute_ms = 60 * second_ms
const hour_ms = 60 * minute_ms

/** Waits between the attempts of a message. */
export const attemptDelaysMs: readonly number[] = [
  5 * second_ms,
  30 * second_ms,
  2 * minute_ms,
  10 * minute_ms,
  hour_ms,
  3 * hour_ms,
  8 * hour_ms,
]

/** Random part of a wait: 10 % more or less. */
const jitter = 0.1

/** Longest wait that `Retry-After` may ask for. */
const maxRetryAfterMs = 8 * hour_ms

/** How an attempt ended: with a status, or without an answer. */
export type AttemptResult =
  | { status: number; retry_after_s?: number | undefined }
  | { error: 'timeout' | 'connection' }

/** The consequence of an attempt. */
export type AfterAttempt =
  | { kind: 'delivered' }
  | { kind: 'retry'; delay_ms: number }
  | { kind: 'dead'; disables_channel: boolean }

/** Statuses of 4xx that another attempt may change: timeout, too early, too many requests. */
const retriedStatuses: readonly number[] = [408, 425, 429]

/**
 * Returns the consequence of an attempt by its number; 1 is the first. Only 2xx is a delivery. Other
 * statuses of 4xx are final, and 410 disables the channel. `Retry-After` makes a wait longer, never
 * shorter. `random` is 0–1.
 */
export function afterAttempt(attempt: number, result: AttemptResult, random: number): AfterAttempt {
  const status = 'status' in result ? result.status : undefined
  if (status !== undefined && status >= 200 && status < 300) return { kind: 'delivered' }
  const isRefused = status !== undefined && status >= 400 && status < 500
  if (isRefused && !retriedStatuses.includes(status)) {
    return { kind: 'dead', disables_channel: status === 410 }
  }
  const planned_ms = attemptDelaysMs[attempt - 1]
  if (planned_ms === undefined) return { kind: 'dead', disables_channel: false }
  const delay_ms = Math.round(planned_ms * (1 + (2 * random - 1) * jitter))
  const asked_s = 'status' in result ? (result.retry_after_s ?? 0) : 0
  return {
    kind: 'retry',
    delay_ms: Math.max(delay_ms, Math.min(asked_s * second_ms, maxRetryAfterMs)),
  }
}
