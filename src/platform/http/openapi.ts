import { z } from 'zod'
import { type ProblemCode, problemCatalogue } from '../../kernel/problem.ts'
import { problemMediaType } from './problem-reply.ts'
import {
  defineRoute,
  type HeaderDocs,
  letsOperatorIn,
  type OtherReply,
  type RawErrorFormat,
  type RawRoute,
  type Route,
  type RouteAccess,
} from './route.ts'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of these routes: what works, and nothing else. */
export function openapiDocument(
  routes: readonly (Route | RawRoute)[],
  info: { version: string },
): Json {
  const paths: Record<string, Json> = {}
  const sorted = routes.toSorted((a, b) => (a.url < b.url ? -1 : a.url > b.url ? 1 : 0))
  for (const route of sorted) {
    paths[route.url] = { ...paths[route.url], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Looptrace',
      version: info.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        operator: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'The key of a Kubernetes operator, which works in any project.',
        },
      },
      schemas: {
        Problem: problemSchema,
        ProviderError: providerErrorSchema,
        RpcStatus: rpcStatusSchema,
      },
    },
  }
}

/** Serves the document of the routes that the role serves. */
export function openapiRoute(routes: () => readonly (Route | RawRoute)[], version: string): Route {
  return defineRoute({
    method: 'GET',
    url: '/openapi.json',
    id: 'getOpenapi',
    summary: 'The OpenAPI document of this server',
    auth: 'public',
    scope: { level: 'public' },
    reply: z.record(z.string(), z.unknown()),
    errors: [],
    handle: async () => openapiDocument(routes(), { version }),
  })
}

const problemSchema: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', enum: Object.keys(problemCatalogue) },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'detail'],
        properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
      },
    },
  },
}

const providerErrorSchema: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { type: 'string' },
        type: { type: 'string' },
        param: { type: ['string', 'null'] },
        code: { type: ['string', 'null'] },
      },
    },
  },
}

/** google.rpc.Status as JSON; a request in protobuf gets it in protobuf. */
const rpcStatusSchema: Json = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'integer', description: 'One of google.rpc.Code' },
    message: { type: 'string' },
    details: {
      type: 'array',
      description: 'A RetryInfo where the request may be sent again',
      items: {
        type: 'object',
        required: ['@type', 'retryDelay'],
        properties: { '@type': { type: 'string' }, retryDelay: { type: 'string' } },
      },
    },
  },
}

function operation(route: Route | RawRoute): Json {
  const parameters: Json[] =
    route.kind === 'api'
      ? [...parametersOf('path', route.params), ...parametersOf('query', route.query)]
      : []
  parameters.push(...(route.headers ?? []).map(headerParameter))
  if (route.idempotent) parameters.push(idempotencyParameter)
  if (mayName(route)) parameters.push(...projectParameters)
  return {
    operationId: route.id,
    summary: route.summary,
    tags: [tagOf(route.url)],
    security: securityOf(route),
    'x-looptrace-scope': route.scope,
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: { 'application/json': { schema: schemaOf(route.body, 'input') } },
      },
    }),
    responses: responsesOf(route),
  }
}

function headerParameter(header: HeaderDocs): Json {
  return { ...header, in: 'header', schema: { type: 'string' } }
}

const idempotencyParameter: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeated call with the same key and body answers what the first one did.',
  schema: { type: 'string', maxLength: 255 },
}

const projectParameters: Json[] = [
  {
    name: 'X-Project-ID',
    in: 'header',
    required: false,
    description:
      'The project, for a bearer token that can see more than one; an operator names it always.',
    schema: { type: 'string', format: 'uuid' },
  },
]

function mayName(route: Route | RawRoute): boolean {
  return (
    route.scope.level === 'project' && route.auth !== 'key' && !route.url.includes('{project_id}')
  )
}

function tagOf(url: string): string {
  const [, first = '', second = '', third = ''] = url.split('/')
  if (first !== 'api') return first === 'v1' ? 'proxy' : 'service'
  return second === 'v2' || second === 'v1' ? third : second
}

function securityOf({ auth, scope }: RouteAccess): Json[] {
  if (auth === 'public') return []
  const operator = letsOperatorIn(scope) ? [{ operator: [] }] : []
  if (auth === 'jwt_or_key') return [{ jwt: [] }, { key: [] }, ...operator]
  return [{ [auth]: [] }, ...operator]
}

function parametersOf(place: 'path' | 'query', schema: z.ZodType | undefined): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description !== undefined && { description }),
    schema: rest,
  }))
}

function responsesOf(route: Route | RawRoute): Json {
  const { status = 200, reply } = route
  const responses: Record<string, Json> = successOf({ status, description: 'Success', reply })
  if (route.kind === 'api' && route.also) Object.assign(responses, successOf(route.also))
  const byStatus = Map.groupBy(errorsOf(route), (code) => problemCatalogue[code].status)
  for (const [status, codes] of [...byStatus].toSorted(([a], [b]) => a - b)) {
    responses[String(status)] = {
      description: codes.map((code) => `\`${code}\`: ${problemCatalogue[code].title}`).join('. '),
      content:
        route.kind === 'raw'
          ? { 'application/json': { schema: schemaNamed(route.error_format) } }
          : { [problemMediaType]: { schema: schemaNamed('Problem') } },
    }
  }
  return responses
}

function successOf({ status, description, reply }: OtherReply): Record<string, Json> {
  const content = { 'application/json': { schema: schemaOf(reply, 'output') } }
  return { [status]: { description, ...(status !== 204 && { content }) } }
}

function schemaNamed(name: RawErrorFormat | 'Problem'): Json {
  return { $ref: `#/components/schemas/${name}` }
}

/** What a route can answer: its own errors and those of every route of its kind. */
export function errorsOf(route: Route | RawRoute): ProblemCode[] {
  const codes = new Set<ProblemCode>(route.errors)
  codes.add('rate_limited').add('internal_error')
  if (route.auth !== 'public') codes.add('credentials_missing').add('credentials_invalid')
  if (route.scope.level !== 'public') codes.add('permission_denied').add('store_unavailable')
  if (mayName(route)) codes.add('project_required').add('project_not_found')
  if (route.kind === 'api') addInputErrors(route, codes)
  return [...codes]
}

function addInputErrors(route: Route, codes: Set<ProblemCode>): void {
  if (route.params ?? route.query ?? route.body) codes.add('invalid_request')
  if (route.body) codes.add('invalid_json').add('body_too_large').add('unsupported_media_type')
  if (route.idempotent) codes.add('idempotency_conflict')
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
