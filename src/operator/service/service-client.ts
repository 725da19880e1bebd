import { Semaphore } from '../../kernel/semaphore.ts'

/** A request of the operator to the product's API, in a project. */
export type ServiceRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `/api/v2/observability/retention-policy`, with its query. */
  path: string
  /** Goes as X-Project-ID. */
  project_id?: string
  body?: unknown
  /** Version that a PUT replaces. */
  if_match?: string
  /** Repeats of the same write answer as the first did. */
  idempotency_key?: string
}

/** An answer of 2xx. */
export type ServiceAnswer = { status: number; body: unknown; etag: string | undefined }

/**
 * The product's API as the operator calls it: over HTTP, with the operator's own key. A request
 * rejects with `ServiceUnavailable` (no answer, 429, 5xx, a bad operator key) or `ServiceRefusal`.
 */
export type ServiceClient = { request(request: ServiceRequest): Promise<ServiceAnswer> }

/** The service can't be asked now: worth another try, nothing is known of the resource. */
export class ServiceUnavailable extends Error {
  override readonly name = 'ServiceUnavailable'
  /** From Retry-After. */
  readonly retry_after_ms: number | undefined

  constructor(message: string, options: { retry_after_ms?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.retry_after_ms = options.retry_after_ms
  }
}

/** The service said no (400, 403, 404, 409, 412), with its problem document. */
export class ServiceRefusal extends Error {
  override readonly name = 'ServiceRefusal'
  readonly status: number
  readonly code: string

  constructor(refusal: { status: number; code: string; detail: string }) {
    super(refusal.detail)
    this.status = refusal.status
    this.code = refusal.code
  }
}

export type ServiceHttpOptions = {
  /** `http://looptrace-api:4000`: without a path. */
  url: string
  /** The operator's key; asked for each request, so that a rotated file is read anew. */
  key: () => Promise<string>
  /** From the request to the end of its answer. */
  timeout_ms: number
  /** Requests at the same time; further ones wait. */
  requests_max: number
}

/**
 * The product's API over HTTP, as the operator. What it throws quotes the method, the path and what
 * the service said, never the key.
 */
export function createServiceClient(options: ServiceHttpOptions): ServiceClient {
  // The operator's workers are the callers, so their number bounds those that wait.
  const slots = new Semaphore({ permits_max: options.requests_max })
  return { request: (request) => slots.run(() => ask(options, request)) }
}

async function ask(options: ServiceHttpOptions, request: ServiceRequest): Promise<ServiceAnswer> {
  const what = `${request.method} ${request.path}`
  const key = await options.key().catch((cause: unknown) => {
    throw new ServiceUnavailable('the key of the operator could not be read', { cause })
  })
  try {
    const response = await fetch(new URL(request.path, options.url), {
      method: request.method,
      headers: headersOf(request, key),
      // A redirect would carry the key to somebody else.
      redirect: 'manual',
      signal: AbortSignal.timeout(options.timeout_ms),
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    })
    return answerOf(what, response, await response.text())
  } catch (error) {
    if (error instanceof ServiceUnavailable || error instanceof ServiceRefusal) throw error
    throw new ServiceUnavailable(`${what}: no answer (${causeOf(error)})`, { cause: error })
  }
}

function headersOf(request: ServiceRequest, key: string): Record<string, string> {
  const { project_id, if_match, idempotency_key, body } = request
  return {
    'x-api-key': key,
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(project_id !== undefined && { 'x-project-id': project_id }),
    ...(if_match !== undefined && { 'if-match': if_match }),
    ...(idempotency_key !== undefined && { 'idempotency-key': idempotency_key }),
  }
}

/** What is worth another try, though the service answered. */
const unavailable = new Set([401, 408, 425, 429])

function answerOf(what: string, { status, headers }: Response, text: string): ServiceAnswer {
  if (status >= 200 && status < 300) {
    return { status, body: bodyOf(what, text), etag: headers.get('etag') ?? undefined }
  }
  const { code, detail } = problemOf(text)
  if (status >= 400 && status < 500 && !unavailable.has(status)) {
    throw new ServiceRefusal({ status, code, detail })
  }
  const retry_after_ms = retryAfter_ms(headers.get('retry-after'), headers.get('date'))
  throw new ServiceUnavailable(`${what}: ${sentenceOf(status, code)}`, {
    ...(retry_after_ms !== undefined && { retry_after_ms }),
  })
}

function sentenceOf(status: number, code: string): string {
  if (status === 401) return 'the service does not know the key of the operator (401)'
  return `the service answered ${status} ${code}`
}

function bodyOf(what: string, text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ServiceUnavailable(`${what}: the answer is not JSON: is this the service?`, { cause })
  }
}

const detail_characters_max = 1_000

/** The problem document (RFC 9457) of a refusal; a proxy on the way may answer anything. */
function problemOf(text: string): { code: string; detail: string } {
  try {
    const { code, detail, title } = JSON.parse(text)
    return { code: String(code ?? 'unknown'), detail: String(detail ?? title ?? '') }
  } catch {
    return { code: 'unknown', detail: text.slice(0, detail_characters_max) }
  }
}

/**
 * Seconds, or a date (RFC 9110), which is compared with the date of the answer: the clock of the
 * service may not be ours.
 */
export function retryAfter_ms(value: string | null, date: string | null): number | undefined {
  if (value === null) return undefined
  if (/^\d{1,6}$/.test(value.trim())) return Number(value) * 1_000
  const [until_ms, now_ms] = [Date.parse(value), Date.parse(date ?? '')]
  if (Number.isNaN(until_ms) || Number.isNaN(now_ms)) return undefined
  return Math.max(0, until_ms - now_ms)
}

/** fetch says "fetch failed" and keeps what it was in `cause`. */
function causeOf(error: unknown): string {
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(root instanceof Error)) return String(root)
  const code = 'code' in root ? root.code : undefined
  return root.message || String(code ?? root.name)
}
