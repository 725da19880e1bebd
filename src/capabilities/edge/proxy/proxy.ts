import { z } from 'zod'
import { sleep } from '../../../kernel/time.ts'
import {
  answerClientError,
  createRateLimiter,
  defineRawRoute,
  type RawRoute,
} from '../../../platform/http/index.ts'
import { createQuietLog } from '../../../platform/telemetry/index.ts'
import { Call, type CallServices } from './call/call.ts'
import { createCallIds } from './call/call-ids.ts'
import { createIntake } from './call/intake.ts'
import { createProxyMeters } from './call/meters.ts'
import { refuseRequest, toProviderFormat } from './call/provider-error.ts'
import { createRequestHeaderReader } from './call/request-headers.ts'
import { SlotList } from './call/slot-list.ts'
import type { CompletionProxy, Endpoint, ProxyDependencies } from './contract.ts'
import { createResponseHeaderReader } from './relay/answer-writer.ts'
import { createUpstreams } from './relay/upstream.ts'

/** Minimum interval between logs of the same fault. */
const logInterval_ms = 1_000
/** Time that a client has to receive the error when `close` ends its call. */
const lastWords_ms = 1_000

/** Makes the proxy, which answers, counts and records each request. */
export function createProxy(dependencies: ProxyDependencies): CompletionProxy {
  const { keys, settings, clock, logger, metrics, recorder } = dependencies
  const inFlight = new SlotList<Call>()
  const waiting: (() => void)[] = []
  let stopping = false
  const services: CallServices = {
    settings,
    clock,
    recorder,
    meters: createProxyMeters(metrics, () => inFlight.size),
    ids: createCallIds(),
    quietLog: createQuietLog(logger, clock, logInterval_ms),
    inFlight,
    bodyBytesInFlight: 0,
    callEnded: () => {
      if (inFlight.size === 0) for (const resolve of waiting.splice(0)) resolve()
    },
  }
  const upstreams = createUpstreams(dependencies.base_urls ?? {}, settings)
  const limiter = createRateLimiter(settings.requests_per_minute)
  const relays = {
    settings,
    clock,
    quietLog: services.quietLog,
    readHeaders: createResponseHeaderReader(),
  }
  const intake = createIntake({
    ...{ keys, limiter, upstreams, relays, logger },
    stopping: () => stopping,
  })
  const readHeaders = createRequestHeaderReader()
  const watch = watchBlockedCalls(inFlight, settings.idle_timeout_ms)
  function drain(): Promise<void> {
    stopping = true
    if (inFlight.size === 0) return Promise.resolve()
    return new Promise((resolve) => waiting.push(resolve))
  }

  return {
    handle(request, response, { endpoint, authorised }) {
      const headers = readHeaders(request.rawHeaders)
      intake(new Call(services, endpoint, { request, response, headers }), authorised)
    },
    onClientError(error, socket) {
      const status = answerClientError(error, socket, toProviderFormat)
      if (status !== 0) services.meters.malformed(status)
    },
    refuse: refuseRequest,
    drain,
    async close() {
      watch.stop()
      for (const call of inFlight.all()) call.stop()
      const drained = new AbortController()
      await Promise.race([drain().then(() => drained.abort()), sleep(lastWords_ms, drained.signal)])
      for (const call of inFlight.all()) call.abandon()
      await upstreams.close()
    },
  }
}

/**
 * Interval between two checks for blocked calls, at most; a tenth of the timeout if that is
 * shorter.
 */
const look_ms_max = 5_000

/**
 * Ends calls whose client has not read for `idle_timeout_ms`. undici pauses its own timer while an
 * answer is held back, so it would wait forever. All calls share one timer.
 */
function watchBlockedCalls(calls: SlotList<Call>, idle_timeout_ms: number): { stop(): void } {
  const look = () => {
    const before_ms = performance.now() - idle_timeout_ms
    for (const call of calls.all()) {
      if (call.isBlockedSince(before_ms)) call.abandon()
    }
  }
  const timer = setInterval(look, Math.min(look_ms_max, Math.ceil(idle_timeout_ms / 10)))
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/** Returns the two routes of the data plane. Their bodies are forwarded unparsed. */
export function proxyRoutes(proxy: CompletionProxy): RawRoute[] {
  return [
    completionRoute(proxy, {
      endpoint: 'chat.completions',
      url: '/v1/chat/completions',
      id: 'createChatCompletion',
      summary: 'Forward a chat completion to a model provider and record it',
    }),
    completionRoute(proxy, {
      endpoint: 'completions',
      url: '/v1/completions',
      id: 'createCompletion',
      summary: 'Forward a legacy completion to a model provider and record it',
    }),
  ]
}

const headers: RawRoute['headers'] = [
  { name: 'X-API-Key', required: true, description: 'A project key, lt_…' },
  {
    name: 'Authorization',
    required: true,
    description: 'Bearer, then your key for the model provider; never stored or logged',
  },
  {
    name: 'X-Provider',
    required: false,
    description: 'openai (the default), anthropic or gemini',
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

function completionRoute(
  proxy: CompletionProxy,
  route: { endpoint: Endpoint; url: string; id: string; summary: string },
): RawRoute {
  const { endpoint, ...docs } = route
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
    handle: (request, response, authorised) =>
      proxy.handle(request, response, { endpoint, authorised }),
    refuse: (request, response, fault) => proxy.refuse(request, response, fault),
  })
}
