import { startSlackMs } from '../../detection/index.ts'
import type { TaskIdentity } from '../../detection/reconstruction/index.ts'
import type { ObservationStore, TimelineRow } from '../../storage/index.ts'
import type { TaskRow } from '../store.ts'

/** A task and where its observations lie in time; nanoseconds since 1970. */
export type TaskExtent = TaskIdentity & {
  /** A lower bound of all starts. */
  from: bigint
  /** The start of the first call that was rolled up. */
  started: bigint
  /** The end of its last activity, which may be outdated. */
  until: bigint
  /** Sums of its roll-up, which may be outdated. */
  calls: number
  errors: number
  total_tokens: number
  /** Decimal US dollars. */
  cost_usd: string
}

/** Returns the extent of a stored task. */
export function extentOf(task: TaskRow): TaskExtent {
  const { project_id, task_id, conversation_id, started_at, last_activity_at } = task
  const { calls, errors, total_tokens, cost_usd } = task
  const started = BigInt(Date.parse(started_at)) * 1_000_000n
  const from = started - BigInt(startSlackMs) * 1_000_000n
  return {
    project_id,
    task_id,
    conversation_id: conversation_id ?? '',
    started,
    calls,
    errors,
    total_tokens,
    cost_usd,
    from: from > 0n ? from : 0n,
    until: BigInt(Date.parse(last_activity_at)) * 1_000_000n,
  }
}

type Ports = { store: Pick<ObservationStore, 'taskObservations'>; signal: AbortSignal }

/** A stretch of time that likely has some rows grows by this factor until it has enough. */
const growth = 8n

/** A shorter stretch does not read less. */
const stretch_ns_min = 1_000_000_000n

/** Returns the time in which a task likely has as many rows. */
function stretchFor({ started, until, calls }: TaskExtent, rows: number): bigint {
  const length = until > started ? until - started : 0n
  const stretch = (length * BigInt(2 * rows)) / BigInt(Math.max(1, calls))
  return stretch > stretch_ns_min ? stretch : stretch_ns_min
}

/**
 * Reads the first rows that start at or after an instant and after a row. The store reads all rows
 * of a window of time, so windows are short and grow until they have enough rows.
 */
export async function readForward(
  { store, signal }: Ports,
  task: TaskExtent,
  { from, after, limit }: { from: bigint; after: TimelineRow | undefined; limit: number },
): Promise<{ rows: TimelineRow[]; isAtEnd: boolean }> {
  const { project_id, task_id, until } = task
  const rows: TimelineRow[] = []
  let [begin, stretch] = [after?.start_time ?? from, stretchFor(task, limit)]
  let position = after && positionOf(after)
  for (;;) {
    signal.throwIfAborted()
    const to = later(begin, task.started) + stretch
    const isLast = to > until
    const page = await store.taskObservations(project_id, task_id, {
      from: begin,
      limit: limit - rows.length,
      signal,
      ...(!isLast && { to }),
      ...(position && { after: position }),
    })
    rows.push(...page)
    if (rows.length >= limit) return { rows, isAtEnd: false }
    if (isLast) return { rows, isAtEnd: true }
    position = undefined
    begin = to
    stretch *= growth
  }
}

/** Reads the last rows that start before an instant, the latest first. */
export async function readBackward(
  { store, signal }: Ports,
  task: TaskExtent,
  { to, limit }: { to: bigint; limit: number },
): Promise<TimelineRow[]> {
  const { project_id, task_id, from } = task
  const rows: TimelineRow[] = []
  let [end, stretch] = [to, stretchFor(task, limit)]
  while (end > from && rows.length < limit) {
    signal.throwIfAborted()
    const begin = later(end - stretch, from)
    rows.push(
      ...(await store.taskObservations(project_id, task_id, {
        from: begin,
        to: end,
        order: 'desc',
        limit: limit - rows.length,
        signal,
      })),
    )
    end = begin
    stretch *= growth
  }
  return rows
}

function later(one: bigint, other: bigint): bigint {
  if (one > other) return one
  return other
}

function positionOf({ start_time, observation_id }: TimelineRow) {
  return { start_time, observation_id }
}
