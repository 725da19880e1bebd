import { spanKey, type ToolUse } from '../detection/reconstruction/index.ts'
import type { TimelineRow } from '../storage/index.ts'
import { type Cut, type Draft, errorOf, msBetween } from './timeline-drafts.ts'
import type { TimelineEntry } from './timeline-entry.ts'

/** The kept part of an observation that may ask for tools, bring results or run a tool. */
type SeenRow = {
  observation_id: string
  trace_id: string
  start_time: bigint
  end_time: bigint
  /** How the tool did that ran on this observation; undefined for a model call. */
  run: ToolRun | undefined
}

type ToolRun = { content: CutText } & Pick<ResultBody, 'status' | 'error' | 'execution_ms'>
type CutText = ReturnType<Cut>
type ResultBody = Extract<TimelineEntry, { role: 'tool_result' }>

export type TimelineTools = {
  /** Takes a model call or the observation of a tool. */
  add(row: TimelineRow): void
  /** Returns the entries of tool calls and results, in no order. */
  drafts(tools: readonly ToolUse[]): Draft[]
}

/**
 * Makes the entries of tool calls and their results. Which result belongs to which call is what the
 * reconstruction of the task says. A use of a tool whose observation is not in the timeline is left
 * out; so is a result, and then its call reads as one without a result.
 */
export function createTimelineTools(cut: Cut): TimelineTools {
  const seen = new Map<string, SeenRow>()
  return {
    add(row) {
      const { observation_id, trace_id, start_time, end_time } = row
      const run = row.type === 'tool' ? toolRunOf(row, cut) : undefined
      seen.set(spanKey(row), { observation_id, trace_id, start_time, end_time, run })
    },
    drafts(tools) {
      const places = newPlaces()
      for (const use of tools) {
        const asker = seen.get(spanKey(use.asked_by))
        const answerer = use.answered_by === null ? undefined : seen.get(spanKey(use.answered_by))
        const isUnasked = use.orphan === 'result' && asker?.run === undefined
        const shown: Shown = { use, answerer, isUnasked, cut }
        if (asker !== undefined && !isUnasked) placeCall(places, asker, shown)
        if (answerer !== undefined) placeResult(places, answerer, shown)
      }
      return draftsOf(places)
    },
  }
}

type Shown = { use: ToolUse; answerer: SeenRow | undefined; isUnasked: boolean; cut: Cut }

type Unplaced = Pick<Draft, 'body' | 'end'> & { row: SeenRow; time: bigint }

/** Entries by where they are in an observation. */
type Places = {
  drafts: Draft[]
  /** Results that a model call's request brought; they come before its entry, in this order. */
  before: Map<SeenRow, Unplaced[]>
  /** How many tools a model call's answer asked for: they come after the entry of the call. */
  after: Map<SeenRow, number>
}

function newPlaces(): Places {
  return { drafts: [], before: new Map(), after: new Map() }
}

/** The slots of a tool's own observation; those of an answer's calls count from 1 as well. */
const slots = { call: 1, result: 2 } as const

function placeCall(places: Places, row: SeenRow, shown: Shown): void {
  const { use } = shown
  const unplaced = { row, time: use.asked_at, ...callOf(shown) }
  if (row.run !== undefined) places.drafts.push(placedAt(unplaced, slots.call))
  else if (use.asked_at < row.end_time || use.step === null) placeBefore(places, unplaced)
  else {
    const slot = (places.after.get(row) ?? 0) + 1
    places.after.set(row, slot)
    places.drafts.push(placedAt(unplaced, slot))
  }
}

function placeResult(places: Places, row: SeenRow, shown: Shown): void {
  const { use } = shown
  const unplaced = { row, time: use.answered_at ?? row.start_time, body: resultOf(row, shown) }
  if (row.run === undefined) placeBefore(places, unplaced)
  else places.drafts.push(placedAt(unplaced, slots.result))
}

function placeBefore({ before }: Places, unplaced: Unplaced): void {
  const known = before.get(unplaced.row)
  if (known === undefined) before.set(unplaced.row, [unplaced])
  else known.push(unplaced)
}

function draftsOf({ drafts, before }: Places): Draft[] {
  for (const brought of before.values()) {
    for (const [index, one] of brought.entries()) {
      drafts.push(placedAt(one, index - brought.length))
    }
  }
  return drafts
}

function placedAt({ row, time, ...rest }: Unplaced, slot: number): Draft {
  const { start_time: start, observation_id: id } = row
  return { position: { time, phase: 1, start, id, slot }, ...rest }
}

function callOf({ use, answerer, cut }: Shown): Pick<Draft, 'body' | 'end'> {
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
      orphan: answerer === undefined,
      latency_ms: answered_at === null ? null : msBetween(use.asked_at, answered_at),
      result_observation_id: answerer?.observation_id ?? null,
      result_trace_id: answerer?.trace_id ?? null,
    },
  }
}

function resultOf(row: SeenRow, { use, isUnasked, cut }: Shown): Draft['body'] {
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
