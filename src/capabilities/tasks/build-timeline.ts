import { dollarsFrom } from '../../kernel/dollars.ts'
import { isoFromNs } from '../../kernel/time.ts'
import type { TaskRun } from '../detection/reconstruction/index.ts'
import type { TimelineRow } from '../storage/index.ts'
import type { TaskEventRow } from './store.ts'
import {
  callDraft,
  changeDraft,
  type Draft,
  isModelCall,
  isShownOperation,
  msBetween,
  operationDraft,
} from './timeline-drafts.ts'
import {
  comparePositions,
  type RunningTotals,
  type TimelineEntry,
  type TimelinePosition,
} from './timeline-entry.ts'
import { createTimelineTools } from './timeline-tools.ts'

export type PlacedEntry = { position: TimelinePosition; entry: TimelineEntry }

export type TimelineBuilder = {
  /** Takes the task's observations, ordered by start_time and observation_id, in any portions. */
  add(rows: readonly TimelineRow[]): void
  /**
   * Returns the whole timeline in order: model calls and operations, tool calls joined with their
   * results by the task's run, and the task's own state changes.
   */
  finish(run: Pick<TaskRun, 'tools'>, events: readonly TaskEventRow[]): PlacedEntry[]
}

/**
 * Builds the timeline of a task; pure. Model calls and operations are placed at their start, tool
 * calls at the end of the model call that asked for them. A tool's result is placed at the end of
 * the tool's own observation, or else at the start of the first call that brought the result. Plain
 * spans are shown only when they failed. Texts are cut to `text_length_max` characters; `gap_ms` is
 * set for gaps of at least `gap_min_ms`.
 */
export function createTimelineBuilder(options: {
  gap_min_ms: number
  text_length_max: number
}): TimelineBuilder {
  const drafts: Draft[] = []
  const tools = createTimelineTools((text) => {
    const is_cut = text.length > options.text_length_max
    return { text: is_cut ? text.slice(0, options.text_length_max) : text, is_cut }
  })
  const addRow = (row: TimelineRow) => {
    if (isModelCall(row)) drafts.push(callDraft(row))
    else if (isShownOperation(row)) drafts.push(operationDraft(row))
    if (isModelCall(row) || row.type === 'tool') tools.add(row)
  }
  return {
    add: (rows) => rows.forEach(addRow),
    finish(run, events) {
      const all = [...drafts, ...tools.drafts(run.tools), ...events.map(changeDraft)]
      return addTotals(
        all.sort((a, b) => comparePositions(a.position, b.position)),
        options.gap_min_ms,
      )
    },
  }
}

/** Adds to each entry its distance from the entries before it, and the running totals. */
function addTotals(drafts: readonly Draft[], gap_min_ms: number): PlacedEntry[] {
  const first = drafts[0]?.position.time ?? 0n
  let previous = first
  let busyUntil = first
  let sums = { calls: 0, errors: 0, tool_calls: 0, tokens: 0, nano_dollars: 0n }
  return drafts.map((draft) => {
    const { position, body, end } = draft
    const { time } = position
    sums = addToSums(sums, draft)
    const gap_ms = msBetween(busyUntil, time)
    const timing = {
      time: isoFromNs(time),
      since_previous_ms: msBetween(previous, time),
      gap_ms: gap_ms > 0 && gap_ms >= gap_min_ms ? gap_ms : null,
      running: toRunningTotals(sums, msBetween(first, time)),
    }
    previous = time
    busyUntil = latest(busyUntil, end ?? time)
    return { position, entry: { ...timing, ...body } }
  })
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
