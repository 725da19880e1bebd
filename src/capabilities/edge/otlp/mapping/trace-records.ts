import type {
  CorrelationDraft,
  ObservationDraft,
  TraceDraft,
} from '../../../../model/ingest-records.ts'
import { knownOf, resolveOwners } from '../../../records/ownership/index.ts'
import type { OtlpSpan } from '../contract.ts'
import type { MappingContract } from './contracts/contract-shape.ts'
import type { MappedSpan } from './map-span.ts'
import type { MapperTools, RequestContext } from './read-span.ts'
import { contentIn, isPresent, textIn } from './span-state.ts'
import { cutText } from './value-text.ts'

/** State of one trace of the request while its spans are mapped. */
export type TraceState = {
  /** The root, else the first span. */
  first: ObservationDraft
  flags: number
  has_root: boolean
  drafts: ObservationDraft[]
  trace_state: string
  baggage: string
  /**
   * Ownership fields that any span has, and that all spans have, as bits. If both are equal, no
   * span needs to inherit.
   */
  has_any: number
  has_all: number
  trace: TraceDraft | undefined
}

export function beginTrace(draft: ObservationDraft, flags: number): TraceState {
  const has_root = draft.parent_observation_id === ''
  const empty = { trace_state: '', baggage: '', has_any: 0, has_all: -1, trace: undefined }
  return { first: draft, flags, has_root, drafts: [], ...empty }
}

/** Records the trace-level fields of one span; the first value counts. */
export function recordSpan(
  trace: TraceState,
  span: OtlpSpan,
  { draft, reading }: MappedSpan,
): void {
  trace.drafts.push(draft)
  const bits = knownOf(draft)
  trace.has_any |= bits
  trace.has_all &= bits
  if (!trace.has_root && draft.parent_observation_id === '') {
    trace.first = draft
    trace.flags = span.flags
    trace.has_root = true
  }
  if (trace.trace_state === '') trace.trace_state = span.trace_state
  if (trace.baggage === '') trace.baggage = reading.baggage
}

const value_chars_max = 2_048

/** Returns the correlations of a trace, one of each kind. */
export function traceCorrelations(
  { w3c_propagation }: MappingContract,
  trace: TraceState,
  baggage: string,
): CorrelationDraft[] {
  const { first } = trace
  const hex = first.trace_id.replaceAll('-', '')
  const flags = (trace.flags & 0xff).toString(16).padStart(2, '0')
  const values = [
    [w3c_propagation.traceparent, `00-${hex}-${first.observation_id}-${flags}`],
    [w3c_propagation.tracestate, trace.trace_state],
    [w3c_propagation.baggage, trace.baggage === '' ? baggage : trace.baggage],
  ] as const
  const drafts: CorrelationDraft[] = []
  for (const [target, value] of values) {
    if (value === '') continue
    drafts.push({
      project_id: first.project_id,
      trace_id: first.trace_id,
      observation_id: first.observation_id,
      correlation_type: target.slice(target.indexOf('=') + 1),
      correlation_value: value.slice(0, value_chars_max).toWellFormed(),
      time: first.start_time,
      source: 'otlp',
      metadata: [],
    })
  }
  return drafts
}

/** Returns the record of the trace itself, if a span has its name, input or output. */
export function toTraceDraft(
  { state, compiled, options }: MapperTools,
  { origin }: RequestContext,
  draft: ObservationDraft,
): TraceDraft | undefined {
  const f = compiled.field
  const isSaid =
    isPresent(state, f.trace_name) ||
    isPresent(state, f.trace_input) ||
    isPresent(state, f.trace_output)
  if (!isSaid) return undefined
  return {
    project_id: origin.project_id,
    trace_id: draft.trace_id,
    time: draft.start_time,
    name: textIn(state, f.trace_name),
    source: 'otlp',
    task_id: draft.task_id,
    task_name: draft.task_name,
    conversation_id: draft.conversation_id,
    conversation_external_id: draft.conversation_external_id,
    user_id: draft.user_id,
    environment: draft.environment,
    release: draft.release,
    input: cutText(contentIn(state, f.trace_input), options.content_bytes_max),
    output: cutText(contentIn(state, f.trace_output), options.content_bytes_max),
    metadata: draft.metadata,
  }
}

/**
 * Fills in the task, conversation, user and release of spans that have an ancestor in the request
 * which knows them. Ancestors of other requests are found when the spans are stored.
 */
export function inheritOwnership(drafts: readonly ObservationDraft[]): void {
  for (const { row, owner } of resolveOwners(drafts).changes) Object.assign(row, owner)
}
