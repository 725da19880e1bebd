import { catchUpMs } from '../evaluation/slots.ts'
import type { Parameters } from './grouped-statement.ts'
import type { LateTiming } from './late-timing.ts'

/**
 * A call that becomes known more than a day after its end is history, for instance an import: it
 * counts at its end, where only long windows still find it, and fires no rule today.
 */
const news_ms_max = 86_400_000

/**
 * Makes columns for `countedAt`, in ms since 1970: the end of a call, when it was stored, and when it
 * became known: its message was accepted, which its id (UUIDv7) says. Slots wait for a message
 * between both, but only up to the catch-up limit. Other ids say nothing, and calls in time do not
 * need it.
 */
export function knownColumns({ repeated_ms }: LateTiming): string {
  return `toUnixTimestamp64Milli(ingested_at) AS stored_ms,
        toUnixTimestamp64Milli(greatest(start_time, end_time)) AS ended_ms,
        if(stored_ms - ended_ms <= ${repeated_ms}, stored_ms,
          toUnixTimestamp64Milli(UUIDv7ToDateTime(toUUIDOrZero(message_id)))) AS accepted_ms,
        if(accepted_ms <= stored_ms AND stored_ms - accepted_ms <= ${catchUpMs}, accepted_ms,
          stored_ms) AS known_ms`
}

/** Makes the condition of a row with `knownColumns`: it became known after its repeated slots. */
export function laterThan(
  { repeated_ms, delay_ms }: LateTiming,
  parameters: Parameters,
  known = 'known_ms',
): string {
  const repeated = parameters.add(BigInt(repeated_ms), 'Int64')
  const delay = parameters.add(BigInt(delay_ms), 'Int64')
  // A slot that waited for the message has used up the delay.
  const covered = `${repeated} + greatest(0, ${delay} - (stored_ms - known_ms))`
  return `${known} - ended_ms > ${covered} AND ${known} - ended_ms <= ${news_ms_max}`
}

/**
 * Makes the time at which a call counts, once, in ms since 1970: its end; or, if its end was no
 * longer in a repeated slot when the call became known, the time when it became known. The same
 * holds for an end in the future, by a wrong clock. Without `hasFirst` no row is late.
 */
export function countedAt(timing: LateTiming, parameters: Parameters, hasFirst = true): string {
  const known = hasFirst
    ? 'least(known_ms, if(first_known_ms > 0, first_known_ms, known_ms))'
    : 'known_ms'
  const isLate = laterThan(timing, parameters, known)
  return `if(ended_ms > ${known} OR (${isLate}), ${known}, ended_ms)`
}

/**
 * Makes the join that adds `first_known_ms`: when the first stored version of a late call became
 * known, so that a call that is sent again later does not count again; 0 for other calls. `started`
 * bounds the starts of all versions, `late` selects late rows.
 */
export function firstKnown(
  timing: LateTiming,
  { started, late }: { started: string; late: string },
): string {
  const identity = 'start_time, trace_id, observation_id'
  return `GLOBAL ANY LEFT JOIN (
      SELECT ${identity}, min(known_ms) AS first_known_ms
      FROM (
        SELECT ${identity}, ${knownColumns(timing)} FROM observations
        WHERE project_id = {project:UUID} AND ${started}
          AND (${identity}) GLOBAL IN (
            SELECT ${identity} FROM (SELECT *, ${knownColumns(timing)} FROM observations WHERE ${late}))
      ) GROUP BY ${identity}
    ) AS first USING (${identity})`
}
