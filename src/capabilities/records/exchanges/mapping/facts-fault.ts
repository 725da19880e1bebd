import { isUuid, traceIdPattern } from '../../../../kernel/ids.ts'
import { objectFrom } from '../../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import { outcomes } from '../../../../model/observation.ts'

/**
 * Returns why the facts of an exchange can not be stored; undefined for valid facts. They were
 * parsed from a queue message, so their type is unchecked.
 */
export function factsFault(facts: ExchangeFacts): string | undefined {
  const given = objectFrom(facts)
  if (given === undefined) return 'the facts are no object'
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
  return timeFault(facts) ?? wordFault(facts)
}

const id_chars_max = 64

function timeFault(facts: ExchangeFacts): string | undefined {
  if (!isTime(facts.start_time)) return 'start_time: expected nanoseconds since 1970'
  if (!isTime(facts.end_time)) return 'end_time: expected nanoseconds since 1970'
  if (facts.first_token_time !== null && !isTime(facts.first_token_time)) {
    return 'first_token_time: expected nanoseconds since 1970, or null'
  }
  return undefined
}

function wordFault(facts: ExchangeFacts): string | undefined {
  if (!outcomes.includes(facts.outcome)) return 'outcome: not one of ours'
  if (!contentStates.has(facts.content_state)) return 'content_state: not one of ours'
  if (!endpoints.has(facts.endpoint)) return 'endpoint: not one of ours'
  if (typeof facts.streamed !== 'boolean') return 'streamed: expected true or false'
  if (objectFrom(facts.attributes) === undefined) return 'attributes: expected an object'
  return undefined
}

const contentStates = new Set(['full', 'truncated', 'dropped'])
const endpoints = new Set(['chat.completions', 'completions'])

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
