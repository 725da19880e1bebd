import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import type { Clock } from '../../kernel/time.ts'
import { type KubeEnvironment, kubeEnvironment } from '../config/index.ts'
import { findKubeTarget, type KubeCluster, KubeConfigError, type KubeTarget } from './kubeconfig.ts'
import { type Credentials, createSignIn } from './sign-in.ts'

type RawRequest = {
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
 * Connects by `KUBECONFIG`, `~/.kube/config` or the service account of the pod, in this order. One
 * pool of sockets serves all requests. It is replaced after an error, so that requests do not queue
 * on a dead connection (https://github.com/kubernetes/client-go/issues/374).
 */
export function openConnection({
  clock,
  env = kubeEnvironment(),
}: {
  clock: Clock
  env?: KubeEnvironment
}): KubeConnection {
  const target = findKubeTarget(env)
  const server = serverOf(target.cluster)
  const signIn = createSignIn(target, env.variables)
  let session: Promise<Session> | undefined
  const signedIn = async (): Promise<Session> => {
    const now_ms = clock.now_ms()
    const before = await session?.catch(() => undefined)
    if (before && now_ms - before.signed_in_ms < credentials_ttl_ms) return before
    session = signIn.read(now_ms).then((read) => toSession(read, { target, now_ms, before }))
    return session
  }
  return {
    send: async (request) => {
      const { headers, dispatcher } = await signedIn()
      return sendOn(dispatcher, server, { ...request, headers: { ...headers, ...request.headers } })
    },
    renew: () => {
      session = undefined
      signIn.forget()
    },
  }
}

/** Plain HTTP would send the credentials in the clear, so a file has to ask for it. */
function serverOf(cluster: KubeCluster): URL {
  const server = URL.parse(cluster.server)
  if (server?.protocol === 'https:') return server
  if (server?.protocol === 'http:' && cluster['insecure-skip-tls-verify']) return server
  throw new KubeConfigError(
    'the API server must be an https:// URL, or http:// with insecure-skip-tls-verify',
  )
}

/** Sends a request. The caller sets the time limit. */
async function sendOn(
  dispatcher: Dispatcher,
  { origin, pathname }: URL,
  { method, path, headers, body, signal }: RawRequest,
): Promise<RawAnswer> {
  const response = dispatcher.request({
    origin,
    method,
    headers,
    signal,
    path: `${pathname.replace(/\/$/, '')}${path}`,
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

type Session = {
  headers: Credentials['headers']
  dispatcher: Dispatcher
  signed_in_ms: number
  opened_ms: number
}

function toSession(
  { headers, tls }: Credentials,
  { target, now_ms, before }: { target: KubeTarget; now_ms: number; before: Session | undefined },
): Session {
  if (before && now_ms - before.opened_ms < sockets_ttl_ms) {
    return { ...before, headers, signed_in_ms: now_ms }
  }
  const uri = target.cluster['proxy-url']
  // Load balancers drop connections that are idle for a minute; undici's default would be 60 s.
  const connect = { ...tls, keepAlive: true, keepAliveInitialDelay: 30_000 }
  const dispatcher = uri ? new ProxyAgent({ uri, requestTls: tls }) : new Agent({ connect })
  return { headers, dispatcher, signed_in_ms: now_ms, opened_ms: now_ms }
}

/** Returns the namespace of the current context: the default of commands without `-n`. */
export function currentNamespace(): string {
  return findKubeTarget(kubeEnvironment()).namespace ?? 'default'
}
