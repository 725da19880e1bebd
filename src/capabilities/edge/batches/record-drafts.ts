import type {
  CorrelationDraft,
  EventDraft,
  LinkDraft,
  TraceDraft,
} from '../../../model/ingest-records.ts'
import type {
  CorrelationRecord,
  EventRecord,
  LinkRecord,
  TraceRecord,
} from '../../records/schema/index.ts'
import { conversationOf, type DraftContext, pairsOf, shown, textOf } from './draft-context.ts'

/** A trace as it is stored. */
export function traceDraft(record: TraceRecord, context: DraftContext): TraceDraft {
  const { conversation_id, external_id } = conversationOf(context, shown(record.conversation_id))
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    time: record.time ?? context.received_at,
    name: shown(record.name),
    source: 'api',
    task_id: shown(record.task_id),
    task_name: shown(record.task_name),
    conversation_id,
    conversation_external_id: external_id ?? '',
    user_id: shown(record.user_id),
    environment: shown(record.environment),
    release: shown(record.release),
    input: textOf(record.input),
    output: textOf(record.output),
    metadata: pairsOf(record.metadata),
  }
}

/** An event as it is stored; `place` counts its siblings of the same time that came before it. */
export function eventDraft(record: EventRecord, context: DraftContext, place: number): EventDraft {
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    observation_id: shown(record.observation_id),
    event_id: record.event_id || `${record.time}-${place}`,
    time: record.time,
    name: record.name,
    level: shown(record.level),
    source: 'api',
    body: textOf(record.body),
    attributes: pairsOf(record.attributes),
  }
}

/** A link as it is stored; `start` is when its observation began, where the batch says so. */
export function linkDraft(
  record: LinkRecord,
  context: DraftContext,
  start: bigint | undefined,
): LinkDraft {
  const linked_observation_id = shown(record.linked_observation_id)
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    observation_id: record.observation_id,
    link_id: record.link_id || `${record.linked_trace_id}-${linked_observation_id}`,
    time: record.time ?? start ?? context.received_at,
    linked_trace_id: record.linked_trace_id,
    linked_observation_id,
    source: 'api',
    attributes: pairsOf(record.attributes),
  }
}

/** A correlation as it is stored. */
export function correlationDraft(
  record: CorrelationRecord,
  context: DraftContext,
): CorrelationDraft {
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    observation_id: shown(record.observation_id),
    correlation_type: record.correlation_type,
    correlation_value: record.correlation_value,
    time: record.time ?? context.received_at,
    source: 'api',
    metadata: pairsOf(record.metadata),
  }
}
