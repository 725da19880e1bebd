import { isCountedCall } from '../../model/observation.ts'
import { spanKey, type TaskRun, type ToolUse } from '../detection/reconstruction/index.ts'
import type { TimelineRow } from '../storage/index.ts'
import type { TaskEventRow } from './store.ts'
import {
  type Cut,
  callDraft,
  changeDraft,
  type Draft,
  errorOf,
  isModelCall,
  isShownOperation,
  msBetween,
  operationDraft,
} from './timeline-drafts.ts'
import { comparePositions, order, type TimelineEntry } from './timeline-entry.ts'
import { addTotals, type PlacedEntry, type TimelineBase } from './timeline-totals.ts'

type TimelineBuilder = {
  /** Takes the task's observations, ordered by start_time and observation_id, in any portions. */
  add(rows: readonly TimelineRow[]): void
  /**
   * Returns the timeline in order: model calls and operations, tool calls joined with their results
   * by the task's run, and the task's own state changes; without the part before the rows, if `base`
   * says what it had.
   */
  finish(
    run: Pick<TaskRun, 'tools'>,
    events: readonly TaskEventRow[],
    base?: TimelineBase,
  ): PlacedEntry[]
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
    if (isCountedCall(row) || row.type === 'tool') tools.add(row)
  }
  return {
    add: (rows) => rows.forEach(addRow),
    finish(run, events, base) {
      const all = [...drafts, ...tools.drafts(run.tools), ...events.map(changeDraft)]
      all.sort((a, b) => comparePositions(a.position, b.position))
      return addTotals(all, options.gap_min_ms, base)
    },
  }
}

/** The kept fields of an observation that may request tools, bring results or run a tool. */
type SeenRow = {
  observation_id: string
  trace_id: string
  start_time: bigint
  end_time: bigint
  /** Outcome of the tool that this observation ran; undefined for a model call. */
  run: ToolRun | undefined
}

type ToolRun = { content: CutText } & Pick<ResultBody, 'status' | 'error' | 'execution_ms'>
type CutText = ReturnType<Cut>
type ResultBody = Extract<TimelineEntry, { role: 'tool_result' }>

type TimelineTools = {
  /** Adds a model call or the observation of a tool. */
  add(row: TimelineRow): void
  /** Returns the entries of tool calls and results, unsorted. */
  drafts(tools: readonly ToolUse[]): Draft[]
}

/**
 * Builds the entries of tool calls and their results; the reconstruction of the task pairs calls
 * with results. Calls and results whose observation is not in the timeline are left out, and a call
 * without its result is then marked as an orphan.
 */
function createTimelineTools(cut: Cut): TimelineTools {
  const seen = new Map<string, SeenRow>()
  return {
    add(row) {
      const { observation_id, trace_id, start_time, end_time } = row
      const run = row.type === 'tool' ? toolRunOf(row, cut) : undefined
      seen.set(spanKey(row), { observation_id, trace_id, start_time, end_time, run })
    },
    drafts(tools) {
      const entries = newEntries()
      for (const use of tools) {
        const asker = seen.get(spanKey(use.asked_by))
        const answerer = use.answered_by === null ? undefined : seen.get(spanKey(use.answered_by))
        const isUnasked = use.orphan === 'result' && asker?.run === undefined
        const seenUse: SeenUse = { use, answerer, isUnasked, cut }
        if (asker !== undefined && !isUnasked) placeCall(entries, asker, seenUse)
        if (answerer !== undefined) placeResult(entries, answerer, seenUse)
      }
      return draftsOf(entries)
    },
  }
}

type SeenUse = { use: ToolUse; answerer: SeenRow | undefined; isUnasked: boolean; cut: Cut }

type Unplaced = Pick<Draft, 'body' | 'end'> & { row: SeenRow; time: bigint; asked_at: bigint }

/** Entries by their position in an observation. */
type ToolEntries = {
  drafts: Draft[]
  /**
   * Results that a model call's request brought; they come before its entry, in the order in which
   * their tool calls were asked for.
   */
  before: Map<SeenRow, Unplaced[]>
  /** Number of tools that a model call's answer requested; they come after the call's entry. */
  after: Map<SeenRow, number>
}

