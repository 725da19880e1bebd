import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import { type ProblemCode, problemCatalogue } from '../../kernel/problem.ts'
import { faultSchema, record } from '../../model/named-schemas.ts'
import { isConditional } from './conditional-answers.ts'
import type { Json } from './json-schema.ts'
import { headers } from './openapi-headers.ts'
import type { NamedSchemas, SchemaUse } from './openapi-schemas.ts'
import { problemMediaType } from './problem-reply.ts'
import {
  eventsMediaType,
  linesMediaType,
  type OtherReply,
  type RawRoute,
  type Route,
} from './route.ts'

const codes = Object.keys(problemCatalogue) as [ProblemCode, ...ProblemCode[]]

const codesDescription = Object.entries(problemCatalogue)
  .map(([code, { status, title }]) => `- \`${code}\` (${status}): ${title}`)
  .join('\n')

/** An error of the product APIs: RFC 9457. Some codes add members. */
const problemSchema = z
  .looseObject({
    type: z.string().describe('`urn:looptrace:problem:` followed by the code.'),
    title: z.string().describe('Fixed title of the code.'),
    status: z.int().min(400).max(599).describe('HTTP status.'),
    detail: z.string().describe('Description of the error, and how to fix it.'),
    instance: z.string().describe('Path of the request.'),
    code: z.enum(codes).meta({ id: 'ProblemCode', description: codesDescription }),
    errors: z.array(faultSchema).optional().describe('All faults of an invalid request.'),
  })
  .meta({
    id: 'Problem',
    example: {
      type: 'urn:looptrace:problem:task_not_found',
      title: problemCatalogue.task_not_found.title,
      status: 404,
      detail: 'task_id: got "checkout-17", which is not a task of this project',
      instance: '/api/v1/tasks/checkout-17',
      code: 'task_not_found',
    },
  })

/** An error of the proxy, in the format of OpenAI. */
const providerErrorSchema = record('ProviderError', {
  error: z
    .looseObject({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
    })
    .meta({ id: 'ProviderErrorBody' }),
})

/** An error of the proxy, in the format of Anthropic. */
const anthropicErrorSchema = record('AnthropicError', {
  type: z.literal('error'),
  error: z
    .looseObject({ type: z.string(), message: z.string() })
    .meta({ id: 'AnthropicErrorBody' }),
})

/** An error of the proxy, in the format of Google's APIs. */
const googleErrorSchema = record('GoogleError', {
  error: z
    .looseObject({
      code: z.int().describe('HTTP status.'),
      message: z.string(),
      status: z.string().describe('Name of google.rpc.Code.'),
    })
    .meta({ id: 'GoogleErrorBody' }),
})

const langfuseErrorSchema = record('LangfuseError', {
  message: z.string().describe('Description of the error, and of the setting that avoids it.'),
  error: z.string().describe('Code of the error catalogue.'),
})

/** An error of OTLP: google.rpc.Status as JSON, or in protobuf for a request in protobuf. */
const rpcStatusSchema = record('RpcStatus', {
  code: z.int().describe('Code of google.rpc.Code.'),
  message: z.string(),
  details: z
    .array(
      record('RetryInfo', {
        '@type': z.string(),
        retryDelay: z.string().describe('Seconds followed by `s`, such as `1s`.'),
      }),
    )
    .optional()
    .describe('Delay before a retry. Missing when the request must not be retried.'),
})

/** Formats of errors: of the product APIs, the dialects of the proxy, and OTLP. */
const formats = {
  Problem: { prefix: '', media_type: problemMediaType, schema: problemSchema },
  ProviderError: {
    prefix: 'Provider',
    media_type: 'application/json',
    schema: providerErrorSchema,
  },
  AnthropicError: {
    prefix: 'Anthropic',
    media_type: 'application/json',
    schema: anthropicErrorSchema,
  },
  GoogleError: { prefix: 'Google', media_type: 'application/json', schema: googleErrorSchema },
  LangfuseError: {
    prefix: 'Langfuse',
    media_type: 'application/json',
    schema: langfuseErrorSchema,
  },
  RpcStatus: { prefix: 'Rpc', media_type: 'application/json', schema: rpcStatusSchema },
}
type Format = keyof typeof formats

/** Returns the schemas of a route's responses. */
export function responseUses(route: Route | RawRoute): SchemaUse[] {
  const schemas = successesOf(route).map(({ reply }) => reply)
  return [...schemas, formats[formatOf(route)].schema].map((schema) => ({ schema, io: 'output' }))
}

/** Returns the successful replies of a route, the usual status first. */
function successesOf(route: Route | RawRoute): OtherReply[] {
  const { status = 200, reply } = route
  const usual = { status, reply, description: STATUS_CODES[status] ?? '' }
  return route.kind === 'api' && route.also ? [usual, route.also] : [usual]
}

/**
 * Builds `responses` of an operation. Errors refer to `sharedResponses`, with a description where
 * the operation has other codes than most.
 */
