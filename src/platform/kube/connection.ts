import type { Clock } from '../../kernel/time.ts'
import {
  HttpMethod,
  IsomorphicFetchHttpLibrary,
  KubeConfig,
  RequestContext,
} from './client-node.ts'

/** No API server is configured. The message lists the sources that were tried. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError'
}

export type RawRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path with its query. */
  path: string
  headers: Readonly<Record<string, string>>
  body?: string | undefined
  signal: AbortSignal
}

/** An answer whose body has not been read yet. The caller must read it. */
export type RawAnswer = {
  status: number
  /** The Retry-After header, unparsed. */
  retry_after: string | undefined
  text(): Promise<string>
  bytes(): AsyncIterable<Uint8Array>
}

/** An authenticated connection to one API server. */
export type KubeConnection = {
  /** Resolves with an answer of any status; rejects when there is no answer. */
  send(request: RawRequest): Promise<RawAnswer>
  /** Makes later requests sign in again and use new sockets. */
  renew(): void
}

/**
 * How long credentials are reused, as in client-go; a pod's token file rotates before it expires.
 */
const credentials_ttl_ms = 60_000
/** How long sockets are reused; new ones read the certificates again. */
const sockets_ttl_ms = 600_000

/**
 * Connects by `KUBECONFIG`, `~/.kube/config` or the service account of the pod, in this order.
 * `@kubernetes/client-node` creates a socket pool per request; here one pool serves all requests.
 * It is replaced after an error, so that requests do not queue on a dead connection
 * (https://github.com/kubernetes/client-go/issues/374).
 */
export function openConnection({ clock }: { clock: Clock }): KubeConnection {
  const config = loadKubeConfig()
  const server = config.getCurrentCluster()?.server ?? ''
  const library = new IsomorphicFetchHttpLibrary()
  let session: Promise<Session> | undefined
  const signedIn = async (): Promise<Session> => {
    const now_ms = clock.now_ms()
    const before = await session?.catch(() => undefined)
    if (before && now_ms - before.signed_in_ms < credentials_ttl_ms) return before
    const fresh = signIn(config, server, now_ms)
    session = before ? fresh.then((next) => keepSockets(before, next)) : fresh
    return session
  }
  return {
    send: async (request) => {
      const { headers, dispatcher } = await signedIn()
      const signed = { ...request, headers: { ...headers, ...request.headers } }
      return dispatcher === undefined
        ? sendByLibrary(library, server, signed)
        : sendOn(dispatcher, server, signed)
    },
    renew: () => {
      session = undefined
    },
  }
}

/** Sends with the package's `fetch`, for servers that need no TLS settings (Node's own CAs). */
async function sendByLibrary(
  library: IsomorphicFetchHttpLibrary,
  server: string,
  { method, path, headers, body, signal }: RawRequest,
): Promise<RawAnswer> {
  const context = new RequestContext(`${server}${path}`, methods[method])
  for (const [name, value] of Object.entries(headers)) context.setHeaderParam(name, value)
  if (body !== undefined) context.setBody(body)
  context.setSignal(signal)
  const answer = await library.send(context).toPromise()
  return {
    status: answer.httpStatusCode,
    retry_after: answer.headers['retry-after'],
    text: () => answer.body.text(),
    bytes: () => answer.body.stream() ?? noBytes(),
  }
}

/**
 * Sends on the package's sockets without its `fetch`, which needs twice the CPU time; requests are
 * most of the operator's CPU time. The caller sets the time limit.
 */
async function sendOn(
  dispatcher: Dispatcher,
  server: string,
  { method, path, headers, body, signal }: RawRequest,
): Promise<RawAnswer> {
  const { origin, pathname } = new URL(server)
  const response = dispatcher.request({
    ...{ origin, method, headers, signal },
    path: `${pathname === '/' ? '' : pathname}${path}`,
    body: body ?? null,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const answer = await abortable(signal, response)
  const retryAfter = answer.headers['retry-after']
  return {
    status: answer.statusCode,
    retry_after: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    text: () => answer.body.text(),
    bytes: () => answer.body,
  }
}

/** Rejects on abort at once; undici ignores the signal while a request waits for a connection. */
function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  const forget = () => signal.removeEventListener('abort', abort)
  work.then(resolve, reject).finally(forget)
  return promise
}

async function* noBytes(): AsyncIterable<Uint8Array> {
  // The stream of an answer without a body.
}

const methods = {
  GET: HttpMethod.GET,
  POST: HttpMethod.POST,
  PUT: HttpMethod.PUT,
  PATCH: HttpMethod.PATCH,
  DELETE: HttpMethod.DELETE,
} as const

type Dispatcher = NonNullable<ReturnType<RequestContext['getDispatcher']>>

type Session = {
  headers: Readonly<Record<string, string>>
  dispatcher: Dispatcher | undefined
  signed_in_ms: number
  opened_ms: number
}

function loadKubeConfig(): KubeConfig {
  const config = new KubeConfig()
  config.loadFromDefault()
  const cluster = config.getCurrentCluster()
  if (cluster === null || (cluster.name === 'cluster' && cluster.server === noServer)) {
    throw new KubeConfigError(
      'no API server is configured: set KUBECONFIG, or provide ~/.kube/config or a pod service account',
    )
  }
  return config
}

/** Fallback server of the package when nothing is configured. */
const noServer = 'http://localhost:8080'

async function signIn(config: KubeConfig, server: string, now_ms: number): Promise<Session> {
  const context = new RequestContext(server, HttpMethod.GET)
  await config.applySecurityAuthentication(context)
  return {
    headers: context.getHeaders(),
    dispatcher: context.getDispatcher(),
    signed_in_ms: now_ms,
    opened_ms: now_ms,
  }
}

function keepSockets(before: Session, next: Session): Session {
  if (next.opened_ms - before.opened_ms >= sockets_ttl_ms) return next
  return { ...next, dispatcher: before.dispatcher, opened_ms: before.opened_ms }
}

/** Returns the namespace of the current context: the default of commands without `-n`. */
export function currentNamespace(): string {
  const config = new KubeConfig()
  config.loadFromDefault()
  return config.getContextObject(config.getCurrentContext())?.namespace ?? 'default'
}
