import type { KubeConnection, RawAnswer } from './connection.ts'
import { answerError, type BadAnswer, type KubeAct, KubeError, noAnswer } from './errors.ts'
import type { KubeResource } from './kube-client.ts'

export type KubeRequest = {
  act: KubeAct
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With its query. */
  path: string
  body?: unknown
  content_type?: string
  accept?: string
  signal?: AbortSignal | undefined
}

export type KubeRequests = {
  /** The parsed body of an answer of 2xx; else one of the errors of `errors.ts`. */
  json(request: KubeRequest): Promise<unknown>
  /** The body of an answer of 2xx as it comes. Its beginning alone is bounded in time. */
  stream(request: KubeRequest): Promise<AsyncIterable<Uint8Array>>
}

/** Hears of each answer: its method and status, `<error>` when none came. */
export type OnAnswer = (answer: { method: string; code: string }) => void

/** Requests over a connection, bounded in time, whose errors say what was asked. */
export function createRequests(
  connection: KubeConnection,
  { timeout_ms, onAnswer }: { timeout_ms: number; onAnswer: OnAnswer },
): KubeRequests {
  const asKubeError = (request: KubeRequest, error: unknown): KubeError => {
    if (error instanceof KubeError) return error
    if (!request.signal?.aborted) {
      connection.renew()
      onAnswer({ method: request.method, code: '<error>' })
    }
    return noAnswer(request.act, error)
  }
  const ask = async (request: KubeRequest, signal: AbortSignal): Promise<RawAnswer> => {
    const answer = await connection.send({ ...wire(request), signal })
    const { status } = answer
    if (status === 401) connection.renew()
    if (status >= 300) {
      const bad = await badAnswer(answer)
      onAnswer({ method: request.method, code: String(status) })
      throw answerError(request.act, bad)
    }
    return answer
  }
  return {
    json: async (request) => {
      const limit = timeLimit(timeout_ms, request.signal)
      try {
        const answer = await ask(request, limit.signal)
        const parsed: unknown = JSON.parse(await answer.text())
        onAnswer({ method: request.method, code: String(answer.status) })
        return parsed
      } catch (error) {
        throw asKubeError(request, error)
      } finally {
        limit.end()
      }
    },
    stream: async (request) => {
      const limit = timeLimit(timeout_ms, request.signal)
      try {
        const answer = await ask(request, limit.signal)
        onAnswer({ method: request.method, code: String(answer.status) })
        return answer.bytes()
      } catch (error) {
        throw asKubeError(request, error)
      } finally {
        limit.stopClock()
      }
    },
  }
}

function wire({ method, path, body, content_type, accept }: KubeRequest) {
  return {
    method,
    path,
    headers: {
      accept: accept ?? 'application/json',
      'user-agent': 'looptrace-operator',
      ...(body !== undefined && { 'content-type': content_type ?? 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  }
}

async function badAnswer({ status, retry_after, text }: RawAnswer): Promise<BadAnswer> {
  return { status, retry_after, message: messageOf(await text()) }
}

/** The message of a `Status`; a proxy in front of the server may answer anything. */
function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text)
    return typeof message === 'string' ? message : text
  } catch {
    return text
  }
}

/** A signal that aborts when somebody else's does, or when the time is up. */
export type TimeLimit = {
  signal: AbortSignal
  /** From now on just the other signal counts: for an answer that goes on for long. */
  stopClock(): void
  /** Lets go of both. */
  end(): void
}

/**
 * Bounds one request. `AbortSignal.any` with a signal that lives as long as the process would keep
 * a listener for each request.
 */
export function timeLimit(limit_ms: number, outer: AbortSignal | undefined): TimeLimit {
  const controller = new AbortController()
  const abort = () => controller.abort(outer?.reason)
  if (outer?.aborted) abort()
  outer?.addEventListener('abort', abort, { once: true })
  const timer = setTimeout(
    () => controller.abort(new Error(`no answer within ${limit_ms} ms`)),
    limit_ms,
  )
  const stopClock = () => clearTimeout(timer)
  return {
    signal: controller.signal,
    stopClock,
    end: () => {
      stopClock()
      outer?.removeEventListener('abort', abort)
    },
  }
}

/** A list, an object or one of its subresources. */
export type Target = KubeResource & {
  namespace?: string | undefined
  name?: string | undefined
  subresource?: string | undefined
}

/**
 * The path of a target: `/api/v1/…` for the core group, else `/apis/<group>/<version>/…`.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
 */
export function resourcePath(target: Target): string {
  const { group, version, plural, namespace, name, subresource } = target
  const root = group === '' ? ['api', version] : ['apis', group, version]
  const place = namespace === undefined ? [] : ['namespaces', namespace]
  const object = name === undefined ? [] : [name]
  const part = subresource === undefined ? [] : [subresource]
  const segments = [...root, ...place, plural, ...object, ...part]
  return `/${segments.map(encodeURIComponent).join('/')}`
}

/** A path with those of the values that are there. */
export function withQuery(
  path: string,
  values: Readonly<Record<string, string | number | undefined>>,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/** As RBAC's rules and kubectl say it: `retentionpolicies.looptrace.dev/status`. */
export function resourceName({ group, plural, subresource }: Target): string {
  const whole = group === '' ? plural : `${plural}.${group}`
  return subresource === undefined ? whole : `${whole}/${subresource}`
}
