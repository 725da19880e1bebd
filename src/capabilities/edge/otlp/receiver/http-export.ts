import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import { requestIdFrom } from '../../../../platform/http/index.ts'
import {
  encodeExportResponse,
  type OtlpEncoding,
  type OtlpSignal,
} from '../decode/answer/export-response.ts'
import { sendFault, sendResult } from './http-answer.ts'
import { checkHead, credentialsOf, encodingOf, isGzip } from './http-head.ts'
import { BodyBytes } from './inflight-bytes.ts'
import { ClientGone, readBody } from './read-body.ts'
import type { ReceiverServices } from './services.ts'
import { problemOf } from './status-codes.ts'
import { unpack } from './unpack.ts'

/** One HTTP request on its way through. */
type HttpExport = {
  request: IncomingMessage
  response: ServerResponse
  signal: OtlpSignal | 'metrics'
  /** Of the answer; that of the request where it is one of the two. */
  encoding: OtlpEncoding
  request_id: string
  held: BodyBytes
}

/** Makes what answers one HTTP request to the path of a signal. It never throws. */
export function createHttpExport(
  services: ReceiverServices,
): (request: IncomingMessage, response: ServerResponse, signal: HttpExport['signal']) => void {
  return (request, response, signal) => {
    const encoding = encodingOf(request)
    const request_id = requestIdFrom(request.headers['x-request-id'])
    const held = new BodyBytes(services.inflight)
    const call: HttpExport = {
      request,
      response,
      signal,
      encoding: encoding ?? 'json',
      request_id,
      held,
    }
    services.began()
    serve(call, services)
      .catch((error: unknown) => refuse(call, services, { fault: error, headers: [] }))
      .then((result) => {
        held.release()
        services.ended({ transport: 'http', encoding: encoding ?? 'none', result })
      })
  }
}

/** Answers a request that is no export with an error, in the encoding of the request. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  fault: Problem,
): void {
  sendFault({ request, response }, fault, {
    encoding: encodingOf(request) ?? 'json',
    request_id: requestIdFrom(request.headers['x-request-id']),
    headers: Object.entries(fault.headers).flat(),
  })
}

/** Resolves with the result to count; rejects with what is to be answered. */
async function serve(call: HttpExport, services: ReceiverServices): Promise<string> {
  const { request, signal, encoding } = call
  if (request.method !== 'POST') throw methodRefused(request)
  if (signal === 'metrics') throw problem('route_not_found', { detail: noMetrics })
  const asked = services.admit(credentialsOf(request))
  const admission = asked instanceof Promise ? await asked : asked
  if (admission.fault) return refuse(call, services, admission)
  checkHead(request, services)
  const body = await bodyOf(call, services)
  const { baggage } = request.headers
  const { rejected, message, ingest_request_id } = await services.take({
    signal,
    encoding,
    body,
    project_id: admission.key.project_id,
    environment: admission.key.environment ?? '',
    release: '',
    received_at_ms: services.clock.now_ms(),
    ...(typeof baggage === 'string' && { baggage }),
  })
  const answer = encodeExportResponse(encoding, signal, { rejected, error_message: message })
  sendResult(call.response, encoding, {
    body: answer,
    request_id: call.request_id,
    ingest_request_id,
  })
  return rejected > 0 ? 'partial' : 'ok'
}

async function bodyOf(call: HttpExport, services: ReceiverServices): Promise<Buffer> {
  const { request, held } = call
  const { body_bytes_max, body_idle_timeout_ms } = services.settings
  const limits = { bytes_max: body_bytes_max, idle_timeout_ms: body_idle_timeout_ms }
  const came = await readBody(request, limits, held)
  const body = isGzip(request) ? await unpack(came, body_bytes_max, held) : came
  services.meters.received('http', came.length, body.length)
  return body
}

/** Answers with the error, unless the client has left; returns what is to be counted. */
function refuse(
  call: HttpExport,
  { quietLog }: ReceiverServices,
  { fault: error, headers }: { fault: unknown; headers: readonly string[] },
): string {
  if (error instanceof ClientGone) return 'client_gone'
  const fault = problemOf(error)
  if (fault.status >= 500) {
    quietLog(`OTLP over HTTP: ${fault.code}`, { err: fault.cause ?? fault })
  }
  if (!call.response.headersSent) {
    const { encoding, request_id } = call
    const allow = fault.code === 'method_not_allowed' ? ['Allow', 'POST'] : []
    sendFault(call, fault, { encoding, request_id, headers: [...headers, ...allow] })
  }
  return fault.code
}

const noMetrics = 'metrics are not taken: send traces to /v1/traces and logs to /v1/logs'

function methodRefused({ method }: IncomingMessage): Problem {
  const detail = `expected POST, got ${method}`
  return problem('method_not_allowed', { detail })
}
