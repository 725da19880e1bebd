import type { Socket } from 'node:net'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import { toClientNetwork } from '../../kernel/client-network.ts'
import { problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import type { AuditTrail } from '../audit/index.ts'
import { inSpan, type Logger, type Metrics } from '../telemetry/index.ts'
import { runInInstallation, runInScope } from '../tenancy/index.ts'
import { type AuditedRoutes, openAudits } from './audited-routes.ts'
import { authorizeRequest, recheckOf } from './authorize-request.ts'
import { type CallLimitSettings, CallLimits } from './call-limits.ts'
import { createCallRoute } from './call-route.ts'
import { replyCheckHook } from './check-replies.ts'
import { compressAnswer, mayCompress } from './compress-answers.ts'
import { isConditional, isHeldByClient, shownEtag } from './conditional-answers.ts'
import { type CrossOrigin, createCrossOrigin } from './cross-origin.ts'
import { hostFault } from './host-header.ts'
import { readJsonBodies } from './json-bodies.ts'
import { type LimitedRequests, limitRequests } from './limited-requests.ts'
import { addressTaken } from './listen-error.ts'
import { nodeServer, requestIdFrom } from './node-server.ts'
import { createObserver, hasLeft } from './observe-requests.ts'
import {
  answerClientError,
  asProblem,
  isForProductApi,
  problemFrom,
  problemReply,
} from './problem-reply.ts'
import type { Answer, RawRoute, Route, UnparsedRequest } from './route.ts'
import { type Authorize, type Caller, tenantScopeOf } from './route-access.ts'
import { type IdempotencyStore, runOnce } from './safe-writes.ts'
import { createSecurityHeaders, type PublicAddress } from './security-headers.ts'
import { upgradeFault } from './socket-request.ts'
import { createUnroutable, pathOf } from './unroutable.ts'

export type HttpServerOptions = CallLimitSettings & {
  routes: readonly (Route | RawRoute)[]
  authorize: Authorize
  idempotency: IdempotencyStore
  /** The trail in which calls are recorded. Without it, no call is recorded. */
  audit?: AuditTrail
  /** Maximum recorded refused calls of one actor per minute; 60 by default. 0: no limit. */
  audit_refusals_per_minute_max?: number
  logger: Logger
  metrics: Metrics
  clock: Clock
  /** Maximum size of a body, for routes without their own limit. */
  body_bytes_max: number
  /** Maximum size of all headers of a request. Larger headers get 431. */
  header_bytes_max: number
  /** Maximum time for a request to arrive. */
  request_timeout_ms: number
  /** Time after which an idle connection is closed. */
  keep_alive_ms: number
  /** Addresses and CIDR blocks of proxies whose X-Forwarded-For is believed. None by default. */
  trusted_proxies?: readonly string[]
  /** Origins whose pages may call the routes for programs. None by default. */
  allowed_origins?: readonly string[]
  /** Where people reach the server. Without it, there is no Strict-Transport-Security. */
  public_address?: PublicAddress
  /** Answers requests that are not valid HTTP, except those of the product APIs. For the proxy. */
  onClientError?: (error: Error & { code?: string }, socket: Socket) => void
  /** Checks each response against the OpenAPI document. For tests only. */
  check_replies?: boolean
}

/** A server of routes. `inject` calls a route without a socket, for tests. */
export type HttpServer = {
  /** Listens, and resolves with the port. */
  listen(address: { host: string; port: number }): Promise<number>
  inject: FastifyInstance['inject']
  /** Stops accepting connections, and resolves when open requests are finished. */
  close(): Promise<void>
}

/** Creates the server of a role from its routes. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const unroutable = createUnroutable(options.routes)
  const crossOrigin = createCrossOrigin(options.routes, options.allowed_origins)
  const callLimits = new CallLimits(options, options.metrics)
  const limits = limitRequests(options.routes, callLimits, options.clock)
  const headersOf = createSecurityHeaders(options.public_address)
  const app = createApp(options, { unroutable, crossOrigin, limits: callLimits, headersOf })
  const routeAt = new Map(
    options.routes.map((route) => [`${route.method} ${pathFor(route)}`, route]),
  )
  const routeOf = ({ method, routeOptions }: FastifyRequest) =>
    routeAt.get(`${method === 'HEAD' ? 'GET' : method} ${routeOptions.url}`)
  const { observe, observeLeft } = createObserver(options)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...headersOf(request), 'x-request-id': request.id })
    const cors = crossOrigin.headersFor(request.method, pathOf(request.url), request.headers)
    if (cors !== undefined) reply.headers(cors)
    observeLeft(request, reply)
    limits.enter(routeOf(request), request, reply)
    const { raw, is404 } = request
    const fault = hostFault(raw.rawHeaders) ?? (is404 ? undefined : upgradeFault(raw))
    if (fault !== undefined) throw fault
    if (!is404) return undefined
    const allow = unroutable.allowed(pathOf(request.url)).join(', ')
    if (request.method === 'OPTIONS' && allow !== '')
      return reply.header('allow', allow).code(204).send()
    throw unroutable.faultOf(request.method, request.url)
  })
  app.addHook('onResponse', async (request, reply) => {
    observe(request, reply)
  })
  const audits = openAudits(options)
  app.setErrorHandler(async (error, request, reply) => {
    const route = routeOf(request)
    const fault = hasLeft(error, reply)
      ? problem('client_closed_request', { cause: error })
      : problemFrom(error)
    limits.fail(request, fault)
    if (route?.kind === 'api') await audits.refuse(route, request, fault)
    return sendProblem(fault, request, reply)
  })
  readJsonBodies(app, options.routes)
  const serving: ServeOptions = { ...options, audits, limits }
  for (const route of options.routes) if (route.kind === 'api') serve(app, route, serving)
  await app.ready()
  return {
    listen: async ({ host, port }) => {
      await app.listen({ host, port }).catch(addressTaken(host, port))
      const address = app.server.address()
      return typeof address === 'object' && address !== null ? address.port : port
    },
    inject: app.inject.bind(app),
    close: () => app.close(),
  }
}

type AppParts = {
  unroutable: ReturnType<typeof createUnroutable>
  crossOrigin: CrossOrigin
  limits: CallLimits
  headersOf: ReturnType<typeof createSecurityHeaders>
}

/** Creates the application without routes and hooks; it answers requests that Fastify cannot read. */
function createApp(
  options: HttpServerOptions,
  { unroutable, crossOrigin, limits, headersOf }: AppParts,
): FastifyInstance {
  return fastify({
    // The role logs better than Fastify at level info, so only Fastify's warnings are logged.
    loggerInstance: options.logger.child(
      {},
      { level: atLeastWarn(options.logger.level) },
    ) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.body_bytes_max,
    forceCloseConnections: 'idle',
    genReqId: (request) => requestIdFrom(request.headers['x-request-id']),
    requestIdHeader: false,
    trustProxy: [...(options.trusted_proxies ?? [])],
    routerOptions: { maxParamLength },
    serverFactory: (handler) => nodeServer(options, { unroutable, crossOrigin, limits }, handler),
    frameworkErrors: (_error, request, reply) => {
      reply.headers({ ...headersOf(request), 'x-request-id': request.id })
      sendProblem(unroutable.faultOf(request.method, request.url), request, reply)
    },
    clientErrorHandler: (error, socket) => {
      const { onClientError } = options
      if (onClientError === undefined || isForProductApi(error)) {
        answerClientError(error, socket, asProblem)
      } else onClientError(error, socket)
    },
  })
}

function atLeastWarn(level: string): string {
  return ['trace', 'debug', 'info'].includes(level) ? 'warn' : level
}

/** A task id has up to 256 characters, each of which may take 12 when percent-encoded. */
const maxParamLength = 3_200

type ServeOptions = HttpServerOptions & {
  audits: AuditedRoutes
  limits: LimitedRequests
}

/** Returns the path of a route as Fastify writes it. */
function pathFor({ url }: Pick<Route, 'url'>): string {
  return url.replaceAll('{', ':').replaceAll('}', '')
}

function serve(app: FastifyInstance, route: Route, options: ServeOptions): void {
  app.route({
    method: route.method,
    url: pathFor(route),
    ...(route.body_bytes_max !== undefined && { bodyLimit: route.body_bytes_max }),
    handler: async (request, reply) => {
      const answer = await options.audits.run(route, request, async ({ authorised, change }) => {
        const caller = await runInInstallation('authentication', () =>
          authorizeRequest(route, request, options.authorize),
        )
        if (caller !== null) options.limits.authorise(route, request, reply, caller)
        authorised(caller)
        const authoriseAgain = recheckOf(route, request, { caller, authorize: options.authorize })
        const run = () => route.run({ ...unparsed(app, request, reply, caller), authoriseAgain })
        return runInScope(tenantScopeOf(route.scope, caller), () =>
          inSpan(route.id, { 'http.route': route.url }, () =>
            runOnce(route, { request, caller }, options.idempotency, () => change(run)),
          ),
        )
      })
      return send(route, request, reply, answer)
    },
    onSend: [
      ...(options.check_replies && !route.page ? [replyCheckHook(route)] : []),
      ...(mayCompress(route) ? [compressAnswer] : []),
    ],
  })
}

function unparsed(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller | null,
): Omit<UnparsedRequest, 'authoriseAgain'> {
  const signal = disconnectSignal(reply)
  return {
    params: request.params,
    query: withoutProject(request.query),
    body: request.body,
    caller,
    headers: request.headers,
    request_id: request.id,
    network: toClientNetwork(request.ip),
    signal,
    callRoute: createCallRoute(app, request, signal),
  }
}

/** Removes the `project_id` query parameter, which the authorisation has read. */
function withoutProject(query: unknown): unknown {
  const { project_id: _project, ...rest } = query as Record<string, unknown>
  return rest
}

function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

function send(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer<unknown>,
): FastifyReply {
  const { content } = answer
  const isStream = content !== undefined && 'open' in content
  // Before the headers of the answer, because it may throw.
  const stream = isStream && request.method !== 'HEAD' ? content.open() : undefined
  reply.code(answer.status ?? route.status ?? 200).headers(answer.headers)
  if (content !== undefined) {
    reply.type(`${content.media_type}; charset=utf-8`)
    return isStream ? reply.send(stream) : reply.send(content.text)
  }
  if (answer.body === undefined) return reply.send()
  const text = JSON.stringify(answer.body)
  const etag = isConditional(route) ? shownEtag(answer, text) : undefined
  if (etag !== undefined) reply.header('etag', etag)
  if (etag !== undefined && isHeldByClient(request.headers, etag)) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(text)
}

function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const found = problemFrom(error)
  if (found.status >= 500) request.log.error({ err: found.cause ?? found }, found.message)
  const { status, headers, body } = problemReply(found, pathOf(request.url))
  return reply.code(status).headers(headers).send(JSON.stringify(body))
}
