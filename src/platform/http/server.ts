import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import rateLimit from '@fastify/rate-limit'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import { problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import { inSpan, type Logger, type Metrics } from '../telemetry/index.ts'
import { replyChecker } from './check-replies.ts'
import { type IdempotencyStore, onceOnly } from './idempotency.ts'
import { addressTaken } from './listen-error.ts'
import { answerClientError, asProblem, problemFrom, problemReply } from './problem-reply.ts'
import { type LimitOfKey, limitedBy } from './rate-limit.ts'
import { requestIdFrom } from './request-id.ts'
import type { Answer, Authorize, Caller, RawRoute, Route } from './route.ts'
import { createUnroutable, pathOf, type Unroutable } from './unroutable.ts'

export type HttpServerOptions = {
  routes: readonly (Route | RawRoute)[]
  authorize: Authorize
  idempotency: IdempotencyStore
  logger: Logger
  metrics: Metrics
  clock: Clock
  /** Bytes of a body, where a route sets no limit of its own. */
  body_bytes_max: number
  /** Bytes of all headers of a request; above, 431. */
  header_bytes_max: number
  /** Calls a minute and credential (or address); 0 turns the limit off. */
  rate_per_minute_max: number
  /** Keys that may call more often. */
  limitOfKey?: LimitOfKey
  /** How long a request may take to arrive whole. */
  request_timeout_ms: number
  /** How long an idle connection is kept. */
  keep_alive_ms: number
  /** Answers a connection whose bytes are no HTTP, in place of the server: for the proxy. */
  onClientError?: (error: Error & { code?: string }, socket: Socket) => void
  /** Checks each answer against the OpenAPI document: on in tests, off in service. */
  check_replies?: boolean
}

/** What serves routes. `inject` calls one without a socket, for tests. */
export type HttpServer = {
  /** Resolves with the port it listens on. */
  listen(address: { host: string; port: number }): Promise<number>
  inject: FastifyInstance['inject']
  /** Takes no new connection and resolves when the open requests are answered. */
  close(): Promise<void>
}

/** Builds the server of a role from its routes. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const unroutable = createUnroutable(options.routes)
  const app: FastifyInstance = fastify({
    // Fastify tells at level info what the role says better; its warnings are wanted.
    loggerInstance: options.logger.child(
      {},
      { level: quieterThanInfo(options.logger.level) },
    ) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.body_bytes_max,
    forceCloseConnections: 'idle',
    genReqId: (request) => requestIdFrom(request.headers['x-request-id']),
    requestIdHeader: false,
    routerOptions: { maxParamLength: paramLength_max },
    serverFactory: (handler) => nodeServer(options, unroutable, handler),
    frameworkErrors: (_error, request, reply) => {
      reply.header('x-request-id', request.id)
      sendProblem(unroutable.faultOf(request.method, request.url), request, reply)
    },
    clientErrorHandler: (error, socket) =>
      options.onClientError?.(error, socket) ?? answerClientError(error, socket, asProblem),
  })
  const seconds = options.metrics.histogram({
    name: 'looptrace_http_request_duration_seconds',
    help: 'Time to answer a request of the product APIs, by route and status.',
    labels: ['route', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    if (!request.is404) return undefined
    const allow = unroutable.allowed(pathOf(request.url)).join(', ')
    if (request.method === 'OPTIONS' && allow !== '')
      return reply.header('allow', allow).code(204).send()
    throw unroutable.faultOf(request.method, request.url)
  })
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    seconds.observe({ route, status: String(reply.statusCode) }, reply.elapsedTime / 1000)
    options.logger.debug(
      { request_id: request.id, route, status: reply.statusCode, ms: reply.elapsedTime },
      'answered',
    )
  })
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  await app.register(
    rateLimit,
    limitedBy(options.rate_per_minute_max, 'credential', options.limitOfKey),
  )
  readJsonBodies(app, options.routes)
  const serving = options.check_replies
    ? { ...options, checkReply: replyChecker(options.routes) }
    : options
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

function quieterThanInfo(level: string): string {
  return ['trace', 'debug', 'info'].includes(level) ? 'warn' : level
}

/** A task id has up to 256 characters, of which each may take 12 when it is percent-encoded. */
const paramLength_max = 3_200

type NodeHandler = Parameters<typeof createServer>[1]

/** Node's server, which hands raw routes their sockets before Fastify sees the request. */
function nodeServer(
  options: HttpServerOptions,
  unroutable: Unroutable,
  handler: NodeHandler,
): Server {
  const raw = new Map<string, RawRoute['handle']>()
  const everyMethod = new Map<string, RawRoute['handle']>()
  for (const route of options.routes) {
    if (route.kind !== 'raw') continue
    raw.set(`${route.method} ${route.url}`, route.handle)
    if (route.every_method) everyMethod.set(route.url, route.handle)
  }
  return createServer(
    {
      maxHeaderSize: options.header_bytes_max,
      requestTimeout: options.request_timeout_ms,
      keepAliveTimeout: options.keep_alive_ms,
      noDelay: true,
    },
    (request, response) => {
      const url = request.url ?? ''
      const path = pathOf(url)
      const handle = raw.get(`${request.method} ${path}`) ?? everyMethod.get(path)
      if (handle !== undefined) return handle(request, response)
      const beside = raw.size === 0 ? undefined : unroutable.rawBeside(path)
      if (beside === undefined) return handler?.(request, response)
      const allow = unroutable.allowed(path).join(', ')
      if (request.method === 'OPTIONS' && allow !== '') {
        const id = requestIdFrom(request.headers['x-request-id'])
        return response.writeHead(204, { allow, 'x-request-id': id }).end()
      }
      return beside.refuse(request, response, unroutable.faultOf(request.method, url))
    },
  )
}

/**
 * A PUT or POST may come with a JSON content type and no body at all; then the body is undefined.
 * Keys that could change an object's prototype refuse a body, but on routes that take any key.
 */
function readJsonBodies(app: FastifyInstance, routes: readonly (Route | RawRoute)[]): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  const parseAnyKeys = app.getDefaultJsonParser('ignore', 'ignore')
  const anyKeys = new Set(routes.filter((route) => route.any_json_keys).map(({ url }) => url))
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined)
    const parser = anyKeys.has(request.routeOptions.url ?? '') ? parseAnyKeys : parse
    parser(request, body.toString(), done)
  })
}

