import { BoundedCache } from '../../../../kernel/bounded-cache.ts'
import { conversationIdFrom } from '../../../../kernel/ids.ts'
import type { IngestRecords } from '../../../../model/ingest-records.ts'
import type { OtlpDataPoint, OtlpGroup, OtlpLogRecord, OtlpSpan } from '../contract.ts'
import { withoutLoggedCall } from '../sessions/coding-agents.ts'
import { placeLog, recordOfPoint } from '../sessions/place-log.ts'
import { compileContract } from './contract-compiler.ts'
import { logEvent, spanEvents, spanLinks } from './event-drafts.ts'
import { createKeyPlans } from './key-plans.ts'
import { mapSpan } from './map-span.ts'
import { createMappedFrom } from './mapped-from.ts'
import type { MappedRequest, MapperOptions, OtlpMapper } from './mapper-contract.ts'
import {
  type Conversation,
  type GroupStart,
  type MapperTools,
  type RequestContext,
  startGroup,
} from './read-span.ts'
import { createState } from './span-state.ts'
import {
  beginTrace,
  inheritOwnership,
  recordSpan,
  type TraceState,
  toTraceDraft,
  traceCorrelations,
} from './trace-records.ts'
import { globPattern } from './transforms.ts'

/** Makes a mapper that executes the contract. It serves any number of requests, one at a time. */
export function createMapper(options: MapperOptions): OtlpMapper {
  const compiled = compileContract(options.contract)
  const genAiEvents = options.contract.span_level.genai_events.map(globPattern)
  const tools: MapperTools = {
    compiled,
    plans: createKeyPlans(compiled),
    mappedFrom: createMappedFrom(compiled),
    options: { content_bytes_max: 1_048_576, ...options },
    state: createState(compiled.shape),
    conversationOf: createConversationCache(),
    isGenAiEvent: (name) => genAiEvents.some((one) => one.test(name)),
  }
  return {
    traces: (request, origin) => {
      const context = contextOf(origin)
      const traces = new Map<string, TraceState>()
      for (const group of request.groups) mapGroup(tools, context, group, traces)
      for (const trace of traces.values()) settleTrace(tools, context, trace)
      return { records: context.records, rejected: new Map() }
    },
    logs: (request, origin) => {
      const context = contextOf(origin)
      const rejected = new Map<string, number>()
      for (const group of request.groups) mapLogs(tools, context, group, rejected)
      return { records: context.records, rejected }
    },
    metrics: (request, origin) => {
      const context = contextOf(origin)
      const rejected = new Map<string, number>()
      for (const group of request.groups) mapMetrics(tools, context, group, rejected)
      return { records: context.records, rejected }
    },
  }
}

function contextOf(origin: MappedRequest): RequestContext {
  const records: IngestRecords = {
    traces: [],
    observations: [],
    events: [],
    links: [],
    correlations: [],
  }
  return { origin, received_at: BigInt(origin.received_at_ms) * 1_000_000n, records }
}

function mapGroup(
  tools: MapperTools,
  context: RequestContext,
  group: OtlpGroup<OtlpSpan>,
  traces: Map<string, TraceState>,
): void {
  const start = startGroup(tools, context, group)
  let trace: TraceState | undefined
  for (const item of group.items) {
    const span = withoutLoggedCall(item, group.scope.name)
    const mapped = mapSpan(tools, context, start, span)
    const { draft } = mapped
    if (trace === undefined || trace.first.trace_id !== span.trace_id) {
      trace = traces.get(span.trace_id) ?? beginTrace(draft, span.flags)
      traces.set(span.trace_id, trace)
    }
    recordSpan(trace, span, mapped)
    trace.trace ??= toTraceDraft(tools, context, draft)
    context.records.observations.push(draft)
    addParts(tools, context.records, draft, span)
  }
}

function addParts(
  tools: MapperTools,
  records: IngestRecords,
  place: { project_id: string; start_time: bigint },
  span: OtlpSpan,
): void {
  if (span.events.length > 0) {
    for (const event of spanEvents(tools, place, span)) records.events.push(event)
  }
  if (span.links.length > 0) {
    for (const link of spanLinks(tools, place, span)) records.links.push(link)
  }
}

function settleTrace(
  { compiled }: MapperTools,
  { origin, records }: RequestContext,
  trace: TraceState,
): void {
  if (trace.has_any !== trace.has_all) inheritOwnership(trace.drafts)
  if (trace.trace) records.traces.push(trace.trace)
  const drafts = traceCorrelations(compiled.contract, trace, origin.baggage ?? '')
  for (const draft of drafts) records.correlations.push(draft)
}

function mapLogs(
  tools: MapperTools,
  context: RequestContext,
  group: OtlpGroup<OtlpLogRecord>,
  rejected: Map<string, number>,
): void {
  const { origin, received_at, records } = context
  const { project_id } = origin
  let start: GroupStart | undefined
  for (const item of group.items) {
    const { isGenAiEvent } = tools
    const placed = placeLog(item, group, { project_id, received_at, isGenAiEvent })
    if (placed.kind === 'refused') countOne(rejected, placed.reason)
    else if (placed.kind === 'span') {
      start ??= startGroup(tools, context, group)
      records.observations.push(mapSpan(tools, context, start, placed.span).draft)
    } else {
      const { kind: _kind, record, ...named } = placed
      records.events.push(logEvent(tools, { project_id, received_at, ...named }, record))
    }
  }
}

function mapMetrics(
  tools: MapperTools,
  { origin, received_at, records }: RequestContext,
  { resource, items }: OtlpGroup<OtlpDataPoint>,
  rejected: Map<string, number>,
): void {
  const { project_id } = origin
  for (const point of items) {
    const record = recordOfPoint(point, resource, { project_id, received_at })
    if (record === undefined) countOne(rejected, 'unknown_metric')
    else {
      const event = { project_id, received_at, name: record.event_name }
      records.events.push(logEvent(tools, event, record))
    }
  }
}

function countOne(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1)
}

/** Maximum conversations remembered. A new one costs a hash. */
const conversations_max = 10_000

function createConversationCache(): MapperTools['conversationOf'] {
  const known = new BoundedCache<string, Conversation>(conversations_max)
  const noConversation: Conversation = { conversation_id: '', external_id: '' }
  return (projectId, value) => {
    if (value === '') return noConversation
    const key = `${projectId} ${value}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const { conversation_id, external_id } = conversationIdFrom(projectId, value)
    const conversation = { conversation_id, external_id: external_id ?? '' }
    known.set(key, conversation)
    return conversation
  }
}
