import { opaqueId } from '../answer.ts'
import type { Dialect } from './contract.ts'

/**
 * Anthropic's OpenAI-compatible endpoint: one choice, usage without details, no legacy
 * completions (https://docs.anthropic.com/en/api/openai-sdk).
 */
export const anthropic: Dialect = {
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
