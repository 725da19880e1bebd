import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { z } from 'zod'
import type { Problem, ProblemCode } from '../../kernel/problem.ts'
import { parseParts } from './parse-parts.ts'
import type { Caller, RouteAuth, RouteKeyScope, RouteScope } from './route-access.ts'

type Schema = z.ZodType
type Parsed<S extends Schema | undefined> = S extends Schema ? z.output<S> : undefined
type CallerOf<S extends RouteScope> = S extends { level: 'public' } ? null : Caller

/** A route as data, for validation, docs and tests. `url` is the whole path with `{names}`. */
export type RouteDefinition<
  P extends Schema | undefined,
  Q extends Schema | undefined,
  B extends Schema | undefined,
  R extends Schema,
  S extends RouteScope,
  O extends Schema,
> = RouteDocs & {
  auth: RouteAuth
  scope: S
  params?: P
  query?: Q
  body?: B
  reply: R
  also?: OtherReply<O>
  handle: (request: {
    params: Parsed<P>
    query: Parsed<Q>
    body: Parsed<B>
    caller: CallerOf<S>
    headers: RequestHeaders
    request_id: string
    /** Network of the client: an IPv4 address or an IPv6 /64. Counts attempts, proves nothing. */
    network: string
    /** Aborts when the client leaves. */
    signal: AbortSignal
    authoriseAgain: AuthoriseAgain
    callRoute: CallRoute
  }) => Promise<z.input<R> | Answer<z.input<R> | z.input<O>>>
}

/** A second successful status. The handler returns an `Answer` with that status. */
export type OtherReply<R extends Schema = Schema> = {
  status: SuccessStatus
  /** When the route returns this status, for the docs. */
  description: string
  reply: R
}

/**
 * Checks the credentials of a request again, in the same project, while its answer is being streamed:
 * throws 401, 403 or 404 when they are no longer valid or permitted. `key`: the scope that a key needs,
 * in place of the route's. Such a check is not a use of a session.
 */
export type AuthoriseAgain = (key?: RouteKeyScope) => Promise<void>

type SuccessStatus = 200 | 201 | 202 | 204 | 207 | 302

/** The headers of a request, by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/** A request header, for the docs. */
export type HeaderDocs = { name: string; required: boolean; description: string }

/**
 * The calls of a route that are recorded in the audit trail. `change`: each call. `content`: reads
 * by people of texts that users and agents wrote. `people`: changes by people, without the request
 * body, because the data has its own history and erasure. `none`: calls of the data plane, whose
 * items the ledger counts. Refused calls are recorded for all values except `none`.
 */
export type RouteAudit = 'change' | 'people' | 'content' | 'refusals' | 'none'

type RouteDocs = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  /** operationId of the OpenAPI document. */
  id: string
  summary: string
  /** Successful status; 200 by default. 302 redirects: the `Answer` has the header `location`. */
  status?: SuccessStatus
  /** Returns HTML instead of JSON to clients that prefer it. */
  or_html?: true
  /**
   * Returns lines of JSON (`linesMediaType`) as text, one value a line: always, or to clients that
   * accept them.
   */
  lines?: 'always' | 'if_accepted'
  /** Returns server-sent events (`eventsMediaType`), as a stream that may stay open for hours. */
  events?: true
  /**
   * The route is not a part of the API: a page for browsers, one of its files, or another protocol.
   * The OpenAPI document leaves it out.
   */
  page?: true
  /** Returns the version of the object as `ETag`. */
  etag?: true
  /** Request headers of the route, beside those of credentials, projects and idempotency. */
  headers?: readonly HeaderDocs[]
  /** Errors of the route, beside those of every route of its kind. */
  errors: readonly ProblemCode[]
  /** Supports `Idempotency-Key`: a repeated call returns the first response. */
  idempotent?: true
  /** Fields of the reply that are shown once, and null in a repeated response. */
  shown_once?: readonly string[]
  /** Maximum calls per minute and address, for routes where secrets could be guessed. */
  rate_per_minute_max?: number
  /** Maximum calls per minute and caller, beside the limit of all calls of the caller. */
  caller_rate_per_minute_max?: number
  body_bytes_max?: number
  /** The calls that are audited; by default, each one of a method other than GET. */
  audit?: RouteAudit
  /**
   * Accepts `__proto__` and `constructor` as keys of the body, which are otherwise rejected. The
   * handler must not assign these keys to an object.
   */
  any_json_keys?: true
}

/** A route that can be served. `run` validates a request and calls the handler. */
export type Route = RouteDocs & {
  kind: 'api'
  auth: RouteAuth
  scope: RouteScope
  params: Schema | undefined
  query: Schema | undefined
  body: Schema | undefined
  reply: Schema
  also?: OtherReply
  run: (request: UnparsedRequest) => Promise<Answer<unknown>>
}

