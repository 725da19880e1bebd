import {
  HttpMethod,
  IsomorphicFetchHttpLibrary,
  KubeConfig,
  RequestContext,
} from '@kubernetes/client-node'
import type { Clock } from '../../kernel/time.ts'

/** There is nothing to connect to; the message says what was looked for. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError'
}

export type RawRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With its query. */
  path: string
  headers: Readonly<Record<string, string>>
  body?: string | undefined
  signal: AbortSignal
}

/** An answer whose body is still to come; it has to be read. */
export type RawAnswer = {
  status: number
  /** Retry-After as it came. */
  retry_after: string | undefined
  text(): Promise<string>
  bytes(): AsyncIterable<Uint8Array>
}

/** The way to one API server, signed in. */
export type KubeConnection = {
  /** Rejects when there is no answer; any status is an answer. */
  send(request: RawRequest): Promise<RawAnswer>
  /** Later requests sign in anew and take new sockets. */
  renew(): void
}

/** A token of a pod is replaced in its file well before it ends; client-go reads it as often. */
const credentials_ttl_ms = 60_000
/** Certificates are read anew then. */
const sockets_ttl_ms = 600_000

/**
 * Connects by `KUBECONFIG`, `~/.kube/config` or the service account of the pod, in this order.
 * The package makes a pool of sockets for each request; one pool serves all requests here, and is
 * left when something on it went wrong: requests must not queue on a connection whose other end is
 * gone (https://github.com/kubernetes/client-go/issues/374).
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

/** How the package reaches servers that need no settings of TLS: with certificates of Node's own. */
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
 * The same on the package's own sockets, past its `fetch`: that costs twice the processor, and
 * most of the operator's processor is spent on requests. Time limits are the caller's.
 */
async function sendOn(
  dispatcher: Dispatcher,
  server: string,
  { method, path, headers, body, signal }: RawRequest,
): Promise<RawAnswer> {
  const { origin, pathname } = new URL(server)
  const asked = dispatcher.request({
    ...{ origin, method, headers, signal },
    path: `${pathname === '/' ? '' : pathname}${path}`,
    body: body ?? null,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const answer = await unlessAborted(signal, asked)
  const retryAfter = answer.headers['retry-after']
  return {
    status: answer.statusCode,
    retry_after: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    text: () => answer.body.text(),
    bytes: () => answer.body,
  }
}

/** A request that waits for a connection hears of the signal only when it has one. */
function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  const forget = () => signal.removeEventListener('abort', abort)
  work.then(resolve, reject).finally(forget)
  return promise
}

async function* noBytes(): AsyncIterable<Uint8Array> {
  // An answer without a body is a stream that has ended.
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
      'no API server is known: expected KUBECONFIG, ~/.kube/config or the service account of a pod',
    )
  }
  return config
}

/** What the package falls back to. */
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

/** The namespace of the current context, which a command without `-n` means. */
export function currentNamespace(): string {
  const config = new KubeConfig()
  config.loadFromDefault()
  return config.getContextObject(config.getCurrentContext())?.namespace ?? 'default'
}
