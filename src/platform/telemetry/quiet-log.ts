import type { Clock } from '../../kernel/time.ts'
import type { Logger } from './logger.ts'

/** Logs a kind of trouble at most once an interval, and says how often it stayed silent. */
export type QuietLog = (kind: string, details: Record<string, unknown>) => void

/** The kinds that are told apart; `kind` comes from code, so that few exist. */
const kinds_max = 64

/** Makes a log that a fault which hits every call can't flood. */
export function createQuietLog(logger: Logger, clock: Clock, interval_ms: number): QuietLog {
  const seen = new Map<string, { next_ms: number; suppressed: number }>()
  return (kind, details) => {
    const now_ms = clock.now_ms()
    const entry = seen.get(kind)
    if (entry && now_ms < entry.next_ms) {
      entry.suppressed += 1
      return
    }
    logger.warn({ ...details, suppressed: entry?.suppressed ?? 0 }, kind)
    if (entry || seen.size < kinds_max) {
      seen.set(kind, { next_ms: now_ms + interval_ms, suppressed: 0 })
    }
  }
}
