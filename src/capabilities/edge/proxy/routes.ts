import { z } from 'zod'
import { type Problem, type ProblemCode, problem } from '../../../kernel/problem.ts'
import { defineRawRoute, type RawRoute } from '../../../platform/http/index.ts'
import type { CompletionProxy } from './contract.ts'
import { type Dialect, type Endpoint, formats } from './formats.ts'

/** A route of the data plane as data. */
type CallRoute = {
  method?: 'GET'
  url: string
  endpoint: Endpoint
  id: string
  summary: string
}

/**
 * The routes of calls. `…/{model}:method` comes before `…/{model}`, whose pattern matches it too, so
 * that errors name the methods of the first.
 */
const callRoutes: readonly CallRoute[] = [
  {
    url: '/v1/chat/completions',
    endpoint: 'chat.completions',
    id: 'createChatCompletion',
    summary: 'Forward a chat completion to a model provider and record it',
  },
  {
    url: '/v1/completions',
    endpoint: 'completions',
    id: 'createCompletion',
    summary: 'Forward a legacy completion to a model provider and record it',
  },
  {
    url: '/v1/responses',
    endpoint: 'responses',
    id: 'createResponse',
    summary: 'Forward a call of the Responses API and record it',
  },
  {
    url: '/v1/embeddings',
    endpoint: 'embeddings',
    id: 'createEmbeddings',
    summary: 'Forward a request for embeddings and record it',
  },
  {
    url: '/v1/messages',
    endpoint: 'messages',
    id: 'createMessage',
    summary: 'Forward a call of the Messages API and record it',
  },
  {
    url: '/v1/messages/count_tokens',
    endpoint: 'messages.count_tokens',
    id: 'countMessageTokens',
    summary: 'Forward a count of tokens of the Messages API and record it',
  },
  {
    url: '/v1beta/models/{model}:generateContent',
    endpoint: 'generate_content',
    id: 'generateContent',
    summary: 'Forward a call of the Gemini API and record it',
  },
  {
    url: '/v1beta/models/{model}:streamGenerateContent',
    endpoint: 'generate_content',
    id: 'streamGenerateContent',
    summary: 'Forward a streamed call of the Gemini API and record it',
  },
  {
    url: '/v1beta/models/{model}:countTokens',
    endpoint: 'generate_content.count_tokens',
    id: 'countTokens',
    summary: 'Forward a count of tokens of the Gemini API and record it',
  },
  {
    url: '/v1/models/{model}:generateContent',
    endpoint: 'generate_content',
    id: 'generateContentStable',
    summary: 'Forward a call of the Gemini API, version v1, and record it',
  },
  {
    url: '/v1/models/{model}:streamGenerateContent',
    endpoint: 'generate_content',
    id: 'streamGenerateContentStable',
    summary: 'Forward a streamed call of the Gemini API, version v1, and record it',
  },
  {
    url: '/v1/models/{model}:countTokens',
    endpoint: 'generate_content.count_tokens',
    id: 'countTokensStable',
    summary: 'Forward a count of tokens of the Gemini API, version v1, and record it',
  },
  {
    url: '/v1beta/interactions',
    endpoint: 'interactions',
    id: 'createInteraction',
    summary: 'Forward a call of the Interactions API and record it',
  },
  {
    url: '/v1/interactions',
    endpoint: 'interactions',
    id: 'createInteractionStable',
    summary: 'Forward a call of the Interactions API, version v1, and record it',
  },
  {
    method: 'GET',
    url: '/v1/models',
    endpoint: 'models',
    id: 'listModels',
    summary: 'Forward a request for the models of a provider; it is not recorded',
  },
  {
    method: 'GET',
    url: '/v1/models/{model}',
    endpoint: 'models',
    id: 'getModel',
    summary: 'Forward a request for a model of a provider; it is not recorded',
  },
  {
    method: 'GET',
    url: '/v1beta/models',
    endpoint: 'generate_content.models',
    id: 'listGeminiModels',
    summary: 'Forward a request for the models of the Gemini API; it is not recorded',
  },
  {
    method: 'GET',
    url: '/v1beta/models/{model}',
    endpoint: 'generate_content.models',
    id: 'getGeminiModel',
    summary: 'Forward a request for a model of the Gemini API; it is not recorded',
  },
]

