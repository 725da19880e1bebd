import type { IncomingMessage, ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { Problem, ProblemCode } from '../../kernel/problem.ts'
import type { KeyScope, OrganizationRole, ProjectRole } from '../../kernel/scopes.ts'
import { parseParts } from './validation.ts'

/** Credentials that a route accepts. `key` is a project's X-API-Key, `jwt` an access token. */
export type RouteAuth = 'public' | 'key' | 'jwt' | 'jwt_or_key'

/**
 * Required permission of the caller. `project`: a role in the project, or a key with the scope.
 * `organization`: a role in the organization of the path. `user`: signed in. `operator: true` also
 * admits a Kubernetes operator, with its own key in X-API-Key regardless of `auth`, in any project
 * that X-Project-ID names. `before_password_change: true` also admits a user who must first replace
 * their password.
 */
export type RouteScope =
  | { level: 'public' }
  | { level: 'user'; operator?: true; before_password_change?: true }
  | { level: 'organization'; role: OrganizationRole }
  | { level: 'project'; role: ProjectRole; key: RouteKeyScope; operator?: true }

/** The scope, or one of several scopes, that a key needs; null if keys are not accepted. */
export type RouteKeyScope = KeyScope | readonly KeyScope[] | null

/** Returns the scopes of which a key needs one; empty if keys are not accepted. */
export function keyScopesOf(key: RouteKeyScope): readonly KeyScope[] {
  if (key === null) return []
  return typeof key === 'string' ? [key] : key
}

/** Describes the required permission, for example: project viewer, or key scope `tasks:read`. */
export function neededFor(scope: RouteScope): string {
  if (scope.level === 'public') return '–'
  if (scope.level === 'user') return 'to be signed in'
  if (scope.level === 'organization') return `organization ${scope.role}`
  const keys = keyScopesOf(scope.key).map((key) => `\`${key}\``)
  return `project ${scope.role}${keys.length === 0 ? '' : `, or key scope ${keys.join(' or ')}`}`
}

/** Returns whether a Kubernetes operator may call a route of this scope. */
export function letsOperatorIn(scope: RouteScope): boolean {
  return 'operator' in scope && scope.operator === true
}

/**
 * The authenticated and authorised caller. An `operator` is a Kubernetes operator that acts for
 * custom resources; only routes with `operator: true` admit it.
 */
export type Caller = {
  kind: 'user' | 'service_account' | 'key' | 'operator'
  /** Id of the user, service account, key or operator key. */
  id: string
  /** Project of the call; empty on routes without a project. */
  project_id: string
}

/** Authorises a request. Throws 401, 403, 404 or `project_required`. */
export type Authorize = (route: RouteAccess, credentials: Credentials) => Promise<Caller>
export type RouteAccess = { auth: RouteAuth; scope: RouteScope }
export type Credentials = {
  authorization: string | undefined
  api_key: string | undefined
  /** From the `X-Project-ID` header or the `project_id` query parameter. */
  project: string | undefined
  params: Readonly<Record<string, string>>
}

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
    /** Aborts when the client leaves. */
    signal: AbortSignal
  }) => Promise<z.input<R> | Answer<z.input<R> | z.input<O>>>
}

/** A second successful status. The handler returns an `Answer` with that status. */
export type OtherReply<R extends Schema = Schema> = {
  status: SuccessStatus
  /** When the route returns this status, for the docs. */
  description: string
  reply: R
}

type SuccessStatus = 200 | 201 | 202 | 204

/** The headers of a request, by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/** A request header, for the docs. */
export type HeaderDocs = { name: string; required: boolean; description: string }

type RouteDocs = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  /** operationId of the OpenAPI document. */
  id: string
  summary: string
  /** Successful status; 200 by default. */
  status?: SuccessStatus
  /** Returns HTML instead of JSON to clients that prefer it. */
  or_html?: true
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
  body_bytes_max?: number
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
  signal: AbortSignal
}

/** A reply with a status, headers or HTML. */
export class Answer<B> {
  readonly body: B
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** HTML to send instead of the body as JSON. */
  readonly html: string | undefined

  constructor(
    body: B,
    options: { status?: number; headers?: Record<string, string>; html?: string } = {},
  ) {
    this.body = body
    this.status = options.status
    this.headers = options.headers ?? {}
    this.html = options.html
  }
}

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
    run: async ({ caller, headers, request_id, signal, ...parts }) => {
      const parsed = parseParts({ params, query, body }, parts)
      const answer = await handle({
        params: parsed.params as Parsed<P>,
        query: parsed.query as Parsed<Q>,
        body: parsed.body as Parsed<B>,
        caller: caller as CallerOf<S>,
        headers,
        request_id,
        signal,
      })
      return answer instanceof Answer ? answer : new Answer(answer)
    },
  }
}

/** Error format of a raw route: the error object of OpenAI, or google.rpc.Status of OTLP. */
export type RawErrorFormat = 'ProviderError' | 'RpcStatus'

/**
 * A route of the data plane that reads and writes the socket itself: the server passes it the
 * request before any router or parser. `url` has no parameters. Schemas are for the docs only.
 */
export type RawRoute = RouteDocs & {
  kind: 'raw'
  auth: RouteAuth
  scope: RouteScope
  headers: readonly HeaderDocs[]
  body: Schema
  reply: Schema
  /** Error format of its protocol. */
  error_format: RawErrorFormat
  /** The route handles requests of every method, and rejects wrong methods in its own format. */
  every_method?: true
  handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Rejects a request beside the route (another method, a path below it) in its format. */
  refuse: (request: IncomingMessage, response: ServerResponse, fault: Problem) => void
}

export function defineRawRoute(definition: Omit<RawRoute, 'kind'>): RawRoute {
  return { ...definition, kind: 'raw' }
}
