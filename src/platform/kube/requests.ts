import type { KubeConnection, RawAnswer } from './connection.ts'
import { answerError, type BadAnswer, type KubeAct, KubeError, noAnswerError } from './errors.ts'
import { type KubeResource, toKubeObject, type WatchEvent } from './kube-client.ts'

export type KubeRequest = {
  act: KubeAct
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path with its query. */
  path: string
  body?: unknown
  content_type?: string
  accept?: string
  signal?: AbortSignal | undefined
}

export type KubeRequests = {
  /** Resolves with the parsed body of a 2xx answer; rejects with an error of `errors.ts`. */
  json(request: KubeRequest): Promise<unknown>
  /** Resolves with the body of a 2xx answer as a stream. The time limit ends when it begins. */
  stream(request: KubeRequest): Promise<AsyncIterable<Uint8Array>>
}

/** Called for each answer with the method and the status, which is `<error>` without an answer. */
export type OnAnswer = (answer: { method: string; code: string }) => void

/** Sends requests over a connection with a time limit. Errors name the verb and the resource. */
export function createRequests(
  connection: KubeConnection,
  { timeout_ms, onAnswer }: { timeout_ms: number; onAnswer: OnAnswer },
): KubeRequests {
  const toKubeError = (request: KubeRequest, error: unknown): KubeError => {
    if (error instanceof KubeError) return error
    if (!request.signal?.aborted) {
      connection.renew()
      onAnswer({ method: request.method, code: '<error>' })
    }
    return noAnswerError(request.act, error)
  }
  const ask = async (request: KubeRequest, signal: AbortSignal): Promise<RawAnswer> => {
    const answer = await connection.send({ ...toRawRequest(request), signal })
    const { status } = answer
    if (status === 401) connection.renew()
    if (status >= 300) {
      const bad = await toBadAnswer(answer)
      onAnswer({ method: request.method, code: String(status) })
      throw answerError(request.act, bad)
    }
    return answer
  }
  return {
    json: async (request) => {
      const limit = createTimeLimit(timeout_ms, request.signal)
      try {
        const answer = await ask(request, limit.signal)
        const parsed: unknown = JSON.parse(await answer.text())
        onAnswer({ method: request.method, code: String(answer.status) })
        return parsed
      } catch (error) {
        throw toKubeError(request, error)
      } finally {
        limit.end()
      }
    },
    stream: async (request) => {
      const limit = createTimeLimit(timeout_ms, request.signal)
      try {
        const answer = await ask(request, limit.signal)
        onAnswer({ method: request.method, code: String(answer.status) })
        return answer.bytes()
      } catch (error) {
        throw toKubeError(request, error)
      } finally {
        limit.stopClock()
      }
    },
  }
}

function toRawRequest({ method, path, body, content_type, accept }: KubeRequest) {
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

async function toBadAnswer({ status, retry_after, text }: RawAnswer): Promise<BadAnswer> {
  return { status, retry_after, message: messageOf(await text()) }
}

/** Returns the message of a `Status`, or the text: a proxy may answer with anything. */
function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text)
    return typeof message === 'string' ? message : text
  } catch {
    return text
  }
}

/** A signal that aborts when the caller's signal does, or when the time is up. */
type TimeLimit = {
  signal: AbortSignal
  /** Ends the time limit; the caller's signal still counts. For answers that are streams. */
  stopClock(): void
  /** Removes the timer and the listener. */
  end(): void
}

/**
 * Bounds one request. `AbortSignal.any` is not used: with a signal that lives as long as the
 * process it would keep a listener for each request.
 */
function createTimeLimit(limit_ms: number, outer: AbortSignal | undefined): TimeLimit {
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

/** A list, an object or a subresource of an object. */
export type Target = KubeResource & {
  /** Undefined or empty: all namespaces, or an object without a namespace. */
  namespace?: string | undefined
  name?: string | undefined
  subresource?: string | undefined
}

/**
 * Returns the path of a target: `/api/v1/…` for the core group, else `/apis/<group>/<version>/…`.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
 */
export function resourcePath(target: Target): string {
  const { group, version, plural, namespace, name, subresource } = target
  const root = group === '' ? ['api', version] : ['apis', group, version]
  const parent = namespace ? ['namespaces', namespace] : []
  const object = name === undefined ? [] : [name]
  const part = subresource === undefined ? [] : [subresource]
  const segments = [...root, ...parent, plural, ...object, ...part]
  return `/${segments.map(encodeURIComponent).join('/')}`
}

/** Appends the defined values to a path as its query. */
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

/** Returns the name that RBAC rules and kubectl use: `retentionpolicies.looptrace.dev/status`. */
export function resourceName({ group, plural, subresource }: Target): string {
  const whole = group === '' ? plural : `${plural}.${group}`
  return subresource === undefined ? whole : `${whole}/${subresource}`
}

/** etcd refuses objects of more than 1.5 MiB; JSON may escape each byte of a string into six. */
const line_characters_max = 16 * 1024 * 1024

/** An ERROR event, with which the server ends a watch. */
export class WatchError extends Error {
  override readonly name = 'WatchError'
  readonly answer: BadAnswer

  constructor(answer: BadAnswer) {
    super(answer.message)
    this.answer = answer
  }
}

/**
 * Parses the events of a watch: one JSON object per line. An unfinished line at the end of the
 * stream is dropped, because the next watch resumes from the version before it.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
export async function* watchEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<WatchEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > line_characters_max) {
      throw new WatchError({
        status: 500,
        message: `a line of over ${line_characters_max} characters`,
      })
    }
    for (const line of lines) {
      const event = parseEvent(line)
      if (event !== undefined) yield event
    }
  }
}

function parseEvent(line: string): WatchEvent | undefined {
  if (line.trim() === '') return undefined
  const { type, object } = JSON.parse(line)
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { type: 'changed', object: toKubeObject(object) }
    case 'DELETED':
      return { type: 'deleted', object: toKubeObject(object) }
    case 'BOOKMARK':
      return { type: 'bookmark', resource_version: object.metadata.resourceVersion }
    case 'ERROR':
      throw new WatchError({
        status: object?.code ?? 500,
        message: object?.message ?? 'the server ended the watch',
        retry_after: object?.details?.retryAfterSeconds?.toString(),
      })
    default:
      return undefined
  }
}
