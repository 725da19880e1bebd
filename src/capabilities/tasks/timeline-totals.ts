import { dollarsFrom } from '../../kernel/dollars.ts'
import { isoFromNs } from '../../kernel/time.ts'
import { type Draft, msBetween } from './timeline-drafts.ts'
import {
  comparePositions,
  type RunningTotals,
  type TimelineEntry,
  type TimelinePosition,
} from './timeline-entry.ts'

/** An entry of a timeline and its position. */
export type PlacedEntry = { position: TimelinePosition; entry: TimelineEntry }

/** The part of a timeline before the rows of a builder. */
export type TimelineBase = {
  /** The instant at which it ends, exclusive. */
  until: bigint
  sums: Pick<Sums, 'calls' | 'errors' | 'tokens' | 'nano_dollars'>
  /** Tool calls up to and including an entry, which may be one of the rows. */
  tool_calls: { count: number; position: TimelinePosition }
  /** Times of its first and last entry, and the latest end of a call. */
  first: bigint | undefined
  last: bigint | undefined
  busy_until: bigint | undefined
}

/** Adds to each entry its distance from the entries before it, and the running totals. */
export function addTotals(
  all: readonly Draft[],
  gap_min_ms: number,
  base: TimelineBase | undefined,
): PlacedEntry[] {
  const drafts =
    base === undefined ? all : all.filter(({ position }) => position.time >= base.until)
  const begin = base === undefined ? atStart(all) : atBase(all, drafts, base)
  let { previous, busyUntil, sums } = begin
  return drafts.map((draft) => {
    const { position, body, end } = draft
    const { time } = position
    sums = addToSums(sums, draft)
    const gap_ms = msBetween(busyUntil, time)
    const timing = {
      time: isoFromNs(time),
      since_previous_ms: msBetween(previous, time),
      gap_ms: gap_ms > 0 && gap_ms >= gap_min_ms ? gap_ms : null,
      running: toRunningTotals(sums, msBetween(begin.first, time)),
    }
    previous = time
    busyUntil = latest(busyUntil, end ?? time)
    return { position, entry: { ...timing, ...body } }
  })
}

/** The state of the sums before the first entry that is shown. */
type Begin = { first: bigint; previous: bigint; busyUntil: bigint; sums: Sums }

const noSums: Sums = { calls: 0, errors: 0, tool_calls: 0, tokens: 0, nano_dollars: 0n }

function atStart(drafts: readonly Draft[]): Begin {
  const first = drafts[0]?.position.time ?? 0n
  return { first, previous: first, busyUntil: first, sums: noSums }
}

/** Drafts before the base's end are those of rows that reach into the window, and of events. */
function atBase(all: readonly Draft[], drafts: readonly Draft[], base: TimelineBase): Begin {
  const start = atStart(all)
  const before = all.slice(0, all.length - drafts.length)
  const { count, position } = base.tool_calls
  const counted = drafts.filter((draft) => {
    return draft.body.role === 'tool_call' && comparePositions(draft.position, position) <= 0
  })
  const first = base.first !== undefined && base.first < start.first ? base.first : start.first
  const last = before.at(-1)?.position.time ?? first
  const previous = latest(last, base.last ?? first)
  const busyUntil = before.reduce(
    (until, { end, position: { time } }) => latest(until, end ?? time),
    latest(previous, base.busy_until ?? first),
  )
  const sums = { ...base.sums, tool_calls: Math.max(0, count - counted.length) }
  return { first, previous, busyUntil, sums }
}

type Sums = {
  calls: number
  errors: number
  tool_calls: number
  tokens: number
  nano_dollars: bigint
}

function addToSums(sums: Sums, { body, call }: Draft): Sums {
  return {
    calls: sums.calls + (call ? 1 : 0),
    errors: sums.errors + (call?.failed ? 1 : 0),
    tool_calls: sums.tool_calls + (body.role === 'tool_call' ? 1 : 0),
    tokens: sums.tokens + (call?.tokens ?? 0),
    nano_dollars: sums.nano_dollars + (call?.nano_dollars ?? 0n),
  }
}

function toRunningTotals(sums: Sums, elapsed_ms: number): RunningTotals {
  return {
    calls: sums.calls,
    errors: sums.errors,
    tool_calls: sums.tool_calls,
    total_tokens: sums.tokens,
    cost_usd: dollarsFrom(sums.nano_dollars),
    elapsed_ms,
  }
}

function latest(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
