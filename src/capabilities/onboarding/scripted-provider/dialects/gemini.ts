import { opaqueId } from '../answer.ts'
import type { Dialect } from './contract.ts'

/**
 * Gemini's OpenAI-compatible endpoint: whole tool calls without `index` and with a thought
 * signature to be sent back, usage beside the choices, errors in a list
 * (https://ai.google.dev/gemini-api/docs/openai).
 */
export const gemini: Dialect = {
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
