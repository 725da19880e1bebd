import type { FindingType } from '../../../../model/finding-kind.ts'
import type { ModelCall } from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'

/**
 * Reason why a call failed. `context_overflow` is reported by the context detectors, not as a
 * failure; a client that disconnects is not a failure.
 */
export type CallFault =
  | Extract<FindingType<'failure'>, `provider_${string}` | 'content_filter'>
  | 'context_overflow'

/** Returns the reason why a call failed; null if it succeeded or the client disconnected. */
export const faultOfCall = remember((call: ModelCall): CallFault | null => {
  if (!isFailed(call)) return null
  const words = wordsOf(call)
  if (hasAny(words, overflowWords)) return 'context_overflow'
  if (hasAny(words, filterWords)) return 'content_filter'
  return faultOfTransfer(call) ?? faultOfCode(codeOf(call)) ?? faultOfWords(words)
})

/** Tells whether the call was answered without failure. */
export function hasSucceeded(call: ModelCall): boolean {
  return call.status === 'ok' && faultOfCall(call) === null
}

/** Tells whether a quota is used up: unlike a rate limit, waiting does not help. */
export function isQuota(call: ModelCall): boolean {
  return hasAny(wordsOf(call), quotaWords)
}

function isFailed({ status, outcome }: ModelCall): boolean {
  if (outcome === 'client_gone' || status === 'cancelled') return false
  return status === 'error' || (outcome !== '' && outcome !== 'complete')
}

const words_chars_max = 1_024

function wordsOf({ error_type, error_message }: ModelCall): string {
  return `${error_type} ${error_message}`.slice(0, words_chars_max).toLowerCase()
}

/**
 * Reads the fault from the transfer as the proxy saw it, which is more exact than the status sent
 * to the client.
 */
function faultOfTransfer({ outcome, error_type }: ModelCall): CallFault | null {
  if (outcome === 'timeout') return 'provider_timeout'
  if (outcome === 'upstream_cut' || ownConnectionCodes.has(error_type)) return 'provider_connection'
  return null
}

const ownConnectionCodes = new Set(['provider_unreachable', 'provider_cut'])

/** Returns the HTTP status; some instrumentations put it into the error type. */
function codeOf({ status_code, error_type }: ModelCall): number {
  if (status_code >= 400) return status_code
  return /^(?:http_)?[45]\d\d$/.test(error_type) ? Number(error_type.slice(-3)) : 0
}

const faultsByCode = new Map<number, CallFault>([
  [401, 'provider_auth'],
  [403, 'provider_auth'],
  [404, 'provider_not_found'],
  [408, 'provider_timeout'],
  [429, 'provider_rate_limit'],
  [504, 'provider_timeout'],
  [524, 'provider_timeout'],
])

function faultOfCode(code: number): CallFault | null {
  if (code < 400 || code > 599) return null
  return faultsByCode.get(code) ?? (code >= 500 ? 'provider_server_error' : 'provider_bad_request')
}

/**
 * Finds the fault of an error without a status: inside a stream with status 200, or raised by a
 * client library.
 */
function faultOfWords(words: string): CallFault {
  const known = faultWords.find(([, list]) => hasAny(words, list))
  return known?.[0] ?? 'provider_error'
}

const quotaWords = [
  'insufficient_quota',
  'exceeded your current quota',
  'billing',
  'credit balance',
]

const overflowWords = [
  'context_length_exceeded',
  'context length',
  'context window',
  'contextwindowexceeded',
  'prompt is too long',
  'input is too long',
  'too many input tokens',
]

const filterWords = [
  'content_filter',
  'content filter',
  'contentfilter',
  'content_policy',
  'content policy',
  'responsibleaipolicy',
  'moderation_blocked',
]

/** Error words of OpenAI, Anthropic, Gemini, Bedrock and their libraries; the first match wins. */
const faultWords: readonly (readonly [CallFault, readonly string[]])[] = [
  [
    'provider_rate_limit',
    [
      'ratelimit',
      'rate_limit',
      'rate limit',
      'too many requests',
      'resource_exhausted',
      'quota',
    ].concat('throttl', 'billing'),
  ],
  [
    'provider_auth',
    [
      'authentication',
      'unauthorized',
      'unauthenticated',
      'permission',
      'forbidden',
      'api key',
    ].concat('api_key', 'accessdenied', 'access denied'),
  ],
  ['provider_timeout', ['timeout', 'timed out', 'timedout', 'deadline']],
  [
    'provider_connection',
    ['connection', 'econn', 'unreachable', 'socket', 'network', 'enotfound', 'upstream_cut'],
  ],
  ['provider_not_found', ['notfound', 'not_found', 'not found', 'does not exist']],
  [
    'provider_bad_request',
    ['badrequest', 'bad_request', 'invalid_request', 'invalid_argument', 'unprocessable'],
  ],
  [
    'provider_server_error',
    ['internal', 'server_error', 'servererror', 'overloaded', 'unavailable', 'api_error'],
  ],
]

function hasAny(text: string, words: readonly string[]): boolean {
  return words.some((word) => text.includes(word))
}
