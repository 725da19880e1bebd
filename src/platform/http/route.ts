import type { IncomingMessage, ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { Problem, ProblemCode } from '../../kernel/problem.ts'
import type { KeyScope, OrganizationRole, ProjectRole } from '../../kernel/scopes.ts'
import { parseParts } from './validation.ts'

/** Which credentials a route takes. `key` is a project's X-API-Key, `jwt` an access token. */
export type RouteAuth = 'public' | 'key' | 'jwt' | 'jwt_or_key'

/**
 * What the caller must be allowed to do. `project`: a role in the project, or a key with the scope.
 * `organization`: a role in the organization of the path. `user`: signed in. `operator: true` lets
 * the operator of a cluster in too, by its own key in X-API-Key whatever `auth` says, in any project
 * that X-Project-ID names.
 */
export type RouteScope =
  | { level: 'public' }
  | { level: 'user'; operator?: true }
  | { level: 'organization'; role: OrganizationRole }
  | { level: 'project'; role: ProjectRole; key: RouteKeyScope; operator?: true }

/** The scope, or any of the scopes, that a key must have; null: no key will do. */
export type RouteKeyScope = KeyScope | readonly KeyScope[] | null

/** The scopes of which a key must have one; empty when no key will do. */
export function keyScopesOf(key: RouteKeyScope): readonly KeyScope[] {
  if (key === null) return []
  return typeof key === 'string' ? [key] : key
}

/** Says in words what a caller needs, such as: project viewer, or key scope `tasks:read`. */
export function neededFor(scope: RouteScope): string {
  if (scope.level === 'public') return '–'
  if (scope.level === 'user') return 'to be signed in'
  if (scope.level === 'organization') return `organization ${scope.role}`
  const keys = keyScopesOf(scope.key).map((key) => `\`${key}\``)
  return `project ${scope.role}${keys.length === 0 ? '' : `, or key scope ${keys.join(' or ')}`}`
}

/** Whether the operator of a cluster may call it. */
export function letsOperatorIn(scope: RouteScope): boolean {
  return 'operator' in scope && scope.operator === true
}

/**
 * Who calls, after authentication and authorisation. An `operator` is a Kubernetes operator that
 * speaks for custom resources; only routes that say `operator: true` ever meet one.
 */
export type Caller = {
  kind: 'user' | 'service_account' | 'key' | 'operator'
  /** The user's, service account's, key's or operator key's id. */
  id: string
  /** The project the call is about; empty on routes that are about none. */
  project_id: string
}

/** Turns a request's credentials into a caller, or throws 401, 403, 404 or `project_required`. */
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

/** A route as data. `url` is the whole path with `{names}`; validation, docs and tests read it. */
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

/** A second status of success, which the handler answers by an `Answer` of that status. */
export type OtherReply<R extends Schema = Schema> = {
  status: SuccessStatus
  /** When this status is answered, for the docs. */
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
  /** Status of success; 200 unless set. */
  status?: SuccessStatus
  /** Answers HTML instead of JSON to a client that prefers it. */
  or_html?: true
  /** Answers the version of what it answers as `ETag`. */
  etag?: true
  /** Request headers that it reads itself, beside those of credentials, projects and idempotency. */
  headers?: readonly HeaderDocs[]
  /** What it answers beyond the errors that every route of its kind can. */
  errors: readonly ProblemCode[]
  /** Takes `Idempotency-Key`: a repeated call answers what the first one did. */
  idempotent?: true
  /** Fields of the reply that are shown once and never kept for a repeat. */
  shown_once?: readonly string[]
  /** Calls a minute and address, whatever credentials they carry: for what can be guessed. */
  rate_per_minute_max?: number
  body_bytes_max?: number
  /**
   * The body may hold `__proto__` and `constructor` as keys, which otherwise refuse it whole: the
   * handler treats them as any other key and copies none into an object.
   */
  any_json_keys?: true
}

/** A route ready to serve: `run` validates, calls the handler and answers. */
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

/** A reply with its own status or headers. */
export class Answer<B> {
  readonly body: B
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Sent instead of the body as JSON. */
  readonly html: string | undefined

  constructor(
    body: B,
    about: { status?: number; headers?: Record<string, string>; html?: string } = {},
  ) {
    this.body = body
    this.status = about.status
    this.headers = about.headers ?? {}
    this.html = about.html
  }
}

/** Makes a route of its definition; the only way to serve one. */
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

/** OpenAI's error object, or google.rpc.Status, with which OTLP answers. */
export type RawErrorFormat = 'ProviderError' | 'RpcStatus'

/**
 * A route of the data plane that reads and writes the sockets itself: the server hands it the
 * request before any router or parser. `url` has no parameters. Schemas are for the docs only.
 */
export type RawRoute = RouteDocs & {
  kind: 'raw'
  auth: RouteAuth
  scope: RouteScope
  headers: readonly HeaderDocs[]
  body: Schema
  reply: Schema
  /** How its errors look, by the protocol that it speaks. */
  error_format: RawErrorFormat
  /** The route is handed requests of every method and refuses them itself, in its own format. */
  every_method?: true
  handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Answers a request beside the route (another method, a path below it) in the route's format. */
  refuse: (request: IncomingMessage, response: ServerResponse, fault: Problem) => void
}

export function defineRawRoute(definition: Omit<RawRoute, 'kind'>): RawRoute {
  return { ...definition, kind: 'raw' }
}
