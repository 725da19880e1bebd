import type { z } from 'zod'
import { Semaphore } from '../../kernel/semaphore.ts'

/** A request of the operator to the product's API. */
export type ServiceRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path with its query: `/api/v2/observability/retention-policy`. */
  path: string
  /** Sent as X-Project-ID. */
  project_id?: string
  body?: unknown
  /** The version that a PUT replaces. */
  if_match?: string
  /** Repeated writes with the same key get the first answer. */
  idempotency_key?: string
}

/** An answer with a 2xx status. */
type ServiceAnswer = { status: number; body: unknown; etag: string | undefined }

/**
 * A client of the product's API. A request rejects with `ServiceUnavailable` (no answer, 429, 5xx,
 * a rejected operator key) or `ServiceRefusal`.
 */
export type ServiceClient = { request(request: ServiceRequest): Promise<ServiceAnswer> }

/** The service gave no usable answer. A retry may succeed; nothing is known about the resource. */
export class ServiceUnavailable extends Error {
  override readonly name = 'ServiceUnavailable'
  /** From Retry-After. */
  readonly retry_after_ms: number | undefined

  constructor(message: string, options: { retry_after_ms?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.retry_after_ms = options.retry_after_ms
  }
}

/** The service refused the request (400, 403, 404, 409, 412) with a problem document. */
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

/** Whether an error is a refusal with this code. */
export function isRefusal(error: unknown, code: string): error is ServiceRefusal {
  return error instanceof ServiceRefusal && error.code === code
}

/** Parses the body of an answer. Throws `ServiceUnavailable` for a body of another shape. */
export function parseAnswer<T>(shape: z.ZodType<T>, body: unknown, what: string): T {
  const parsed = shape.safeParse(body)
  if (parsed.success) return parsed.data
  const message = `the service answered with an unreadable ${what}`
  throw new ServiceUnavailable(message, { cause: parsed.error })
}

export type ServiceHttpOptions = {
  /** Base URL without a path: `http://looptrace-api:4000`. */
  url: string
  /** Returns the operator's key. Called for each request, so that a rotated file takes effect. */
  key: () => Promise<string>
  /** Time limit from the request to the end of its answer. */
  timeout_ms: number
  /** Maximum concurrent requests; further requests wait. */
  requests_max: number
}

/**
 * Creates a client over HTTP with the operator's key. Errors quote the method, the path and the
 * service's answer, never the key.
 */
export function createServiceClient(options: ServiceHttpOptions): ServiceClient {
  // Only the operator's workers call this, so their number bounds the waiting requests.
  const slots = new Semaphore({ permits_max: options.requests_max })
  return { request: (request) => slots.run(() => send(options, request)) }
}

async function send(options: ServiceHttpOptions, request: ServiceRequest): Promise<ServiceAnswer> {
  const what = `${request.method} ${request.path}`
  const key = await options.key().catch((cause: unknown) => {
    throw new ServiceUnavailable('reading the key of the operator failed', { cause })
  })
  try {
    const response = await fetch(new URL(request.path, options.url), {
      method: request.method,
      headers: headersOf(request, key),
      // A redirect would send the key to another server.
      redirect: 'manual',
      signal: AbortSignal.timeout(options.timeout_ms),
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    })
    return toAnswer(what, response, await response.text())
  } catch (error) {
    if (error instanceof ServiceUnavailable || error instanceof ServiceRefusal) throw error
    throw new ServiceUnavailable(`${what}: no answer (${causeText(error)})`, { cause: error })
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

/** 4xx statuses that a retry may resolve. */
const unavailable = new Set([401, 408, 425, 429])

function toAnswer(what: string, { status, headers }: Response, text: string): ServiceAnswer {
  if (status >= 200 && status < 300) {
    return { status, body: parseBody(what, text), etag: headers.get('etag') ?? undefined }
  }
  const { code, detail } = parseProblem(text)
  if (status >= 400 && status < 500 && !unavailable.has(status)) {
    throw new ServiceRefusal({ status, code, detail })
  }
  const retry_after_ms = parseRetryAfter(headers.get('retry-after'), headers.get('date'))
  throw new ServiceUnavailable(`${what}: ${describeStatus(status, code)}`, {
    ...(retry_after_ms !== undefined && { retry_after_ms }),
  })
}

function describeStatus(status: number, code: string): string {
  if (status === 401) return 'the service rejected the key of the operator (401)'
  return `the service answered ${status} ${code}`
}

function parseBody(what: string, text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ServiceUnavailable(`${what}: the answer is not JSON: check LOOPTRACE_SERVICE_URL`, {
      cause,
    })
  }
}

const detail_characters_max = 1_000

/** Parses the problem document (RFC 9457) of a refusal; a proxy may answer with anything. */
function parseProblem(text: string): { code: string; detail: string } {
  try {
    const { code, detail, title } = JSON.parse(text)
    return { code: String(code ?? 'unknown'), detail: String(detail ?? title ?? '') }
  } catch {
    return { code: 'unknown', detail: text.slice(0, detail_characters_max) }
  }
}

/**
 * Converts Retry-After to milliseconds: seconds, or a date (RFC 9110). A date is compared with the
 * date of the answer, because the clocks may differ.
 */
export function parseRetryAfter(value: string | null, date: string | null): number | undefined {
  if (value === null) return undefined
  if (/^\d{1,6}$/.test(value.trim())) return Number(value) * 1_000
  const [until_ms, now_ms] = [Date.parse(value), Date.parse(date ?? '')]
  if (Number.isNaN(until_ms) || Number.isNaN(now_ms)) return undefined
  return Math.max(0, until_ms - now_ms)
}

/** Returns the reason of a failure; `fetch` puts it in `cause` of an error "fetch failed". */
function causeText(error: unknown): string {
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(root instanceof Error)) return String(root)
  const code = 'code' in root ? root.code : undefined
  return root.message || String(code ?? root.name)
}