export function responsesOf(
  route: Route | RawRoute,
  schemas: NamedSchemas,
  shared: Record<string, Json>,
): Json {
  const responses: Record<string, Json> = {}
  for (const { status, reply, description } of successesOf(route)) {
    responses[String(status)] = {
      description,
      ...(route.etag && reply === route.reply && { headers: headers('ETag') }),
      ...(status === 302 && { headers: headers('Location') }),
      ...(![204, 302].includes(status) && {
        content: {
          [usualMediaType(route)]: {
            schema: schemas.of({ schema: reply, io: 'output' }),
          },
          ...(route.or_html && { 'text/html': { schema: { type: 'string' } } }),
          ...(route.lines === 'if_accepted' && {
            [linesMediaType]: { schema: { type: 'string' } },
          }),
        },
      }),
    }
  }
  if (isConditional(route))
    responses['304'] = { description: notModified, headers: headers('ETag') }
  for (const [status, codes] of errorStatuses(route)) {
    const name = responseName(formatOf(route), status)
    const description = describedCodes(codes)
    responses[String(status)] = {
      $ref: `#/components/responses/${name}`,
      ...(description !== shared[name]?.['description'] && { description }),
    }
  }
  if (passesAnswers(route)) responses['default'] = { description: 'The answer of the provider.' }
  return responses
}

const notModified =
  'The client holds the current answer, as `If-None-Match` says. There is no body.'

function usualMediaType({ lines, events }: Route | RawRoute): string {
  if (events) return eventsMediaType
  return lines === 'always' ? linesMediaType : 'application/json'
}

/** Returns whether a route passes answers of another server, of any status. */
function passesAnswers(route: Route | RawRoute): boolean {
  return route.kind === 'raw' && route.below === true
}

/** Builds `components.responses`: the errors of these routes by format and status. */
export function sharedResponses(
  routes: readonly (Route | RawRoute)[],
  schemas: NamedSchemas,
): Record<string, Json> {
  const errors = routes.flatMap((route) =>
    errorStatuses(route).map(([status, codes]) => ({ format: formatOf(route), status, codes })),
  )
  const byName = Map.groupBy(errors, ({ format, status }) => responseName(format, status))
  const components = [...byName].map(([name, same]) => {
    const [{ format, status }] = same as [(typeof same)[0]]
    const { media_type, schema } = formats[format]
    const waits = status === 429 || status === 503
    const component: Json = {
      description: mostFrequent(same.map(({ codes }) => describedCodes(codes))),
      headers: waits ? headers('XRequestID', 'RetryAfter') : headers('XRequestID'),
      content: { [media_type]: { schema: schemas.of({ schema, io: 'output' }) } },
    }
    return [name, component] as const
  })
  return Object.fromEntries(components.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function describedCodes(codes: readonly ProblemCode[]): string {
  return codes.map((code) => `\`${code}\``).join(', ')
}

function mostFrequent(texts: readonly string[]): string | undefined {
  const counted = [...Map.groupBy(texts, (text) => text).values()]
  return counted.toSorted((a, b) => b.length - a.length)[0]?.[0]
}

function formatOf(route: Route | RawRoute): Format {
  return route.kind === 'raw' ? route.error_format : 'Problem'
}

function responseName(format: Format, status: number): string {
  return `${formats[format].prefix}${STATUS_CODES[status]?.replaceAll(/[^A-Za-z]/g, '')}`
}

function errorStatuses(route: Route | RawRoute): [number, ProblemCode[]][] {
  const byStatus = Map.groupBy(errorsOf(route), (code) => problemCatalogue[code].status)
  return [...byStatus].toSorted(([a], [b]) => a - b)
}

const catalogue = Object.keys(problemCatalogue) as ProblemCode[]

/**
 * Lists the error codes of a route: its own and those of every route of its kind, in the order of
 * the catalogue.
 */
export function errorsOf(route: Route | RawRoute): ProblemCode[] {
  const codes = new Set<ProblemCode>(route.errors)
  codes.add('rate_limited').add('internal_error')
  if (route.auth !== 'public') {
    codes.add('credentials_missing').add('credentials_invalid')
    if (route.kind === 'api') codes.add('credentials_unsupported').add('issuer_unreachable')
  }
  if (route.scope.level !== 'public') codes.add('permission_denied').add('store_unavailable')
  if (refusesOldPasswords(route)) codes.add('password_change_required')
  if (changesProject(route)) codes.add('project_archived')
  if (namesProject(route)) codes.add('project_required').add('project_not_found')
  if (route.kind === 'api') addInputErrors(route, codes)
  return catalogue.filter((code) => codes.has(code))
}

function addInputErrors(route: Route, codes: Set<ProblemCode>): void {
  codes.add('headers_too_large')
  if (route.params ?? route.query ?? route.body) codes.add('invalid_request')
  if (route.body) codes.add('invalid_json').add('body_too_large').add('unsupported_media_type')
  if (route.idempotent) codes.add('idempotency_conflict')
}

/** Returns whether the route refuses a user who must first replace their password. */
function refusesOldPasswords({ auth, scope }: Route | RawRoute): boolean {
  if (auth === 'public' || auth === 'key') return false
  return scope.level !== 'user' || scope.before_password_change !== true
}

/** Returns whether the route is refused in an archived project. Viewers' calls are reads. */
function changesProject({ method, scope }: Route | RawRoute): boolean {
  if (scope.level !== 'project' || method === 'GET' || scope.in_archived) return false
  return scope.role !== 'viewer'
}

/** Returns whether calls of the route may have to name the project. */
export function namesProject(route: Route | RawRoute): boolean {
  return (
    route.scope.level === 'project' && route.auth !== 'key' && !route.url.includes('{project_id}')
  )
}
