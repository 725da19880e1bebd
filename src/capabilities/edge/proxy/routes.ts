import { z } from 'zod'
import { type Problem, type ProblemCode, problem } from '../../../kernel/problem.ts'
import { defineRawRoute, type RawRoute } from '../../../platform/http/index.ts'
import { dialectOfRoute } from './call/dialect.ts'
import type { CallRoute } from './call-route.ts'
import { callRoutes } from './call-routes.ts'
import type { CompletionProxy } from './contract.ts'
import type { Dialect } from './formats.ts'

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
const anyBytes = z.unknown().describe('JSON, a form with files, or bytes, as the provider has it.')
const params = {
  model: z.string().max(256).describe('Model of the provider, without `models/`.'),
  response_id: z.string().max(256).describe('Id of the response or interaction.'),
  deployment: z.string().max(256).describe('Deployment of Azure OpenAI.'),
}

function paramsOf(url: string): Pick<RawRoute, 'params'> {
  const name = (['model', 'response_id', 'deployment'] as const).find((one) =>
    url.includes(`{${one}}`),
  )
  return name === undefined ? {} : { params: z.strictObject({ [name]: params[name] }) }
}

const errors: ProblemCode[] = [
  'invalid_request',
  'unknown_provider',
  'format_unsupported',
  'credentials_missing',
  'credentials_invalid',
  'provider_authorization_missing',
  'permission_denied',
  'project_archived',
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
  const { endpoint, url, id, summary, aliases, below, opens_socket, method = 'POST' } = route
  // Clients that name no other API in their headers.
  const { dialect } = dialectOfRoute(endpoint, { url, headers: {} })
  return defineRawRoute({
    method,
    url,
    id,
    summary,
    auth: 'key',
    scope: { level: 'project', role: 'editor', key: 'proxy:write' },
    headers: [...keyHeaders[dialect], ...headers],
    ...paramsOf(url),
    ...(aliases !== undefined && { aliases }),
    ...(below && { below }),
    ...(opens_socket && { opens_socket }),
    ...((method === 'POST' || method === 'PATCH') && { body: below ? anyBytes : anyObject }),
    reply: below ? anyBytes : anyObject,
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
  const served = [...new Set(callRoutes.map(({ url }) => url))].join(', ')
  return problem('route_not_found', {
    detail: `${fault.message}. The proxy serves ${served}`,
    headers: fault.headers,
  })
}
