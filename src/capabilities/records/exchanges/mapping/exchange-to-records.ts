import { conversationIdFrom } from '../../../../kernel/ids.ts'
import { isForbiddenKey, objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import { type Exchange, type ExchangeFacts, hasEnvelopeOnly } from '../../../../model/exchange.ts'
import type {
  CorrelationDraft,
  IngestRecords,
  ObservationDraft,
} from '../../../../model/ingest-records.ts'
import type { Observation } from '../../../../model/observation.ts'
import { taskRuleAttribute } from '../../../../model/task-rules.ts'
import {
  addLinkAttributes,
  type CallTask,
  findCallTask,
  withoutPersonalValues,
} from '../../call-task/index.ts'
import type { Cost, Pricing } from '../../pricing/index.ts'
import { retrievedCallIds } from '../../same-call/index.ts'
import { columnText, cutText, scrubbed } from '../answer/body-text.ts'
import { outputOf, type ReadAnswer, readAnswer, toolCallsOf } from '../answer/read-answer.ts'
import { type CallUsage, callUsage, type TokenCounter } from '../usage/call-usage.ts'
import { nameOf, typeOf } from './call-name.ts'
import { callEnding, isRetrieval } from './exchange-facts.ts'
import { addParameters, model_chars_max, type ReadRequest, readRequest } from './read-request.ts'

/**
 * Maps a call to its records: an observation, and correlations for its W3C headers. When a body
 * makes the mapping fail, the call is recorded without content; only the name of the error is
 * stored, because its message may quote the body.
 */
export function exchangeToRecords(exchange: Exchange, context: MappingContext): IngestRecords {
  const observation = mapOrBare(exchange, context)
  return {
    traces: [],
    observations: [draftOf(observation)],
    events: [],
    links: [],
    correlations: correlationsOf(observation),
  }
}

const correlationTypes = [
  ['w3c.traceparent', 'w3c_traceparent'],
  ['w3c.tracestate', 'w3c_tracestate'],
  ['w3c.baggage', 'w3c_baggage'],
] as const

const value_chars_max = 2_048

/** Returns the correlations of the W3C headers of a call. */
function correlationsOf(observation: Observation): CorrelationDraft[] {
  const { project_id, trace_id, observation_id, start_time, attributes } = observation
  const about = { project_id, trace_id, observation_id, time: start_time, source: 'proxy' } as const
  const correlations: CorrelationDraft[] = []
  for (const [key, correlation_type] of correlationTypes) {
    const correlation_value = attributes[key]?.slice(0, value_chars_max) ?? ''
    if (correlation_value === '') continue
    correlations.push({ ...about, correlation_type, correlation_value, metadata: [] })
  }
  return correlations
}

function mapOrBare(exchange: Exchange, context: MappingContext): Observation {
  try {
    return exchangeToObservation(exchange, '', context)
  } catch (error) {
    const facts = { ...exchange.facts, content_state: 'dropped' as const }
    const bare = exchangeToObservation({ facts, request: nothing, response: nothing }, '', context)
    const reason = error instanceof Error ? error.name : 'unknown'
    return { ...bare, attributes: { ...bare.attributes, 'mapping.error': reason } }
  }
}

const nothing = new Uint8Array(0)

function draftOf({ message_id: _, attributes, metadata, ...rest }: Observation): ObservationDraft {
  return { ...rest, attributes: pairsOf(attributes), metadata: pairsOf(metadata) }
}

function pairsOf(record: Readonly<Record<string, string>>): string[] {
  const pairs: string[] = []
  for (const key in record) pairs.push(key, record[key] ?? '')
  return pairs
}

/** Version of this mapping, stored in every row. */
const proxyContractVersion = 'proxy-v1'

/** Dependencies of the mapping. */
export type MappingContext = {
  pricing: Pricing
  countTokens: TokenCounter
  /** Largest size of a decompressed answer. */
  response_bytes_max: number
}

/**
 * Maps a call that the proxy recorded to the stored row. The facts must have passed `factsFault`;
 * the bodies may be anything.
 */
export function exchangeToObservation(
  exchange: Exchange,
  message_id: string,
  context: MappingContext,
): Observation {
  const request = readRequest(exchange.request, exchange.facts)
  const answer = readAnswer(exchange.response, exchange.facts, context.response_bytes_max)
  const facts = retrievedFacts(exchange.facts, answer)
  const ending = callEnding(facts, answer)
  const { countTokens } = context
  const usage = callUsage({ facts, request, answer, outcome: ending.outcome, countTokens })
  const model = columnText(answer.model, model_chars_max)
  const times = timesOf(facts)
  const response_id = columnText(answer.id, column_chars_max)
  const tool_calls = toolCallsOf(answer)
  const answer_text = textFrom(objectFrom(answer.choices[0]?.message)?.['content'])
  const task = findCallTask({ facts, body: request.parsed, response_id, tool_calls, answer_text })
  return {
    ...identityOf(facts, task),
    ...times,
    ...ending,
    type: typeOf(facts.endpoint),
    name: nameOf(facts, request.model || model),
    status_code: facts.status_code,
    source: 'proxy',
    contract_version: proxyContractVersion,
    provider: columnText(facts.provider, column_chars_max),
    model_requested: request.model,
    model,
    endpoint: facts.endpoint,
    input: hasEnvelopeOnly(facts.endpoint) ? '' : request.input,
    output: hasEnvelopeOnly(facts.endpoint) ? '' : outputOf(answer),
    content_state: facts.content_state,
    tool_calls,
    tool_results: request.tool_results,
    streamed: facts.streamed,
    response_id,
    counted_with: '',
    ...usageColumns(usage),
    ...costColumns(usage, {
      provider: facts.provider,
      model,
      model_requested: request.model,
      at_ms: Number(times.start_time / nsPerMs),
      pricing: context.pricing,
    }),
    request_bytes: facts.request_bytes,
    response_bytes: facts.response_bytes,
    attributes: attributesOf({ facts, task, request, answer, usage }),
    ...noSpan,
    agent_name: columnText(task.agent, column_chars_max),
    message_id,
  }
}

/**
 * Returns the facts of the one record of a retrieved response: ids and start are the same for every
 * exchange that retrieves it. The facts of other calls stay.
 */
function retrievedFacts(facts: ExchangeFacts, { id, created_ms }: ReadAnswer): ExchangeFacts {
  if (!isRetrieval(facts) || id === '') return facts
  const ids = retrievedCallIds(facts.project_id, columnText(id, column_chars_max))
  return { ...facts, ...ids, parent_observation_id: '', start_time: startOf(facts, created_ms) }
}

/** A provider may state the start of a response that ran within the last days. */
function startOf({ start_time }: ExchangeFacts, created_ms = Number.NaN): string {
  const age_ms = Number(BigInt(start_time) / nsPerMs) - created_ms
  if (!(Math.abs(age_ms) <= maxCreatedAgeMs)) return start_time
  return String(BigInt(Math.trunc(created_ms)) * nsPerMs)
}

const maxCreatedAgeMs = 2 * 24 * 60 * 60 * 1000

/** Empty columns that only spans and canonical records have. */
const noSpan = {
  service_name: '',
  span_kind: '',
  level: '',
  metadata: {},
  mapped_from: '',
} as const

const nsPerMs = 1_000_000n
const column_chars_max = 256

function identityOf(facts: ExchangeFacts, task: CallTask) {
  const talk = facts.conversation_id || task.session
  const conversation =
    talk === ''
      ? { conversation_id: '', external_id: null }
      : conversationIdFrom(facts.project_id, talk)
  const task_implicit = facts.task_id === ''
  const ownTask = task.task_id || facts.trace_id
  return {
    project_id: facts.project_id,
    trace_id: facts.trace_id,
    observation_id: facts.observation_id,
    parent_observation_id: facts.parent_observation_id,
    task_id: columnText(task_implicit ? ownTask : facts.task_id, column_chars_max),
    task_name: columnText(facts.task_name, column_chars_max),
    task_implicit,
    conversation_id: conversation.conversation_id,
    conversation_external_id: columnText(conversation.external_id ?? '', column_chars_max),
    user_id: columnText(facts.user_id, column_chars_max),
    environment: columnText(facts.environment, column_chars_max),
    release: columnText(facts.release, column_chars_max),
  }
}

function timesOf(facts: ExchangeFacts) {
  const start_time = BigInt(facts.start_time)
  const end = BigInt(facts.end_time)
  const firstToken = facts.first_token_time === null ? null : BigInt(facts.first_token_time)
  return {
    start_time,
    // A clock that was set back during the call must not cause a negative duration.
    end_time: end < start_time ? start_time : end,
    time_to_first_token_ms:
      firstToken === null ? null : Math.max(0, Number(firstToken - start_time) / 1e6),
  }
}

const noBuckets = {
  input_uncached_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  output_visible_tokens: null,
  reasoning_tokens: null,
}

function usageColumns({ usage, usage_source, usage_semantics, service_tier }: CallUsage) {
  const usage_details = usage?.details ?? {}
  const buckets = usage?.buckets ?? noBuckets
  return { ...buckets, usage_source, usage_semantics, usage_details, service_tier }
}

function costColumns(
  { usage, service_tier, reported_usd }: CallUsage,
  call: Parameters<Pricing>[0] & { pricing: Pricing },
): Cost {
  return call.pricing({ ...call, service_tier, reported_usd }, usage)
}

const maxFactAttributes = 64
const attribute_chars_max = 8_192

type ReadCall = {
  facts: ExchangeFacts
  task: CallTask
  request: ReadRequest
  answer: ReadAnswer
  usage: CallUsage
}

function attributesOf({ facts, task, request, answer, usage }: ReadCall): Record<string, string> {
  const attributes: Record<string, string> = {}
  let added = 0
  for (const key in facts.attributes) {
    const value = facts.attributes[key]
    if (typeof value !== 'string' || isForbiddenKey(key) || added++ >= maxFactAttributes) continue
    attributes[key] = scrubbed(cutText(value, attribute_chars_max))
  }
  if (task.rule !== '') attributes[taskRuleAttribute] = task.rule
  addLinkAttributes(attributes, task.links)
  if (!hasEnvelopeOnly(facts.endpoint)) addRequest(attributes, request, facts.endpoint)
  if (answer.fault !== '') attributes['mapping.response'] = answer.fault
  if (answer.dropped > 0) attributes['mapping.response_dropped'] = String(answer.dropped)
  if (usage.inconsistency !== '') attributes['mapping.usage'] = usage.inconsistency
  if (answer.choices.length > 1) attributes['response.choices'] = String(answer.choices.length)
  return attributes
}

function addRequest(
  attributes: Record<string, string>,
  { parsed, text }: ReadRequest,
  endpoint: ExchangeFacts['endpoint'],
): void {
  if (parsed !== undefined) addParameters(attributes, withoutPersonalValues(parsed, endpoint))
  else if (text !== '') attributes['mapping.request'] = 'the request is not a JSON object'
}
