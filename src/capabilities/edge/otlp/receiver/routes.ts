import { z } from 'zod'
import type { ProblemCode } from '../../../../kernel/problem.ts'
import { defineRawRoute, type RawRoute } from '../../../../platform/http/index.ts'
import type { OtlpReceiver } from './contract.ts'

/** The paths that exporters send to; they answer every method themselves, in OTLP's own words. */
export function otlpRoutes(receiver: OtlpReceiver): RawRoute[] {
  return [
    defineRawRoute({
      ...shared,
      url: '/v1/traces',
      id: 'exportTraces',
      summary: 'Takes spans by OTLP, as protobuf or JSON, packed with gzip or not',
      errors,
      handle: (request, response) => receiver.handle(request, response, 'traces'),
      refuse: (request, response, fault) => receiver.refuse(request, response, fault),
    }),
    defineRawRoute({
      ...shared,
      url: '/v1/logs',
      id: 'exportLogs',
      summary: 'Takes log records with GenAI events by OTLP; others are rejected one by one',
      errors,
      handle: (request, response) => receiver.handle(request, response, 'logs'),
      refuse: (request, response, fault) => receiver.refuse(request, response, fault),
    }),
    defineRawRoute({
      ...shared,
      url: '/v1/metrics',
      id: 'exportMetrics',
      summary: 'Tells an exporter of metrics that they are not taken',
      errors: ['route_not_found'],
      handle: (request, response) => receiver.refuseMetrics(request, response),
      refuse: (request, response, fault) => receiver.refuse(request, response, fault),
    }),
  ]
}

const headers: RawRoute['headers'] = [
  { name: 'X-API-Key', required: false, description: 'A project key, lt_…' },
  {
    name: 'Authorization',
    required: false,
    description: 'Bearer and a project key, where X-API-Key does not come',
  },
  { name: 'Content-Encoding', required: false, description: 'gzip or identity' },
  { name: 'baggage', required: false, description: 'W3C Baggage, kept with each trace' },
]

const anyObject = z.record(z.string(), z.unknown())

const shared = {
  method: 'POST',
  every_method: true,
  auth: 'key',
  scope: { level: 'project', role: 'editor', key: 'ingest:write' },
  headers,
  body: anyObject,
  reply: anyObject,
  error_format: 'RpcStatus',
} as const

const errors: ProblemCode[] = [
  'invalid_request',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'overloaded',
  'shutting_down',
]
