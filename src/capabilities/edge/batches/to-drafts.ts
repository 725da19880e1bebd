import type {
  CorrelationDraft,
  EventDraft,
  IngestRecords,
  LinkDraft,
  TraceDraft,
} from '../../../model/ingest-records.ts'
import type { Pricing } from '../../records/pricing/index.ts'
import type {
  CorrelationRecord,
  EventRecord,
  LinkRecord,
  TraceRecord,
} from '../../records/schema/index.ts'
import {
  addW3c,
  conversationOf,
  type DraftContext,
  orEmpty,
  textOf,
  toPairs,
} from './draft-context.ts'
import { observationDraft } from './observation-draft.ts'
import { inSlices, type ReadRecords } from './read-records.ts'
import type { W3cContext } from './w3c-context.ts'

/** Properties of a batch beside its records. */
type BatchAbout = {
  project_id: string
  received_at_ms: number
  w3c: W3cContext
  pricing: Pricing
}

/** Maps the valid records of a batch to drafts. The same batch always gives the same drafts. */
export async function toDrafts(
  { records }: ReadRecords,
  { w3c, pricing, project_id, received_at_ms }: BatchAbout,
): Promise<IngestRecords> {
  const context: DraftContext = {
    project_id,
    received_at: BigInt(received_at_ms) * 1_000_000n,
    pricing,
    traces: new Map(records.traces.map((trace) => [trace.trace_id, trace])),
    conversations: new Map(),
    drafts: { traces: [], observations: [], events: [], links: [], correlations: [] },
  }
  await addTraces(records.traces, context)
  await addObservations(records.observations, context)
  await addEvents(records.events, context)
  await addLinks(records.links, records.observations, context)
  await each(records.correlations, (record) => {
    context.drafts.correlations.push(correlationDraft(record, context))
  })
  await addW3cOfBatch(w3c, context)
  return context.drafts
}

type Records = ReadRecords['records']

function each<Item>(items: readonly Item[], step: (item: Item) => void): Promise<void> {
  return inSlices(items.length, (index) => {
    const item = items[index]
    if (item !== undefined) step(item)
  })
}

function addTraces(records: Records['traces'], context: DraftContext): Promise<void> {
  return each(records, (record) => {
    const draft = traceDraft(record, context)
    context.drafts.traces.push(draft)
    addW3c(context, record, { trace_id: draft.trace_id, observation_id: '', time: draft.time })
  })
}

function addObservations(records: Records['observations'], context: DraftContext): Promise<void> {
  return each(records, (record) => {
    context.drafts.observations.push(observationDraft(record, context))
    const { trace_id, observation_id, start_time } = record
    addW3c(context, record, { trace_id, observation_id, time: start_time })
  })
}

function addEvents(records: readonly EventRecord[], context: DraftContext): Promise<void> {
  const places = new Map<string, number>()
  return each(records, (record) => {
    if (record.event_id) return context.drafts.events.push(eventDraft(record, context, 0))
    const siblings = `${record.trace_id} ${record.time} ${record.observation_id ?? ''}`
    const place = places.get(siblings) ?? 0
    places.set(siblings, place + 1)
    return context.drafts.events.push(eventDraft(record, context, place))
  })
}

async function addLinks(
  records: readonly LinkRecord[],
  observations: Records['observations'],
  context: DraftContext,
): Promise<void> {
  if (records.length === 0) return
  const starts = new Map<string, bigint>()
  await each(observations, ({ trace_id, observation_id, start_time }) => {
    starts.set(`${trace_id} ${observation_id}`, start_time)
  })
  await each(records, (record) => {
    const start = starts.get(`${record.trace_id} ${record.observation_id}`)
    context.drafts.links.push(linkDraft(record, context, start))
  })
}

/** Adds the W3C fields of the batch to each trace in it. */
async function addW3cOfBatch(w3c: W3cContext, context: DraftContext): Promise<void> {
  if (w3c.traceparent === '' && w3c.tracestate === '' && w3c.baggage === '') return
  const { drafts, received_at } = context
  const traces = new Set<string>()
  for (const { trace_id } of drafts.traces) traces.add(trace_id)
  for (const { trace_id } of drafts.observations) traces.add(trace_id)
  for (const { trace_id } of drafts.events) traces.add(trace_id)
  for (const { trace_id } of drafts.links) traces.add(trace_id)
  await each([...traces], (trace_id) => {
    addW3c(context, w3c, { trace_id, observation_id: '', time: received_at })
  })
}

/** Maps a trace record to a draft. */
function traceDraft(record: TraceRecord, context: DraftContext): TraceDraft {
  const { conversation_id, external_id } = conversationOf(context, orEmpty(record.conversation_id))
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    time: record.time ?? context.received_at,
    name: orEmpty(record.name),
    source: 'api',
    task_id: orEmpty(record.task_id),
    task_name: orEmpty(record.task_name),
    conversation_id,
    conversation_external_id: external_id ?? '',
    user_id: orEmpty(record.user_id),
    environment: orEmpty(record.environment),
    release: orEmpty(record.release),
    input: textOf(record.input),
    output: textOf(record.output),
    metadata: toPairs(record.metadata),
  }
}

/** Maps an event record to a draft; `place` is its index among siblings of the same time. */
function eventDraft(record: EventRecord, context: DraftContext, place: number): EventDraft {
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    observation_id: orEmpty(record.observation_id),
    event_id: record.event_id || `${record.time}-${place}`,
    time: record.time,
    name: record.name,
    level: orEmpty(record.level),
    source: 'api',
    body: textOf(record.body),
    attributes: toPairs(record.attributes),
  }
}

/** Maps a link record to a draft; `start` is the start of its observation, if the batch has it. */
function linkDraft(
  record: LinkRecord,
  context: DraftContext,
  start: bigint | undefined,
): LinkDraft {
  const linked_observation_id = orEmpty(record.linked_observation_id)
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    observation_id: record.observation_id,
    link_id: record.link_id || `${record.linked_trace_id}-${linked_observation_id}`,
    time: record.time ?? start ?? context.received_at,
    linked_trace_id: record.linked_trace_id,
    linked_observation_id,
    source: 'api',
    attributes: toPairs(record.attributes),
  }
}

/** Maps a correlation record to a draft. */
function correlationDraft(record: CorrelationRecord, context: DraftContext): CorrelationDraft {
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    observation_id: orEmpty(record.observation_id),
    correlation_type: record.correlation_type,
    correlation_value: record.correlation_value,
    time: record.time ?? context.received_at,
    source: 'api',
    metadata: toPairs(record.metadata),
  }
}