function newEntries(): ToolEntries {
  return { drafts: [], before: new Map(), after: new Map() }
}

/** Slots in a tool's own observation. The calls that an answer requests also count from 1. */
const slots = { call: 1, result: 2 } as const

function placeCall(entries: ToolEntries, row: SeenRow, seenUse: SeenUse): void {
  const { use } = seenUse
  const { asked_at } = use
  const unplaced = { row, time: asked_at, asked_at, ...callOf(seenUse) }
  if (row.run !== undefined) entries.drafts.push(placeAt(unplaced, slots.call))
  else if (use.asked_at < row.end_time || use.step === null) placeBefore(entries, unplaced)
  else {
    const slot = (entries.after.get(row) ?? 0) + 1
    entries.after.set(row, slot)
    entries.drafts.push(placeAt(unplaced, slot))
  }
}

function placeResult(entries: ToolEntries, row: SeenRow, seenUse: SeenUse): void {
  const { use } = seenUse
  const time = use.answered_at ?? row.start_time
  const unplaced = { row, time, asked_at: use.asked_at, body: resultOf(row, seenUse) }
  if (row.run === undefined) placeBefore(entries, unplaced)
  else entries.drafts.push(placeAt(unplaced, slots.result))
}

function placeBefore({ before }: ToolEntries, unplaced: Unplaced): void {
  const known = before.get(unplaced.row)
  if (known === undefined) before.set(unplaced.row, [unplaced])
  else known.push(unplaced)
}

function draftsOf({ drafts, before }: ToolEntries): Draft[] {
  for (const unsorted of before.values()) {
    const brought = unsorted.toSorted((a, b) => order(a.asked_at, b.asked_at))
    for (const [index, one] of brought.entries()) {
      drafts.push(placeAt(one, index - brought.length))
    }
  }
  return drafts
}

function placeAt({ row, time, asked_at: _, ...rest }: Unplaced, slot: number): Draft {
  const { start_time: start, observation_id: id } = row
  return { position: { time, phase: 1, start, id, slot }, ...rest }
}

function callOf({ use, answerer, cut }: SeenUse): Pick<Draft, 'body' | 'end'> {
  const answered_at = answerer === undefined ? null : use.answered_at
  const { text, is_cut } = cut(use.arguments ?? '')
  return {
    ...(answered_at !== null && { end: answered_at }),
    body: {
      role: 'tool_call',
      ...use.asked_by,
      tool_call_id: use.tool_call_id,
      tool_name: use.name,
      arguments: text,
      is_cut,
      read_from: use.read_from ?? 'call',
      orphan: answerer === undefined,
      latency_ms: answered_at === null ? null : msBetween(use.asked_at, answered_at),
      result_observation_id: answerer?.observation_id ?? null,
      result_trace_id: answerer?.trace_id ?? null,
    },
  }
}

function resultOf(row: SeenRow, { use, isUnasked, cut }: SeenUse): Draft['body'] {
  const { text, is_cut } = row.run?.content ?? cut(use.result ?? '')
  const latency_ms = use.answered_at === null ? null : msBetween(use.asked_at, use.answered_at)
  return {
    role: 'tool_result',
    observation_id: row.observation_id,
    trace_id: row.trace_id,
    tool_call_id: use.tool_call_id,
    tool_name: isUnasked ? null : use.name,
    content: text,
    is_cut,
    orphan: isUnasked,
    latency_ms: isUnasked ? null : latency_ms,
    execution_ms: row.run?.execution_ms ?? null,
    status: row.run?.status ?? null,
    error: row.run?.error ?? null,
    call_observation_id: isUnasked ? null : use.asked_by.observation_id,
    call_trace_id: isUnasked ? null : use.asked_by.trace_id,
  }
}

function toolRunOf(row: TimelineRow, cut: Cut): ToolRun {
  return {
    content: cut(row.tool_results[0]?.content ?? ''),
    status: row.status,
    error: errorOf(row),
    execution_ms: msBetween(row.start_time, row.end_time),
  }
}
