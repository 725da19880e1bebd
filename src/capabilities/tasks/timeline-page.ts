import { shownDollars } from '../../kernel/dollars.ts'
import type { TaskRun } from '../detection/reconstruction/index.ts'
import type { TimelineSums } from '../storage/index.ts'
import { createTimelineBuilder } from './build-timeline.ts'
import type { TaskEventRow } from './store.ts'
import { msBetween } from './timeline-drafts.ts'
import {
  comparePositions,
  type PageEnd,
  positionBefore,
  type RunningTotals,
  type TimelineEntry,
  type TimelineRole,
  timelineRoles,
} from './timeline-entry.ts'
import type { PlacedEntry, TimelineBase } from './timeline-totals.ts'
import { openTaskWindow, unreadIds } from './window/open-window.ts'
import type { TaskExtent } from './window/read-rows.ts'
import type { TaskWindow, TaskWindowReader, WindowPorts } from './window/task-window.ts'

type TimelineQuery = {
  after: PageEnd | undefined
  role?: readonly TimelineRole[] | undefined
  gap_min_ms: number
  limit: number
  text_length_max: number
}

type Timeline = { task: TaskExtent; events: readonly TaskEventRow[] }

type TimelinePage = {
  entries: TimelineEntry[]
  /** The run of the whole task; undefined where only a part was read. */
  run: TaskRun | undefined
  totals: RunningTotals
  total: number
  /** Whether `total` and `totals` are exact. */
  is_exact: boolean
  /** Undefined on the last page. */
  end: PageEnd | undefined
}

/**
 * Reads a page of a timeline and as much of the task as it needs: all of a small task, else the rows
 * around the page, and sums over the others. Rejects with `store_unavailable`, and with the signal's
 * reason after it aborts.
 */
export async function readTimelinePage(
  ports: WindowPorts,
  timeline: Timeline,
  query: TimelineQuery,
): Promise<TimelinePage> {
  const { task, events } = timeline
  const asked = { instant: query.after?.position.time, entries: query.limit, has_sums: true }
  const { reader, sums } = await openTaskWindow(ports, task, asked)
  let window = await reader.window()
  const cut = (one: TaskWindow) => cutPage(placeEntries(one, events, { query, sums }), one, query)
  let page = cut(window)
  while (needsRows(reader, page, { query, ports })) {
    await reader.extendFor(query.limit)
    window = await reader.window()
    page = cut(window)
  }
  const ids = unjoinedIds(page, window, query.after)
  if (ids.asked.length + ids.answered.length > 0) {
    await reader.addToolRows(ids)
    window = await reader.window()
    page = cut(window)
  }
  const { shown, settled, wanted } = page
  return {
    entries: shown.map(({ entry }) => entry),
    run: window.start === undefined ? window.run : undefined,
    ...(window.start === undefined && window.frontier === undefined
      ? { totals: settled.at(-1)?.entry.running ?? noTotals, total: wanted.length, is_exact: true }
      : { ...estimate(timeline, settled, query.role), is_exact: false }),
    end: pageEnd(page, window),
  }
}

/** Whether the page lacks entries, or rows after it that may have results of its tool calls. */
function needsRows(
  reader: TaskWindowReader,
  { shown, following }: Cut,
  { query, ports }: { query: TimelineQuery; ports: WindowPorts },
): boolean {
  if (reader.isExhausted) return false
  const last = shown.at(-1)
  if (shown.length < query.limit || following.length === 0 || last === undefined) return true
  return reader.rowsAfter(last.position.time) < ports.limits.after_rows
}

function placeEntries(
  { rows, tools, start }: TaskWindow,
  events: readonly TaskEventRow[],
  { query, sums }: { query: TimelineQuery; sums: TimelineSums | undefined },
): PlacedEntry[] {
  const builder = createTimelineBuilder(query)
  builder.add(rows)
  if (start === undefined || sums === undefined || query.after === undefined) {
    return builder.finish({ tools }, events)
  }
  const { position, count } = query.after
  const { calls, errors, total_tokens: tokens, nano_dollars, ...times } = sums
  const base: TimelineBase = {
    until: start,
    sums: { calls, errors, tokens, nano_dollars },
    tool_calls: { count, position },
    first: times.first_start,
    last: times.last_start,
    busy_until: times.last_end,
  }
  return builder.finish({ tools }, events, base)
}

