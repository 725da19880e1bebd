import { z } from 'zod'
import type { ProblemCode } from '../../../../kernel/problem.ts'
import {
  createRateLimiter,
  defineRawRoute,
  type RawRoute,
} from '../../../../platform/http/index.ts'
import { createQuietLog } from '../../../../platform/telemetry/index.ts'
import type { OtlpDependencies, OtlpReceiver } from './contract.ts'
import { startGrpc } from './grpc-server.ts'
import { createHttpExport, refuseRequest } from './http-export.ts'
import { createInflightBytes } from './inflight-bytes.ts'
import { createAdmission, type ReceiverServices } from './intake.ts'
import { createOtlpMeters } from './meters.ts'
import { createPipeline } from './pipeline.ts'

/** Minimum interval between logs of the same fault. */
const logInterval_ms = 1_000

/** Makes the receiver. It serves gRPC only after `listenGrpc`. */
export function createOtlpReceiver(dependencies: OtlpDependencies): OtlpReceiver {
  const { settings, clock, metrics, logger, keys } = dependencies
  const inflight = createInflightBytes(settings.inflight_bytes_max)
  const meters = createOtlpMeters(metrics, inflight)
  const limiter = createRateLimiter(settings.requests_per_minute)
  const waiting: (() => void)[] = []
  let requests = 0
  let stopping = false
  const services: ReceiverServices = {
    settings,
    clock,
    admit: createAdmission({ keys, limiter, clock, stopping: () => stopping }),
    take: createPipeline(dependencies, meters),
    inflight,
    meters,
    quietLog: createQuietLog(logger, clock, logInterval_ms),
    began: () => {
      requests += 1
    },
    ended: (request) => {
      meters.ended(request)
      requests -= 1
      if (requests === 0) for (const resolve of waiting.splice(0)) resolve()
    },
  }
  const answer = createHttpExport(services)
  return {
    handle: answer,
    refuseMetrics: (request, response) => answer(request, response, { signal: 'metrics' }),
    refuse: refuseRequest,
    listenGrpc: (options) => startGrpc(services, options),
    drain: () => {
      stopping = true
      if (requests === 0) return Promise.resolve()
      return new Promise((resolve) => waiting.push(resolve))
    },
  }
}

/** Returns the routes of exporters. They answer every method themselves, in the format of OTLP. */
export function otlpRoutes(receiver: OtlpReceiver): RawRoute[] {
  return [
    defineRawRoute({
      ...shared,
      url: '/v1/traces',
      id: 'exportTraces',
      summary: 'Receive spans by OTLP, as protobuf or JSON, optionally compressed with gzip',
      errors,
      handle: (request, response, authorised) =>
        receiver.handle(request, response, { signal: 'traces', authorised }),
      refuse: (request, response, fault) => receiver.refuse(request, response, fault),
    }),
    defineRawRoute({
      ...shared,
      url: '/v1/logs',
      id: 'exportLogs',
      summary: 'Receive log records with GenAI events by OTLP; others are rejected one by one',
      errors,
      handle: (request, response, authorised) =>
        receiver.handle(request, response, { signal: 'logs', authorised }),
      refuse: (request, response, fault) => receiver.refuse(request, response, fault),
    }),
    defineRawRoute({
      ...shared,
      url: '/v1/metrics',
      id: 'exportMetrics',
      summary: 'Reject metrics, which are not supported',
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
    description: 'Bearer, then a project key; ignored when X-API-Key is sent',
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
