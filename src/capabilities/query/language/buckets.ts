import { dayAt, isTimeZone, startOfDay } from '../../../kernel/time-zone.ts'
import { type Faults, unexpected } from './faults.ts'
import { queryLimits } from './limits.ts'
import type { QueryWindow } from './page-query.ts'

/** Buckets of equal width in a row, from an instant up to the next run. In nanoseconds. */
export type BucketRun = { from: bigint; width_ns: bigint }

/**
 * Buckets of time. Without a zone they have one width and are counted from 1970 in UTC. In a zone
 * they are whole days of its calendar: where a clock changes, a day of 23 or 25 hours is a run of
 * its own.
 */
export type Bucket = {
  kind: 'bucket'
  name: 'time_bucket'
  width_ns: bigint
  offset_ns: bigint
  zone?: { name: string; runs: readonly BucketRun[] }
}

const day_ns = 86_400_000_000_000n
const units_s = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const

/** Weeks begin on Mondays: the offset to the last Monday before 1970. */
const monday_ns = -3n * day_ns

/** Reads a bucket of a query. Adds a fault, and returns undefined, when it is not valid. */
export function readBucket(
  { time_bucket: text, time_zone }: { time_bucket: string; time_zone?: string | undefined },
  about: { path: (string | number)[]; window: QueryWindow | undefined; faults: Faults },
): Bucket | undefined {
  const { path, window, faults } = about
  const at = [...path, 'time_bucket']
  const [, digits = '', unit = ''] = /^([1-9]\d{0,4})([smhdw])$/.exec(text) ?? []
  if (digits === '') return faults.add(at, unexpected(text, 'a width like 30s, 5m, 1h, 1d or 1w'))
  const width_ns = BigInt(Number(digits) * units_s[unit as keyof typeof units_s]) * 1_000_000_000n
  const buckets = window === undefined ? 0n : (window.to - window.from) / width_ns + 1n
  if (buckets > BigInt(queryLimits.buckets_max)) {
    return faults.add(at, unexpected(text, `at most ${queryLimits.buckets_max} buckets`))
  }
  const offset_ns = unit === 'w' ? monday_ns : 0n
  const bucket: Bucket = { kind: 'bucket', name: 'time_bucket', width_ns, offset_ns }
  if (time_zone === undefined) return bucket
  if (!isTimeZone(time_zone)) {
    const expected = 'a name of the IANA database, such as Europe/Berlin'
    return faults.add([...path, 'time_zone'], unexpected(time_zone, expected))
  }
  if (unit !== 'd' && unit !== 'w') {
    return faults.add(at, unexpected(text, 'whole days or weeks, such as 1d, beside time_zone'))
  }
  const runs = window === undefined ? [] : runsIn(time_zone, bucket, window)
  return { ...bucket, zone: { name: time_zone, runs } }
}

/** Returns the starts of all buckets that overlap a window, earliest first. */
export function startsOf({ width_ns, offset_ns, zone }: Bucket, window: QueryWindow): bigint[] {
  const first = ((window.from - offset_ns) / width_ns) * width_ns + offset_ns
  const runs = zone?.runs ?? [{ from: first, width_ns }]
  return runs.flatMap((run, at) => {
    const end = runs[at + 1]?.from ?? window.to
    const starts: bigint[] = []
    for (let start = run.from; start < end; start += run.width_ns) starts.push(start)
    return starts
  })
}

/** Returns the buckets of a zone that overlap a window, with equal neighbours as one run. */
function runsIn(zone: string, { width_ns, offset_ns }: Bucket, window: QueryWindow): BucketRun[] {
  const [days, offset] = [Number(width_ns / day_ns), Number(offset_ns / day_ns)]
  const startAt = (day: number) => BigInt(startOfDay(zone, day)) * 1_000_000_000n
  const today = dayAt(zone, Number(window.from / 1_000_000_000n))
  let day = Math.floor((today - offset) / days) * days + offset
  let from = startAt(day)
  const runs: BucketRun[] = []
  while (from < window.to) {
    day += days
    const next = startAt(day)
    // A zone that moves over the date line leaves out a day, whose bucket would be empty.
    if (next > from && runs.at(-1)?.width_ns !== next - from) {
      runs.push({ from, width_ns: next - from })
    }
    from = next
  }
  return runs
}
