import { isUuid, traceIdPattern } from '../../../../kernel/ids.ts'
import { itemsOf, objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import {
  type ExchangeFacts,
  exchangeEndpoints,
  malformedAnswer,
  malformedReason,
} from '../../../../model/exchange.ts'
import { type Observation, type Outcome, outcomes } from '../../../../model/observation.ts'
import { columnText, cutText, scrubbed } from '../answer/body-text.ts'
import { notJson, type ReadAnswer } from '../answer/read-answer.ts'

/**
 * Returns why the facts of an exchange can not be stored; undefined for valid facts. They were
 * parsed from a queue message, so their type is unchecked.
 */
export function factsFault(facts: ExchangeFacts): string | undefined {
  const given = objectFrom(facts)
  if (given === undefined) return 'the facts are not an object'
  for (const field of texts) {
    if (typeof given[field] !== 'string') return `${field}: expected a text`
  }
  for (const field of counts) {
    const value = given[field]
    if (!Number.isSafeInteger(value) || Number(value) < 0) return `${field}: expected a count`
  }
  if (!isUuid(facts.project_id)) return 'project_id: expected a UUID'
  if (!traceIdPattern.test(facts.trace_id)) return 'trace_id: expected 16 bytes spelled as a UUID'
  if (facts.observation_id === '' || facts.observation_id.length > id_chars_max) {
    return `observation_id: expected 1 to ${id_chars_max} characters`
  }
  if (facts.parent_observation_id.length > id_chars_max) {
    return `parent_observation_id: expected at most ${id_chars_max} characters`
  }
  return timeFault(facts) ?? wordFault(facts) ?? sessionFault(facts)
}

const id_chars_max = 64

/** Returns whether an exchange retrieves or cancels a response that an earlier one began. */
export function isRetrieval({ endpoint }: Pick<ExchangeFacts, 'endpoint'>): boolean {
  return endpoint === 'responses.retrieve' || endpoint === 'interactions.retrieve'
}

function timeFault(facts: ExchangeFacts): string | undefined {
  if (!isTime(facts.start_time)) return 'start_time: expected nanoseconds since 1970'
  if (!isTime(facts.end_time)) return 'end_time: expected nanoseconds since 1970'
  if (facts.first_token_time !== null && !isTime(facts.first_token_time)) {
    return 'first_token_time: expected nanoseconds since 1970, or null'
  }
  return undefined
}

function wordFault(facts: ExchangeFacts): string | undefined {
  if (!outcomes.includes(facts.outcome)) return 'outcome: not a known one'
  if (!contentStates.has(facts.content_state)) return 'content_state: not a known one'
  if (!endpoints.has(facts.endpoint)) return 'endpoint: not a known one'
  if (typeof facts.streamed !== 'boolean') return 'streamed: expected true or false'
  if (objectFrom(facts.attributes) === undefined) return 'attributes: expected an object'
  return undefined
}

/** Fields that only some calls have. */
function sessionFault({
  key_id,
  agent_headers,
  task_rules_off,
}: ExchangeFacts): string | undefined {
  if (key_id !== undefined && typeof key_id !== 'string') return 'key_id: expected a text'
  if (agent_headers !== undefined && objectFrom(agent_headers) === undefined) {
    return 'agent_headers: expected an object'
  }
  if (task_rules_off !== undefined && !Array.isArray(task_rules_off)) {
    return 'task_rules_off: expected a list'
  }
  return undefined
}

const contentStates = new Set(['full', 'truncated', 'dropped', 'none'])
const endpoints: ReadonlySet<string> = new Set(exchangeEndpoints)

/** Whether a text is a time in nanoseconds up to 2261, which fits 64 bits and DateTime64(9). */
function isTime(text: unknown): boolean {
  return typeof text === 'string' && /^[1-9]\d{0,18}$/.test(text) && BigInt(text) < endOfTime
}

const endOfTime = 9_214_646_400_000_000_000n

const texts = [
  'project_id',
  'trace_id',
  'observation_id',
  'parent_observation_id',
  'provider',
  'error_type',
  'error_message',
  'response_encoding',
  'response_type',
  'task_id',
  'task_name',
  'conversation_id',
  'user_id',
  'environment',
  'release',
] as const

const counts = ['status_code', 'request_bytes', 'response_bytes'] as const

/** The columns of a row for the end of a call. */
type CallEnding = Pick<
  Observation,
  'status' | 'outcome' | 'error_type' | 'error_message' | 'finish_reason'
>

/**
 * Returns how a call ended. The proxy knows how the transfer ended; the body may have more: an
 * error in a 200 stream, or an end without `[DONE]` and finish reason, which is a cut.
 */
export function callEnding(facts: ExchangeFacts, answer: ReadAnswer): CallEnding {
  const outcome = outcomeOf(facts, answer)
  const finish_reason = normaliseFinishReason(
    answer.choices.find((choice) => choice.finish_reason !== '')?.finish_reason ?? '',
  )
  if (outcome === 'complete') {
    const status = finish_reason === 'cancelled' ? 'cancelled' : 'ok'
    return { status, outcome, error_type: '', error_message: '', finish_reason }
  }
  const reported = readReportedError(facts, answer, outcome)
  return {
    status: outcome === 'client_gone' ? 'cancelled' : 'error',
    outcome,
    error_type: columnText(
      reported.error_type || scrubbed(facts.error_type) || typeOf(facts, outcome),
      maxErrorTypeChars,
    ),
    error_message:
      reported.error_message || scrubbed(cutText(facts.error_message, maxErrorMessageChars)),
    finish_reason,
  }
}

const maxErrorTypeChars = 128
const maxErrorMessageChars = 2_048

function outcomeOf(facts: ExchangeFacts, answer: ReadAnswer): Outcome {
  if (facts.outcome !== 'complete' && !isLeftAtEnd(facts, answer)) return facts.outcome
  if (answer.error !== undefined || facts.status_code >= 400) return 'provider_error'
  if (malformation(facts, answer) !== undefined) return 'provider_error'
  const cutByUs = facts.content_state !== 'full' || answer.fault !== ''
  if (answer.isStream && !answer.done && !cutByUs && !isFinished(answer)) return 'upstream_cut'
  return 'complete'
}

/** Returns the fault of an answer that cannot be that of a model; undefined for a good one. */
function malformation(facts: ExchangeFacts, answer: ReadAnswer): string | undefined {
  if (facts.status_code >= 400) return undefined
  const isUnread = answer.fault === notJson && facts.content_state === 'full'
  const isEmpty = answer.choices.length === 0 && answer.unknownText === ''
  const response_bytes = isEmpty ? facts.response_bytes : Math.max(1, facts.response_bytes)
  return malformedReason({ ...facts, response_bytes }) ?? (isUnread ? answer.fault : undefined)
}

/**
 * Whether the client left only at the end. Client libraries close the connection when they read an
 * error in a stream, or `[DONE]`, which the proxy sees itself unless the stream is compressed.
 */
function isLeftAtEnd(facts: ExchangeFacts, answer: ReadAnswer): boolean {
  if (facts.outcome !== 'client_gone' || !answer.isStream) return false
  return answer.error !== undefined || (answer.done && facts.response_encoding !== '')
}

function isFinished({ choices, unknownText }: ReadAnswer): boolean {
  if (unknownText !== '') return true
  return choices.length > 0 && choices.every(({ finish_reason }) => finish_reason !== '')
}

function readReportedError(
  facts: ExchangeFacts,
  answer: ReadAnswer,
  outcome: Outcome,
): ProviderError {
  if (answer.error !== undefined) return providerErrorFrom(answer.error)
  if (outcome !== 'provider_error') return { error_type: '', error_message: '' }
  const reason = malformation(facts, answer)
  if (reason !== undefined) return { error_type: malformedAnswer, error_message: reason }
  return bodyError(answer.unknownText)
}

/** Reads an error body of an unknown shape: as JSON if possible, else as text. */
function bodyError(text: string): ProviderError {
  try {
    return providerErrorFrom(JSON.parse(text))
  } catch {
    return providerErrorFrom(text.trim())
  }
}

function typeOf(facts: ExchangeFacts, outcome: Outcome): string {
  return outcome === 'provider_error' && facts.status_code >= 400
    ? `http_${facts.status_code}`
    : outcome
}

const maxFinishReasonChars = 64

/** Translates finish reasons of other providers and older versions into those of OpenAI. */
function normaliseFinishReason(reason: string): string {
  const lower = columnText(reason.toLowerCase().replaceAll('-', '_'), maxFinishReasonChars)
  return finishReasons.get(lower) ?? lower
}

const finishReasons = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['eos', 'stop'],
  ['completed', 'stop'],
  ['complete', 'stop'],
  ['incomplete', 'length'],
  ['max_output_tokens', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['tool_use', 'tool_calls'],
  ['tool_call', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['safety', 'content_filter'],
  ['recitation', 'content_filter'],
  ['blocklist', 'content_filter'],
  ['prohibited_content', 'content_filter'],
  ['spii', 'content_filter'],
  ['refusal', 'content_filter'],
  ['malformed_function_call', 'error'],
])

/** The error that a provider reported, cut to a limit and without keys. */
type ProviderError = { error_type: string; error_message: string }

/**
 * Reads an error body or event: OpenAI's `{error: {message, type, code}}`, Gemini's (the same in
 * an array, with `status`), Anthropic's `{type: 'error', error: {type, message}}`, and the looser
 * shapes of servers that imitate them (`{error: 'text'}`, `{message, type}`, `{detail}`, text).
 */
function providerErrorFrom(body: unknown): ProviderError {
  if (typeof body === 'string') return shaped('', body)
  const holder = objectFrom(body) ?? objectFrom(itemsOf(body)[0])
  if (holder === undefined) return { error_type: '', error_message: '' }
  const error = holder['error']
  if (typeof error === 'string') return shaped('', error)
  const fields = objectFrom(error) ?? holder
  const code = textFrom(fields['code'])
  return shaped(
    code || firstText(fields['type'], fields['status'], fields['code']),
    firstText(fields['message'], fields['detail']),
  )
}

function firstText(...values: readonly unknown[]): string {
  for (const value of values) {
    if (typeof value === 'number') return String(value)
    const text = textFrom(value)
    if (text !== '') return text
  }
  return ''
}

function shaped(type: string, message: string): ProviderError {
  return {
    error_type: scrubbed(type.slice(0, maxErrorTypeChars)),
    error_message: scrubbed(message.slice(0, 2 * maxErrorMessageChars)).slice(
      0,
      maxErrorMessageChars,
    ),
  }
}
