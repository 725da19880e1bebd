import type { EvidenceItem } from '../gates/evidence-item.ts'
import type { TaskCounts } from '../gates/task-counts.ts'
import type { TaskRow } from './task-item.ts'

/** An earlier look at the same tasks: the end of its window, and when it read. ISO 8601. */
export type EarlierLook = { end: string; read_at: string }

/** The looks to compare with. `read_at` is the time of the store, like `created_at`. */
export type CountContext = { looks: readonly EarlierLook[]; read_at: string }

/** Counts the tasks of one side while they are read. */
export type TaskCounter = {
  add(row: TaskRow): void
  counts(altered: number): TaskCounts
}

/** Difference of the clocks of client and store that is accepted. */
const clockSkewMs = 300_000

/** Opens a counter. Only `created_at` is trusted: a client chooses all other times of its tasks. */
export function openTaskCounter({ looks, read_at }: CountContext): TaskCounter {
  const known = looks
    .map(({ end, read_at }) => ({ end_ms: Date.parse(end), read_ms: Date.parse(read_at) }))
    .toSorted((a, b) => a.read_ms - b.read_ms)
  const contents = new Set<string>()
  const stored: number[] = []
  const sums = { late: 0, running: 0, unanalysed: 0, unchecked: 0, unverified: 0, unpriced: 0 }
  return {
    add: (row) => {
      const [started_ms, stored_ms] = [Date.parse(row.started_at), Date.parse(row.created_at)]
      const isLate = known.some(({ end_ms, read_ms }) => started_ms < end_ms && stored_ms > read_ms)
      stored.push(stored_ms)
      contents.add(contentOf(row))
      sums.late += Number(isLate || started_ms > stored_ms + clockSkewMs)
      sums.running += Number(row.state === 'running')
      sums.unanalysed += Number(!row.is_analysed)
      sums.unchecked += Number(row.is_analysed && row.is_unchecked)
      sums.unverified += Number(row.is_unverified)
      sums.unpriced += Number(row.unpriced_calls > 0)
    },
    counts: (altered) => {
      const total = stored.length
      const looks_ms = known.map(({ read_ms }) => read_ms)
      const jump = jumpOf(stored, looks_ms, Date.parse(read_at))
      return { total, altered, equal: total - contents.size, jump, ...sums }
    },
  }
}

/**
 * Returns what tells the content of a task from others, as far as its row shows. Without tokens a
 * task has no content, and its durations do not count.
 */
function contentOf(row: TaskRow): string {
  const { name, total_tokens, calls, errors, input_tokens, duration_ms, open_ms, cost_usd } = row
  if (total_tokens === 0) return JSON.stringify([name])
  return JSON.stringify([
    name,
    total_tokens,
    input_tokens,
    calls,
    errors,
    duration_ms,
    open_ms,
    cost_usd,
  ])
}

/** How many times faster tasks may come after the first look than before it. */
const pace_max = 10
/** Shortest time over which a pace is measured. */
const pace_ms_min = 60_000

/**
 * Returns the tasks since the first look that found tasks, beyond ten times the pace until then.
 * The time of later looks changes nothing, so that a second request cannot hide a jump.
 */
export function jumpOf(
  stored: readonly number[],
  looks: readonly number[],
  now_ms: number,
): number {
  const first_ms = stored.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)
  const look_ms = looks.find((at) => first_ms <= at)
  if (look_ms === undefined) return 0
  const before = stored.filter((at) => at <= look_ms).length
  const pace = before / Math.max(pace_ms_min, look_ms - first_ms)
  const expected = pace_max * pace * Math.max(pace_ms_min, now_ms - look_ms)
  return Math.max(0, Math.floor(stored.length - before - expected))
}

/**
 * Counts the tasks of an earlier look that are gone, or that have another outcome, user or name
 * since. A task that ran then may have ended. Both sides must have ids with one salt.
 */
export function countAltered(
  earlier: readonly EvidenceItem[],
  now: readonly EvidenceItem[],
): number {
  const byId = new Map(now.map((item) => [item.id, item]))
  return earlier.filter((item) => isAltered(item, byId.get(item.id))).length
}

function isAltered(before: EvidenceItem, after: EvidenceItem | undefined): boolean {
  if (after === undefined || before.cluster !== after.cluster) return true
  if (before.group !== null && after.group !== null && before.group !== after.group) return true
  const outcome = before.values.task_success_rate
  return outcome !== undefined && outcome !== after.values.task_success_rate
}