type ServeOptions = HttpServerOptions & { checkReply?: ReturnType<typeof replyChecker> }

function serve(app: FastifyInstance, route: Route, options: ServeOptions): void {
  app.route({
    method: route.method,
    url: route.url.replaceAll('{', ':').replaceAll('}', ''),
    ...(route.body_bytes_max !== undefined && { bodyLimit: route.body_bytes_max }),
    ...(route.rate_per_minute_max !== undefined && {
      config: { rateLimit: limitedBy(route.rate_per_minute_max, 'address') },
    }),
    handler: async (request, reply) => {
      const caller = await callerOf(route, request, options.authorize)
      const answer = await inSpan(route.id, { 'http.route': route.url }, () =>
        onceOnly(route, { request, caller }, options, () =>
          route.run({
            params: request.params,
            query: withoutProject(request.query),
            body: request.body,
            caller,
            headers: request.headers,
            request_id: request.id,
            signal: leaveSignal(reply),
          }),
        ),
      )
      return send(route, reply, answer)
    },
    ...(options.checkReply !== undefined && { onSend: checking(route, options.checkReply) }),
  })
}

/** Replaces an answer that the document does not describe by a 500 that says why in a header. */
function checking(route: Route, checkReply: NonNullable<ServeOptions['checkReply']>) {
  return async (request: FastifyRequest, reply: FastifyReply, body: unknown) => {
    // Nobody receives the answer of a client that has left.
    if (reply.raw.destroyed) return body
    const text = typeof body === 'string' ? body : undefined
    try {
      checkReply(route, { status: reply.statusCode, headers: reply.getHeaders(), body: text })
      return body
    } catch (error) {
      request.log.error({ err: error }, 'an answer is not in the document')
      const replaced = problemReply(problem('internal_error'), request.url)
      const reason = encodeURI(String(error)).slice(0, 1000)
      reply.code(500).headers({ ...replaced.headers, 'x-undocumented': reason })
      reply.removeHeader('content-length')
      return JSON.stringify(replaced.body)
    }
  }
}

async function callerOf(
  route: Route,
  request: FastifyRequest,
  authorize: Authorize,
): Promise<Caller | null> {
  if (route.scope.level === 'public') return null
  const query = request.query as Record<string, string | undefined>
  return authorize(route, {
    authorization: request.headers.authorization,
    api_key: single(request.headers['x-api-key']),
    project: single(request.headers['x-project-id']) ?? query['project_id'],
    params: request.params as Record<string, string>,
  })
}

/** The `project_id` query parameter is of the authorisation, whatever the route's own query is. */
function withoutProject(query: unknown): unknown {
  const { project_id: _project, ...rest } = query as Record<string, unknown>
  return rest
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

function leaveSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

function send(route: Route, reply: FastifyReply, answer: Answer<unknown>): FastifyReply {
  reply.code(answer.status ?? route.status ?? 200).headers(answer.headers)
  if (answer.html !== undefined) return reply.type('text/html; charset=utf-8').send(answer.html)
  if (answer.body === undefined) return reply.send()
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer.body))
}

function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const found = problemFrom(error)
  if (found.status >= 500) request.log.error({ err: found.cause ?? found }, found.message)
  const { status, headers, body } = problemReply(found, pathOf(request.url))
  return reply.code(status).headers(headers).send(JSON.stringify(body))
}
