import { type AnswerUsage, opaqueId } from './answer.ts'
import type { ErrorReply, ProviderName, StreamShape } from './script.ts'

/** One provider's variant of the chat format: its ids, usage, errors and streams. */
export type Dialect = {
  provider: ProviderName
  /** Path prefix of the provider's base URL on this server; base URL + `/chat/completions`. */
  base_path: string
  /** Whether it has legacy completions. */
  legacy_completions: boolean
  /** Maximum choices of one request. */
  n_max: number
  /** Default form of tool calls in a stream. */
  stream_tool_calls: NonNullable<StreamShape['tool_calls']>
  /** Whether tool calls in a stream have an `index`; Gemini's do not. */
  indexes_tool_calls: boolean
  /** Position of requested usage: in a last chunk of its own, or in each chunk with choices. */
  stream_usage: 'own_chunk' | 'every_chunk'
  /** Whether role, text and finish reason have chunks of their own, as with OpenAI. */
  separate_ends: boolean
  completionId(seed: number): string
  toolCallId(seed: number, index: number): string
  /** Headers of each answer. */
  headers(seed: number): Record<string, string>
  /** Fields besides `id`, `object`, `created`, `model`, `choices`. */
  envelope: Record<string, unknown>
  /** Fields of each message and of the first delta. */
  message: Record<string, unknown>
  /** Fields of each choice. */
  choice: Record<string, unknown>
  toolCall(seed: number): Record<string, unknown>
  usage(usage: AnswerUsage): Record<string, unknown>
  error(error: ErrorReply): unknown
  /** Error for a missing or wrong key. */
  key_refused: Pick<ErrorReply, 'status' | 'message' | 'type' | 'code'>
}

/** OpenAI's own form: usage with details, separate chunks for role and end, `n` up to 128. */
const openai: Dialect = {
  provider: 'openai',
  base_path: '/v1',
  legacy_completions: true,
  n_max: 128,
  stream_tool_calls: 'pieces',
  indexes_tool_calls: true,
  stream_usage: 'own_chunk',
  separate_ends: true,
  completionId: (seed) => `chatcmpl-${opaqueId('openai', seed, 29)}`,
  toolCallId: (seed, index) => `call_${opaqueId(`openai ${index}`, seed, 24)}`,
  headers: (seed) => ({
    'x-request-id': `req_${opaqueId('openai request', seed, 32).toLowerCase()}`,
    'openai-processing-ms': '12',
    'openai-version': '2020-10-01',
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-remaining-requests': '9999',
  }),
  envelope: { service_tier: 'default', system_fingerprint: 'fp_5c21e0a7d4' },
  message: { refusal: null },
  choice: { logprobs: null },
  toolCall: () => ({}),
  usage: (usage) => ({
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: usage.completion_tokens,
    total_tokens: usage.prompt_tokens + usage.completion_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_tokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning_tokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }),
  error: (error) => ({
    error: {
      message: error.message,
      type: error.type ?? (error.status >= 500 ? 'server_error' : 'invalid_request_error'),
      param: error.param,
      code: error.code ?? null,
    },
  }),
  key_refused: {
    status: 401,
    message: 'The API key is not correct.',
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  },
}

/**
 * Anthropic's OpenAI-compatible endpoint: one choice, usage without details, no legacy
 * completions (https://docs.anthropic.com/en/api/openai-sdk).
 */
const anthropic: Dialect = {
  provider: 'anthropic',
  base_path: '/anthropic/v1',
  legacy_completions: false,
  n_max: 1,
  stream_tool_calls: 'pieces',
  indexes_tool_calls: true,
  stream_usage: 'own_chunk',
  separate_ends: true,
  completionId: (seed) => `msg_01${opaqueId('anthropic', seed, 22)}`,
  toolCallId: (seed, index) => `toolu_01${opaqueId(`anthropic ${index}`, seed, 22)}`,
  headers: (seed) => ({
    'request-id': `req_011${opaqueId('anthropic request', seed, 21)}`,
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
  }),
  envelope: {},
  message: {},
  choice: {},
  toolCall: () => ({}),
  usage: (usage) => ({
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: usage.completion_tokens,
    total_tokens: usage.prompt_tokens + usage.completion_tokens,
  }),
  error: (error) => ({
    error: {
      code: error.code ?? error.type ?? errorTypeOf(error.status),
      message: error.message,
      type: error.type ?? errorTypeOf(error.status),
      param: error.param,
    },
  }),
  key_refused: { status: 401, message: 'invalid x-api-key', type: 'authentication_error' },
}

const errorTypes: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function errorTypeOf(status: number): string {
  return errorTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

/**
 * Gemini's OpenAI-compatible endpoint: whole tool calls without `index` and with a thought
 * signature to be sent back, usage beside the choices, errors in a list
 * (https://ai.google.dev/gemini-api/docs/openai).
 */
const gemini: Dialect = {
  provider: 'gemini',
  base_path: '/gemini/v1beta/openai',
  legacy_completions: false,
  n_max: 8,
  stream_tool_calls: 'whole',
  indexes_tool_calls: false,
  stream_usage: 'every_chunk',
  separate_ends: false,
  completionId: (seed) => opaqueId('gemini', seed, 23),
  toolCallId: (seed, index) => `function-call-${index}${opaqueId('gemini call', seed, 18)}`,
  headers: () => ({ 'server-timing': 'gfet4t7; dur=12' }),
  envelope: {},
  message: {},
  choice: {},
  toolCall: (seed) => ({
    extra_content: { google: { thought_signature: opaqueId('gemini thought', seed, 44) } },
  }),
  usage: (usage) => ({
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: usage.completion_tokens,
    total_tokens: usage.prompt_tokens + usage.completion_tokens,
    ...(usage.cached_tokens > 0 && {
      prompt_tokens_details: { cached_tokens: usage.cached_tokens },
    }),
    ...(usage.reasoning_tokens > 0 && {
      completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
    }),
  }),
  error: (error) => [
    {
      error: {
        code: error.status,
        message: error.message,
        status: error.code ?? statusName(error.status),
      },
    },
  ],
  key_refused: { status: 401, message: 'The API key is not valid.', code: 'UNAUTHENTICATED' },
}

const statusNames: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** Returns the name of an HTTP status in google.rpc.Code. */
function statusName(status: number): string {
  return statusNames[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
}

/** The variants of all providers. */
export const dialects: Record<ProviderName, Dialect> = { openai, anthropic, gemini }
