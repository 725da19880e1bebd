import { opaqueId } from '../answer.ts'
import type { Dialect } from './contract.ts'

/** OpenAI's own form: usage with details, separate chunks for role and end, `n` up to 128. */
export const openai: Dialect = {
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
