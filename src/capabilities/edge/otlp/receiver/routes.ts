import { z } from 'zod'
import type { ProblemCode } from '../../../../kernel/problem.ts'
import { defineRawRoute, type RawRoute } from '../../../../platform/http/index.ts'
import type { OtlpSignal } from '../decode/answers.ts'
import type { OtlpReceiver } from './contract.ts'
import { refuseLangfuse } from './langfuse.ts'
import type { LangfuseCall } from './langfuse-answers.ts'

/**
 * Returns the routes of exporters, and those of Langfuse's SDKs beside them. They answer every method
 * themselves, in the format of OTLP or of Langfuse. Unknown paths of Langfuse have the format of the
 * first route.
 */
export function otlpRoutes(receiver: OtlpReceiver): RawRoute[] {
  return [
    ...langfuseCalls.map((route) => langfuseRoute(receiver, route)),
    ...exports.map((route) => exportRoute(receiver, route)),
  ]
}

type ExportRoute = { url: string; id: string; signal: OtlpSignal; summary: string }

const exports: readonly ExportRoute[] = [
  {
    url: '/v1/traces',
    id: 'exportTraces',
    signal: 'traces',
    summary: 'Receive spans by OTLP, as protobuf or JSON, optionally compressed with gzip',
  },
  {
    url: '/v1/logs',
    id: 'exportLogs',
    signal: 'logs',
    summary:
      'Receive log records of coding agents, and GenAI events, by OTLP; others are rejected one by one',
  },
  {
    url: '/v1/metrics',
    id: 'exportMetrics',
    signal: 'metrics',
    summary: 'Receive metrics of coding agents by OTLP; others are rejected one by one',
  },
  {
    url: '/v1/litellm',
    id: 'exportLiteLlm',
    signal: 'litellm',
    summary:
      'Receive calls of the callback generic_api of LiteLLM: a JSON list, or one call per line',
  },
  {
    url: '/api/public/otel/v1/traces',
    id: 'exportLangfuseTraces',
    signal: 'traces',
    summary: 'Receive spans of Langfuse SDKs, at their path and with Basic authentication',
  },
  {
    url: '/api/public/otel/v1/logs',
    id: 'exportLangfuseLogs',
    signal: 'logs',
    summary: 'Receive log records at the OTLP endpoint of Langfuse, as /v1/logs does',
  },
  {
    url: '/api/public/otel/v1/metrics',
    id: 'exportLangfuseMetrics',
    signal: 'metrics',
    summary: 'Receive metrics at the OTLP endpoint of Langfuse, as /v1/metrics does',
  },
]

const anyObject = z.record(z.string(), z.unknown())

/** Items of any type: those without the fields of a call are counted as rejected. */
const callsOfLiteLlm = z.union([z.array(z.unknown()), anyObject])

const scope = { level: 'project', role: 'editor', key: 'ingest:write' } as const

const keyHeaders: RawRoute['headers'] = [
  { name: 'X-API-Key', required: false, description: 'A project key, lt_…' },
  {
    name: 'Authorization',
    required: false,
    description:
      'Bearer, then a project key, or Basic with a project key as password; ignored when X-API-Key is sent',
  },
]

const headers: RawRoute['headers'] = [
  ...keyHeaders,
  { name: 'Content-Encoding', required: false, description: 'gzip or identity' },
  { name: 'baggage', required: false, description: 'W3C Baggage, kept with each trace' },
]

const errors: ProblemCode[] = [
  'invalid_request',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'overloaded',
  'shutting_down',
]

function exportRoute(receiver: OtlpReceiver, { signal, ...route }: ExportRoute): RawRoute {
  return defineRawRoute({
    ...route,
    method: 'POST',
    every_method: true,
    cross_origin: true,
    auth: 'key',
    scope,
    headers,
    body: signal === 'litellm' ? callsOfLiteLlm : anyObject,
    reply: anyObject,
    error_format: 'RpcStatus',
    errors,
    handle: (request, response, authorised) =>
      receiver.handle(request, response, { signal, authorised }),
    refuse: (request, response, fault) => receiver.refuse(request, response, fault),
  })
}

type LangfuseRoute = Pick<
  RawRoute,
  'url' | 'id' | 'summary' | 'method' | 'status' | 'auth' | 'scope'
> & {
  call: LangfuseCall
}

const langfuseCalls: readonly LangfuseRoute[] = [
  {
    method: 'POST',
    url: '/api/public/ingestion',
    id: 'refuseLangfuseBatch',
    call: 'ingestion',
    summary: 'Answer a batch of the older Langfuse API: each item fails, and says what to set',
    status: 207,
    auth: 'key',
    scope,
  },
  {
    method: 'GET',
    url: '/api/public/projects',
    id: 'listLangfuseProjects',
    call: 'projects',
    summary: 'Return the project of the key in the form of Langfuse, for its check of credentials',
    auth: 'key',
    scope,
  },
  {
    method: 'GET',
    url: '/api/public/health',
    id: 'getLangfuseHealth',
    call: 'health',
    summary: 'Return that the server runs, in the form of Langfuse',
    auth: 'public',
    scope: { level: 'public' },
  },
]

function langfuseRoute(receiver: OtlpReceiver, { call, ...route }: LangfuseRoute): RawRoute {
  return defineRawRoute({
    ...route,
    every_method: true,
    headers: route.auth === 'public' ? [] : keyHeaders,
    ...(route.method === 'POST' && { body: anyObject }),
    reply: anyObject,
    error_format: 'LangfuseError',
    errors: ['method_not_allowed', ...(route.auth === 'public' ? [] : langfuseErrors)],
    handle: (request, response, authorised) =>
      receiver.handleLangfuse(request, response, { call, authorised }),
    refuse: refuseLangfuse,
  })
}

const langfuseErrors: readonly ProblemCode[] = [
  'request_timeout',
  'body_too_large',
  'overloaded',
  'shutting_down',
]
