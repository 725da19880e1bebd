import type { TraceDraft } from '../../../model/ingest-records.ts'
import type { Observation, ToolCall, ToolResult } from '../../../model/observation.ts'
import { ByteReader, MalformedRow } from '../../../platform/columnar/row-binary/index.ts'

/** The columns of roll-ups. */
export type ObservationHead = Pick<
  Observation,
  | 'project_id'
  | 'trace_id'
  | 'observation_id'
  | 'parent_observation_id'
  | 'type'
  | 'start_time'
  | 'end_time'
  | 'status'
  | 'source'
  | 'task_id'
  | 'task_name'
  | 'task_implicit'
  | 'conversation_id'
  | 'conversation_external_id'
  | 'user_id'
  | 'environment'
  | 'release'
  | 'provider'
  | 'model_requested'
  | 'model'
  | 'input_uncached_tokens'
  | 'cache_read_tokens'
  | 'cache_write_tokens'
  | 'output_visible_tokens'
  | 'reasoning_tokens'
  | 'usage_source'
  | 'cost_usd'
  | 'price_partial'
  | 'response_id'
  | 'counted_with'
> & {
  /** The Kubernetes cluster that its span names; none or empty for others. */
  cluster_name?: string
}

/** Attribute of the cluster of a span. */
const clusterAttribute = Buffer.from('resource.k8s.cluster.name')

/** One reader, with its cache of words, for all rows: reading is synchronous. */
const reader = new ByteReader()

/**
 * Reads the head of the observation encoded at `at`. `cost_usd` has nine digits after the point.
 * Throws MalformedRow.
 */
export function readObservationHead(bytes: Buffer, at: number): ObservationHead {
  reader.moveTo(bytes, at)
  const head = headFrom(reader)
  skipToAttributes(reader)
  head.cluster_name = reader.valueOf(clusterAttribute)
  return head
}

/** Passes the columns between the head and the attributes, which are most of the bytes. */
function skipToAttributes(from: ByteReader): void {
  for (let left = from.varint(); left > 0; left--) {
    from.skipStrings(1)
    from.skip(8)
  }
  from.skipStrings(1)
  skipNullable(from)
  skipNullable(from)
  from.skipStrings(1)
  from.skip(4)
  from.skipStrings(10)
  from.skip(1)
  from.skipStrings(3)
  skipNullable(from)
  from.skip(16)
  from.skipStrings(3)
  from.skipStrings(3 * from.varint())
  from.skipStrings(2 * from.varint())
}

/** Passes a nullable value of 8 bytes. */
function skipNullable(from: ByteReader): void {
  if (!from.bool()) from.skip(8)
}

/** Returns the end of the columns of roll-ups before format 2. Throws MalformedRow. */
export function endOfFirstHead(bytes: Buffer, at: number): number {
  reader.moveTo(bytes, at)
  firstHeadFrom(reader)
  return reader.at
}

/** Reads a whole observation. Throws MalformedRow. */
export function readObservation(bytes: Buffer): Observation {
  reader.moveTo(bytes, 0)
  const row = {
    ...headFrom(reader),
    ...usageFrom(reader),
    ...factsFrom(reader),
    input: reader.string(),
    output: reader.string(),
    tool_calls: listFrom(reader, toolCallFrom),
    tool_results: listFrom(reader, toolResultFrom),
    attributes: reader.record(),
    metadata: reader.record(),
    message_id: reader.string(),
  }
  if (reader.at !== bytes.length)
    throw new MalformedRow(`the row continues after byte ${reader.at}`)
  return row
}

function headFrom(from: ByteReader): ObservationHead {
  const first = firstHeadFrom(from)
  return {
    ...first,
    price_partial: listFrom(from, wordFrom),
    response_id: from.string(),
    counted_with: from.string(),
  }
}