/** A request before validation. `caller` is null only on public routes. */
export type UnparsedRequest = {
  params: unknown
  query: unknown
  body: unknown
  caller: Caller | null
  headers: RequestHeaders
  request_id: string
  network: string
  signal: AbortSignal
  authoriseAgain: AuthoriseAgain
  callRoute: CallRoute
}

/**
 * Calls another route of the same server as the same client: with its credentials, project and
 * address. The call is authorised, limited and audited like one that the client sends.
 */
export type CallRoute = (call: {
  method: 'GET' | 'POST'
  /** Path with its query. */
  path: string
  body?: unknown
}) => Promise<{ status: number; body: unknown }>

/** A reply with a status, headers, or content that is not JSON. */
export class Answer<B> {
  readonly body: B
  readonly status: number | undefined
  readonly headers: AnswerHeaders
  /** Text, bytes or a stream to send instead of the body as JSON. */
  readonly content: Content | StreamContent | undefined

  constructor(
    body: B,
    options: {
      status?: number
      headers?: AnswerHeaders
      content?: Content | StreamContent
    } = {},
  ) {
    this.body = body
    this.status = options.status
    this.headers = options.headers ?? {}
    this.content = options.content
  }

  /** Creates a reply that is a stream and has no body. */
  static stream(content: StreamContent, headers: AnswerHeaders): Answer<never> {
    return new Answer(undefined as never, { content, headers })
  }
}

/** The media type of lines of JSON (https://github.com/ndjson/ndjson-spec). */
export const linesMediaType = 'application/x-ndjson'

/** Headers of a reply. A list, such as of cookies, becomes several headers. */
type AnswerHeaders = Readonly<Record<string, string | string[]>>

/** A text in UTF-8, also as bytes that may be compressed, with its media type (`text/html`). */
export type Content = { media_type: string; text: string | Buffer }

/**
 * A stream of text in UTF-8 with its media type. `open` is called when the answer begins, and not for
 * HEAD; it may throw a Problem. The stream is destroyed when the client leaves.
 */
export type StreamContent = { media_type: string; open: () => Readable }

/** The media type of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export const eventsMediaType = 'text/event-stream'

/** Creates a route of its definition. */
export function defineRoute<
  R extends Schema,
  S extends RouteScope,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  O extends Schema = never,
>(definition: RouteDefinition<P, Q, B, R, S, O>): Route {
  const { handle, params, query, body, ...rest } = definition
  return {
    ...rest,
    kind: 'api',
    params,
    query,
    body,
    run: async ({ caller, headers, request_id, network, signal, ...more }) => {
      const { authoriseAgain, callRoute, ...parts } = more
      const anyText = rest.any_json_keys === true
      const parsed = parseParts({ params, query, body }, parts, { anyText })
      const answer = await handle({
        params: parsed.params as Parsed<P>,
        query: parsed.query as Parsed<Q>,
        body: parsed.body as Parsed<B>,
        caller: caller as CallerOf<S>,
        headers,
        request_id,
        network,
        signal,
        authoriseAgain,
        callRoute,
      })
      return answer instanceof Answer ? answer : new Answer(answer)
    },
  }
}

/**
 * Error format of a raw route: the error object of OpenAI, of Anthropic, of Google's APIs or of
 * Langfuse, or google.rpc.Status of OTLP.
 */
type RawErrorFormat =
  | 'ProviderError'
  | 'AnthropicError'
  | 'GoogleError'
  | 'LangfuseError'
  | 'RpcStatus'

/** A start of paths at which a raw route is served too, in place of the start of its URL. */
export type PathAlias = { readonly start: string; readonly instead_of: string }

/**
 * A route of the data plane that reads and writes the socket itself: the server passes it the
 * request before any router or parser. It reads the parameters of its `url` itself, none of which
 * holds a slash. Schemas are for the docs only.
 */
export type RawRoute = RouteDocs & {
  kind: 'raw'
  auth: RouteAuth
  scope: RouteScope
  headers: readonly HeaderDocs[]
  params?: Schema
  body?: Schema
  reply: Schema
  /** Error format of its protocol. */
  error_format: RawErrorFormat
  /** Starts of paths at which clients with another base URL find it; shared by the routes. */
  aliases?: readonly PathAlias[]
  /** The route serves the paths below its URL too, and checks their steps itself. */
  below?: true
  /** Requests for a WebSocket are accepted; any other route refuses them. */
  opens_socket?: true
  /** Pages of the allowed origins may call it (`createCrossOrigin`). */
  cross_origin?: true
  /** The route handles requests of every method, and rejects wrong methods in its own format. */
  every_method?: true
  handle: (request: IncomingMessage, response: ServerResponse, authorised: Authorised) => void
  /** Rejects a request beside the route (another method, a path below it) in its format. */
  refuse: (request: IncomingMessage, response: ServerResponse, fault: Problem) => void
}

/** Notes that the credentials of a call of a raw route are valid. */
type Authorised = () => void

export function defineRawRoute(definition: Omit<RawRoute, 'kind'>): RawRoute {
  return { ...definition, kind: 'raw' }
}