type Cut = {
  /** Entries before which all rows are read. */
  settled: readonly PlacedEntry[]
  /** Those of the requested roles. */
  wanted: readonly PlacedEntry[]
  shown: readonly PlacedEntry[]
  /** Wanted ones after the page. */
  following: readonly PlacedEntry[]
}

function cutPage(
  placed: readonly PlacedEntry[],
  { frontier }: TaskWindow,
  { after, role, limit }: TimelineQuery,
): Cut {
  const settled = placed.filter(
    ({ position }) => frontier === undefined || position.time < frontier,
  )
  const wanted = settled.filter(({ entry }) => role?.includes(entry.role) ?? true)
  const behind =
    after === undefined
      ? wanted
      : wanted.filter(({ position }) => comparePositions(position, after.position) > 0)
  return { settled, wanted, shown: behind.slice(0, limit), following: behind.slice(limit) }
}

function pageEnd(
  { settled, shown, following }: Cut,
  { frontier }: TaskWindow,
): PageEnd | undefined {
  const last = following.length > 0 ? shown.at(-1) : undefined
  if (last !== undefined) {
    return { position: last.position, count: last.entry.running.tool_calls, threads: '' }
  }
  if (frontier === undefined) return undefined
  const count = settled.at(-1)?.entry.running.tool_calls ?? 0
  return { position: positionBefore(frontier), count, threads: '' }
}

/** Returns the ids of tool calls on a page whose other end is not in the window. */
function unjoinedIds(
  { settled, shown }: Cut,
  window: TaskWindow,
  after: PageEnd | undefined,
): { asked: string[]; answered: string[] } {
  const { start } = window
  const asked: string[] = []
  const answered = unreadIds(window, after)
  for (const { entry } of settled) {
    // An open tool call before the page may still run, which closes gaps.
    if (entry.role === 'tool_call' && entry.orphan) asked.push(entry.tool_call_id)
  }
  for (const { entry } of shown) {
    if (entry.role !== 'tool_result' || start === undefined) continue
    const isUnasked = entry.orphan || entry.call_observation_id === entry.observation_id
    if (isUnasked) answered.push(entry.tool_call_id)
  }
  const named = (ids: readonly string[]) => ids.filter((id) => id !== '').slice(0, ids_max)
  return { asked: named(asked), answered: named(answered) }
}

const ids_max = 500

/**
 * Returns the sums of the task's roll-up, and estimates the other numbers: entries of each call are
 * as frequent in the task as in the part that was read.
 */
function estimate(
  { task, events }: Timeline,
  settled: readonly PlacedEntry[],
  role: readonly TimelineRole[] | undefined,
): { totals: RunningTotals; total: number } {
  const running = settled.at(-1)?.entry.running ?? noTotals
  const calls = Math.max(task.calls, running.calls)
  const read = settled.filter(({ entry }) => entry.role === 'model_call').length
  const expected = (name: TimelineRole) => {
    const found = settled.filter(({ entry }) => entry.role === name).length
    if (name === 'state_change') return events.length
    return Math.max(found, read === 0 ? 0 : Math.round((found / read) * calls))
  }
  const roles = timelineRoles.filter((name) => role?.includes(name) ?? true)
  return {
    totals: {
      calls,
      errors: Math.max(task.errors, running.errors),
      tool_calls: Math.max(running.tool_calls, expected('tool_call')),
      total_tokens: Math.max(task.total_tokens, running.total_tokens),
      cost_usd: shownDollars(task.cost_usd),
      elapsed_ms: Math.max(running.elapsed_ms, msBetween(task.started, task.until)),
    },
    total: roles.reduce((sum, name) => sum + expected(name), 0),
  }
}

const noTotals = {
  calls: 0,
  errors: 0,
  tool_calls: 0,
  total_tokens: 0,
  cost_usd: '0',
  elapsed_ms: 0,
}