function firstHeadFrom(
  from: ByteReader,
): Omit<ObservationHead, 'price_partial' | 'response_id' | 'counted_with' | 'cluster_name'> {
  return {
    project_id: from.uuid(),
    trace_id: from.uuid(),
    observation_id: from.string(),
    parent_observation_id: from.string(),
    type: from.word() as Observation['type'],
    start_time: from.i64(),
    end_time: from.i64(),
    status: from.word() as Observation['status'],
    source: from.word() as Observation['source'],
    task_id: from.word(),
    task_name: from.word(),
    task_implicit: from.bool(),
    conversation_id: from.word(),
    conversation_external_id: from.word(),
    user_id: from.word(),
    environment: from.word(),
    release: from.word(),
    provider: from.word(),
    model_requested: from.word(),
    model: from.word(),
    input_uncached_tokens: from.u53OrNull(),
    cache_read_tokens: from.u53OrNull(),
    cache_write_tokens: from.u53OrNull(),
    output_visible_tokens: from.u53OrNull(),
    reasoning_tokens: from.u53OrNull(),
    usage_source: from.word() as Observation['usage_source'],
    cost_usd: from.decimal9OrNull(),
  }
}

function usageFrom(from: ByteReader) {
  return {
    usage_details: Object.fromEntries(listFrom(from, detailFrom)),
    service_tier: from.word(),
    cost_computed_usd: from.decimal9OrNull(),
    cost_reported_usd: from.decimal9OrNull(),
  }
}

function detailFrom(from: ByteReader): [name: string, tokens: number] {
  return [from.word(), from.u53()]
}

function wordFrom(from: ByteReader): string {
  return from.word()
}

function factsFrom(from: ByteReader) {
  return {
    name: from.string(),
    status_code: from.u32(),
    outcome: from.word() as Observation['outcome'],
    error_type: from.word(),
    error_message: from.string(),
    contract_version: from.word(),
    endpoint: from.word(),
    service_name: from.word(),
    agent_name: from.word(),
    span_kind: from.word() as Observation['span_kind'],
    level: from.word() as Observation['level'],
    content_state: from.word() as Observation['content_state'],
    streamed: from.bool(),
    finish_reason: from.word(),
    usage_semantics: from.word() as Observation['usage_semantics'],
    price_version: from.word(),
    time_to_first_token_ms: from.f64OrNull(),
    request_bytes: from.u53(),
    response_bytes: from.u53(),
    mapped_from: from.word(),
  }
}

function listFrom<Item>(from: ByteReader, itemFrom: (from: ByteReader) => Item): Item[] {
  const items: Item[] = []
  for (let left = from.varint(); left > 0; left--) items.push(itemFrom(from))
  return items
}

function toolCallFrom(from: ByteReader): ToolCall {
  return { id: from.string(), name: from.string(), arguments: from.string() }
}

function toolResultFrom(from: ByteReader): ToolResult {
  return { tool_call_id: from.string(), content: from.string() }
}

/** Reads the project and the trace of the event encoded at `at`. Throws MalformedRow. */
export function readEventTrace(
  bytes: Buffer,
  at: number,
): Pick<ObservationHead, 'project_id' | 'trace_id'> {
  reader.moveTo(bytes, at)
  return { project_id: reader.uuid(), trace_id: reader.uuid() }
}

/** A record of a whole trace, as text. */
export type StoredTrace = Omit<TraceDraft, 'input' | 'output' | 'metadata'> & {
  input: string
  output: string
  metadata: Record<string, string>
  message_id: string
}

/** Reads a record of a trace. Throws MalformedRow. */
export function readTrace(bytes: Buffer): StoredTrace {
  reader.moveTo(bytes, 0)
  const row: StoredTrace = {
    project_id: reader.uuid(),
    trace_id: reader.uuid(),
    time: reader.i64(),
    name: reader.string(),
    source: reader.word() as TraceDraft['source'],
    task_id: reader.word(),
    task_name: reader.word(),
    conversation_id: reader.word(),
    conversation_external_id: reader.word(),
    user_id: reader.word(),
    environment: reader.word(),
    release: reader.word(),
    input: reader.string(),
    output: reader.string(),
    metadata: reader.record(),
    message_id: reader.string(),
  }
  if (reader.at !== bytes.length)
    throw new MalformedRow(`the row continues after byte ${reader.at}`)
  return row
}
