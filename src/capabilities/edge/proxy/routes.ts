import { z } from 'zod'
import { defineRawRoute, type RawRoute } from '../../../platform/http/index.ts'
import type { CompletionProxy, Endpoint } from './contract.ts'

/** The two routes of the data plane; their bodies are the provider's business and pass unread. */
export function proxyRoutes(proxy: CompletionProxy): RawRoute[] {
  return [
    completionRoute(proxy, {
      endpoint: 'chat.completions',
      url: '/v1/chat/completions',
      id: 'createChatCompletion',
      summary: 'Passes a chat completion on to a model provider and records it',
    }),
    completionRoute(proxy, {
      endpoint: 'completions',
      url: '/v1/completions',
      id: 'createCompletion',
      summary: 'Passes a legacy completion on to a model provider and records it',
    }),
  ]
}

const headers: RawRoute['headers'] = [
  { name: 'X-API-Key', required: true, description: 'A project key, lt_…' },
  {
    name: 'Authorization',
    required: true,
    description: 'Bearer and your own key for the model provider; never stored or logged',
  },
  {
    name: 'X-Provider',
    required: false,
    description: 'openai (the default), anthropic or gemini',
  },
  { name: 'X-Task-ID', required: false, description: 'Groups calls into a task' },
  { name: 'X-Task-Name', required: false, description: 'Names the task' },
  { name: 'X-Conversation-ID', required: false, description: 'Groups calls into a conversation' },
  { name: 'X-User-ID', required: false, description: 'Identifies the end user' },
  {
    name: 'traceparent',
    required: false,
    description: 'W3C Trace Context: the call becomes a child of this span',
  },
]

const anyObject = z.record(z.string(), z.unknown())

function completionRoute(
  proxy: CompletionProxy,
  about: { endpoint: Endpoint; url: string; id: string; summary: string },
): RawRoute {
  const { endpoint, ...docs } = about
  return defineRawRoute({
    ...docs,
    method: 'POST',
    auth: 'key',
    scope: { level: 'project', role: 'editor', key: 'proxy:write' },
    headers,
    body: anyObject,
    reply: anyObject,
    error_format: 'ProviderError',
    errors: [
      'invalid_request',
      'unknown_provider',
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
    ],
    handle: (request, response) => proxy.handle(request, response, endpoint),
    refuse: (request, response, fault) => proxy.refuse(request, response, fault),
  })
}
