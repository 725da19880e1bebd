import { nanoDollarsFrom, shownDollars } from '../../kernel/dollars.ts'
import { isoFromNs } from '../../kernel/time.ts'
import { shownCallCost } from '../../model/call-cost.ts'
import type { TimelineRow } from '../storage/index.ts'
import type { TaskEventRow } from './store.ts'
import type { TimelineEntry, TimelinePosition } from './timeline-entry.ts'

/** The fields of an entry that do not depend on the other entries. */
type EntryBody = WithoutTiming<TimelineEntry>
type WithoutTiming<E> = E extends TimelineEntry
  ? Omit<E, 'time' | 'since_previous_ms' | 'gap_ms' | 'running'>
  : never

/** An entry before its timing and running totals are known. It keeps only the fields it shows. */
export type Draft = {
  position: TimelinePosition
  /** End of the call or operation; left out for a moment in time. */
  end?: bigint
  body: EntryBody
  /** Amounts that it adds to the running totals. */
  call?: { failed: boolean; tokens: number; nano_dollars: bigint }
}

/** Returns the entry of a model call. */
export function callDraft(row: ModelCallRow): Draft {
  const { type } = row
  const tokens = tokensOf(row)
  const failed = row.status === 'error'
  return {
    position: positionOf(row, row.start_time, 0),
    end: row.end_time,
    // A call that another row counts is shown, and adds nothing.
    ...(row.counted_with === '' && {
      call: { failed, tokens: tokens.total, nano_dollars: nanoDollarsFrom(row.cost_usd ?? '0') },
    }),
    body: {
      role: 'model_call',
      observation_id: row.observation_id,
      trace_id: row.trace_id,
      end_time: isoFromNs(row.end_time),
      type,
      name: row.name,
      status: row.status,
      outcome: row.outcome,
      status_code: row.status_code,
      error: errorOf(row),
      provider: row.provider,
      model: row.model === '' ? row.model_requested : row.model,
      streamed: row.streamed,
      finish_reason: row.finish_reason,
      latency_ms: msBetween(row.start_time, row.end_time),
      time_to_first_token_ms: row.time_to_first_token_ms,
      tokens,
      cost_usd: row.cost_usd === null ? null : shownDollars(row.cost_usd),
      ...shownCallCost(row),
      counted_with: row.counted_with,
    },
  }
}

type TypedRow<Type extends TimelineRow['type']> = TimelineRow & { type: Type }
export type ModelCallRow = TypedRow<'generation' | 'embedding'>

export function isModelCall(row: TimelineRow): row is ModelCallRow {
  return row.type === 'generation' || row.type === 'embedding'
}

/** Returns the entry of an operation. Operations that enclose others do not close gaps. */
export function operationDraft(row: OperationRow): Draft {
  const { type, start_time, end_time } = row
  const encloses = type === 'agent' || type === 'chain' || type === 'span'
  return {
    position: positionOf(row, start_time, 0),
    ...(!encloses && { end: end_time }),
    body: {
      role: 'operation',
      observation_id: row.observation_id,
      trace_id: row.trace_id,
      end_time: isoFromNs(end_time),
      type,
      name: row.name,
      agent_name: row.agent_name,
      status: row.status,
      error: errorOf(row),
      latency_ms: msBetween(start_time, end_time),
    },
  }
}

type OperationRow = TypedRow<Extract<TimelineEntry, { role: 'operation' }>['type']>

/** Plain spans are the application's work around its agents, so they are shown only on failure. */
export function isShownOperation(row: TimelineRow): row is OperationRow {
  if (isModelCall(row) || row.type === 'tool') return false
  return row.type !== 'span' || row.status === 'error'
}

/** Returns the entry of a state change of the task. */
export function changeDraft(event: TaskEventRow): Draft {
  const time = BigInt(Date.parse(event.at)) * nsPerMs
  return {
    position: { time, phase: event.kind === 'created' ? 0 : 2, start: 0n, id: event.id, slot: 0 },
    body: {
      role: 'state_change',
      event_id: event.id,
      change: event.kind,
      actor: { kind: event.actor_kind, id: event.actor_id },
      note: event.note,
    },
  }
}

/** Cuts a text to the length that a timeline shows. */
export type Cut = (text: string) => { text: string; is_cut: boolean }

/** Returns the milliseconds between two instants, to the microsecond; 0 when `to` is not later. */
export function msBetween(from: bigint, to: bigint): number {
  return to > from ? Number((to - from) / 1000n) / 1000 : 0
}

const nsPerMs = 1_000_000n

function positionOf(row: TimelineRow, time: bigint, slot: number): TimelinePosition {
  return { time, phase: 1, start: row.start_time, id: row.observation_id, slot }
}

/** Returns the error of an observation, or null. */
export function errorOf(row: TimelineRow): { type: string; message: string } | null {
  if (row.status !== 'error' && row.error_type === '' && row.error_message === '') return null
  return { type: row.error_type, message: row.error_message }
}

function tokensOf(row: TimelineRow) {
  const buckets = {
    input_uncached: row.input_uncached_tokens,
    cache_read: row.cache_read_tokens,
    cache_write: row.cache_write_tokens,
    output_visible: row.output_visible_tokens,
    reasoning: row.reasoning_tokens,
  }
  const total = Object.values(buckets).reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0)
  return { ...buckets, total, source: row.usage_source }
}