/** Returns the routes of the data plane. Their bodies are forwarded unparsed. */
export function proxyRoutes(proxy: CompletionProxy): RawRoute[] {
  return callRoutes.map((route) => callRoute(proxy, route))
}

const forwardedKey =
  'your key for the model provider, wherever your client puts it; never stored or logged'

/** Headers that name our key and the provider's, by the clients of an API. */
const keyHeaders: Readonly<Record<Dialect, RawRoute['headers']>> = {
  openai: [
    { name: 'X-API-Key', required: true, description: 'A project key, lt_…' },
    {
      name: 'Authorization',
      required: false,
      description:
        'Bearer, then your key for the model provider; never stored or logged. Not needed where a key file has it',
    },
  ],
  anthropic: [
    { name: 'X-Looptrace-Key', required: false, description: projectKeyText() },
    { name: 'X-API-Key', required: false, description: `A project key, lt_…, or ${forwardedKey}` },
  ],
  google: [
    { name: 'X-Looptrace-Key', required: false, description: projectKeyText() },
    { name: 'x-goog-api-key', required: false, description: `A project key, or ${forwardedKey}` },
  ],
}

function projectKeyText(): string {
  return 'A project key, lt_…, for clients whose X-API-Key is the provider’s'
}

const headers: RawRoute['headers'] = [
  {
    name: 'X-Provider',
    required: false,
    description:
      'openai, anthropic, gemini or a name of the providers file; by default, the provider of the format',
  },
  { name: 'X-Task-ID', required: false, description: 'Groups calls into a task' },
  { name: 'X-Task-Name', required: false, description: 'Names the task' },
  {
    name: 'X-Task-Release',
    required: false,
    description: 'Release of the agent, such as its version; certifications read it',
  },
  { name: 'X-Conversation-ID', required: false, description: 'Groups calls into a conversation' },
  { name: 'X-User-ID', required: false, description: 'Identifies the end user' },
  {
    name: 'traceparent',
    required: false,
    description: 'W3C Trace Context: the call becomes a child of this span',
  },
]

const anyObject = z.record(z.string(), z.unknown())
const modelParams = z.strictObject({
  model: z.string().max(256).describe('Model of the provider, without `models/`.'),
})

const errors: ProblemCode[] = [
  'invalid_request',
  'unknown_provider',
  'format_unsupported',
  'credentials_missing',
  'credentials_invalid',
  'provider_authorization_missing',
  'permission_denied',
  'body_too_large',
  'unsupported_media_type',
  'rate_limited',
  'provider_unreachable',
  'provider_cut',
  'provider_timeout',
  'overloaded',
  'shutting_down',
  'store_unavailable',
]

const errorFormats = {
  openai: 'ProviderError',
  anthropic: 'AnthropicError',
  google: 'GoogleError',
} as const

function callRoute(proxy: CompletionProxy, route: CallRoute): RawRoute {
  const { endpoint, url, id, summary, method = 'POST' } = route
  const { dialect } = formats[endpoint]
  return defineRawRoute({
    method,
    url,
    id,
    summary,
    auth: 'key',
    scope: { level: 'project', role: 'editor', key: 'proxy:write' },
    headers: [...keyHeaders[dialect], ...headers],
    ...(url.includes('{model}') && { params: modelParams }),
    ...(method === 'POST' && { body: anyObject }),
    reply: anyObject,
    error_format: errorFormats[dialect],
    errors,
    handle: (request, response, authorised) =>
      proxy.handle(request, response, { endpoint, authorised }),
    refuse: (request, response, fault) => proxy.refuse(request, response, withSupported(fault)),
  })
}

/** Adds what the proxy serves to the error of an unknown path. */
function withSupported(fault: Problem): Problem {
  if (fault.code !== 'route_not_found') return fault
  const served = callRoutes.map(({ url }) => url).join(', ')
  return problem('route_not_found', {
    detail: `${fault.message}. The proxy serves ${served}`,
    headers: fault.headers,
  })
}
