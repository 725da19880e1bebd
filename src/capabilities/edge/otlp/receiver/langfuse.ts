import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../../../../kernel/problem.ts'
import { discardRest, requestIdFrom, securityHeaderList } from '../../../../platform/http/index.ts'
import {
  closesConnection,
  credentialsOf,
  discarded_bytes_max,
  headersOfFault,
  isGzip,
  methodRefused,
  restIsLarge,
} from './http-export.ts'
import { BodyBytes } from './inflight-bytes.ts'
import { ClientGone, type ReceiverServices, readBody, unpack } from './intake.ts'
import {
  answerHealth,
  answerIngestion,
  answerProjects,
  type LangfuseAsked,
  type LangfuseCall,
  type LangfuseError,
  whatToSet,
} from './langfuse-answers.ts'
import { clientMessage, toProblem } from './status-codes.ts'

/** Maximum bytes of a batch, as Langfuse limits it. */
const ingestion_bytes_max = 5 * 1024 * 1024

const methods: Readonly<Record<LangfuseCall, string>> = {
  ingestion: 'POST',
  projects: 'GET',
  health: 'GET',
}

/** Makes the handler of calls of Langfuse's SDKs that are not exports. It never throws. */
export function createLangfuse(
  services: ReceiverServices,
): (request: IncomingMessage, response: ServerResponse, asked: LangfuseAsked) => void {
  return (request, response, asked) => {
    const held = new BodyBytes(services.inflight)
    services.began()
    serve({ request, response, ...asked }, services, held)
      .then(() => 'ok')
      .catch((error: unknown) => {
        if (error instanceof ClientGone) return 'client_gone'
        const fault = toProblem(error)
        if (fault.status >= 500) services.quietLog(`Langfuse: ${fault.code}`, { err: fault })
        if (!response.headersSent) refuseLangfuse(request, response, fault)
        return fault.code
      })
      .then((result) => {
        held.release()
        services.ended({ transport: 'http', encoding: 'json', result })
      })
  }
}

type Exchange = LangfuseAsked & { request: IncomingMessage; response: ServerResponse }

async function serve(
  { request, response, call, authorised }: Exchange,
  services: ReceiverServices,
  held: BodyBytes,
): Promise<void> {
  if (request.method !== methods[call]) throw methodRefused(request, methods[call])
  if (call === 'health') return send(request, response, { status: 200, body: answerHealth })
  const asked = services.admit(credentialsOf(request))
  const admission = asked instanceof Promise ? await asked : asked
  if (admission.fault) throw admission.fault
  authorised?.()
  if (call === 'projects') {
    return send(request, response, { status: 200, body: answerProjects(admission.key.project_id) })
  }
  const { body_idle_timeout_ms: idle_timeout_ms } = services.settings
  const came = await readBody(request, { bytes_max: ingestion_bytes_max, idle_timeout_ms }, held)
  const body = isGzip(request) ? await unpack(came, ingestion_bytes_max, held) : came
  const answer = answerIngestion(body)
  const { length } = answer.errors
  const { project_id } = admission.key
  services.quietLog(`Langfuse: a batch of an older SDK was refused. ${whatToSet}`, { project_id })
  services.meters.took('langfuse_ingestion', length, { ingestion_unsupported: length })
  send(request, response, { status: 207, body: answer })
}

/** Answers with an error as Langfuse's SDKs show it. */
export function refuseLangfuse(
  request: IncomingMessage,
  response: ServerResponse,
  fault: Problem,
): void {
  const { code, status } = fault
  const isUnknown = code === 'route_not_found' || code === 'method_not_allowed'
  const message = isUnknown ? `${clientMessage(fault)}. ${whatToSet}.` : clientMessage(fault)
  const body: LangfuseError = { message, error: code }
  const headers = headersOfFault(request, fault)
  send(request, response, { status, body, headers, closes: closesConnection(request, fault) })
}

type Reply = {
  status: number
  body: object
  headers?: readonly string[]
  /** Whether the connection is closed; by default if much of the request is still to come. */
  closes?: boolean
}

function send(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const body = Buffer.from(JSON.stringify(reply.body))
  response.writeHead(reply.status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(body.length),
    'X-Request-ID',
    requestIdFrom(request.headers['x-request-id']),
    ...securityHeaderList,
    ...(reply.headers ?? []),
  ])
  response.write(body)
  if (reply.closes ?? restIsLarge(request)) discardRest(request, response, discarded_bytes_max)
  else response.end()
}
