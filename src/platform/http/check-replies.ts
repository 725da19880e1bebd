import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../../kernel/problem.ts'
import { isJson, type Json } from './json-schema.ts'
import { openapiDocument } from './openapi.ts'
import { errorsOf } from './openapi-responses.ts'
import { problemReply } from './problem-reply.ts'
import { eventsMediaType, linesMediaType, type Route } from './route.ts'

/** A response as sent. `body` is its text. */
type SentReply = {
  status: number
  headers: Readonly<Record<string, unknown>>
  body: string | undefined
}

/** A response that the OpenAPI document of its server does not describe. */
class UndocumentedReply extends Error {
  override readonly name = 'UndocumentedReply'
}

/**
 * Throws `UndocumentedReply` when the status, error code, media type, headers or body of a response
 * differ from the OpenAPI document of its route. For tests, because it compiles a validator for
 * each kind of response.
 */
function checkReply(route: Route, reply: SentReply): void {
  const fault = findFault(route, reply)
  if (fault !== undefined) throw new UndocumentedReply(`${route.id} ${reply.status}: ${fault}`)
}

/** The description of a response in the document. */
type Description = { response: Json; validatorOf: (media_type: string) => ValidateFunction }
type FindDescription = (status: number) => Description | undefined

function findFault(route: Route, reply: SentReply): string | undefined {
  const described = descriptionsOf(route)(reply.status)
  if (described === undefined) return 'the document has no such status'
  const missing = findMissingHeader(described.response, reply)
  if (missing !== undefined) return `it lacks the header ${missing}`
  const { content } = described.response
  if (!isJson(content)) return reply.body ? 'expected no body' : undefined
  const mediaType = String(reply.headers['content-type']).split(';', 1)[0] ?? ''
  if (!isJson(content[mediaType])) return `undocumented media type ${mediaType}`
  if (uncheckedMediaTypes.has(mediaType)) return undefined
  const body: unknown = reply.body ? JSON.parse(reply.body) : undefined
  const validate = described.validatorOf(mediaType)
  if (!validate(body)) return validate.errors?.map(faultText).join(', ')
  return reply.status < 400 ? undefined : findUndocumentedCode(route, body)
}

/** Media types whose bodies have no schema. */
const uncheckedMediaTypes: ReadonlySet<string> = new Set([
  'text/html',
  linesMediaType,
  eventsMediaType,
])

function faultText({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath} ${message} ${JSON.stringify(params)}`
}

function findMissingHeader({ headers = {} }: Json, reply: SentReply): string | undefined {
  const promised = Object.keys(headers as Json).filter((name) => name !== 'Retry-After')
  return promised.find((name) => reply.headers[name.toLowerCase()] === undefined)
}

function findUndocumentedCode(route: Route, body: unknown): string | undefined {
  const { code } = body as { code?: string }
  return errorsOf(route).some((known) => known === code) ? undefined : `undocumented code ${code}`
}

/** Most tests call few routes, so each route gets a document of its own, at its first response. */
const known = new WeakMap<Route, FindDescription>()

function descriptionsOf(route: Route): FindDescription {
  const found = known.get(route)
  if (found !== undefined) return found
  const find = describeReplies(openapiDocument([route], { version: '0' }), route)
  known.set(route, find)
  return find
}

function describeReplies(document: Json, route: Route): FindDescription {
  return (status) => {
    const steps = ['paths', route.url, route.method.toLowerCase(), 'responses', String(status)]
    const inline = objectAt(document, steps)
    const { $ref } = inline ?? {}
    const response = typeof $ref === 'string' ? objectAt(document, pathOf($ref)) : inline
    if (response === undefined) return undefined
    const validatorOf = (media_type: string) =>
      validatorFor(document, objectAt(response, ['content', media_type, 'schema']) ?? {})
    return { response, validatorOf }
  }
}

// Other tests check that the schemas are valid ones.
const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
/** By the text of the schema and of what it refers to: routes of all servers share their errors. */
const validators = new Map<string, ValidateFunction>()

function validatorFor(document: Json, schema: Json): ValidateFunction {
  const components = { schemas: schemasReferredBy(document, schema) }
  const text = JSON.stringify({ ...schema, components })
  const validator = validators.get(text) ?? ajv.compile(JSON.parse(text))
  validators.set(text, validator)
  return validator
}

/** Returns the named schemas that a schema refers to, directly or not. */
function schemasReferredBy(document: Json, schema: Json): Json {
  const named: Json = {}
  const open = [schema]
  for (const one of open) {
    for (const [, name = ''] of JSON.stringify(one).matchAll(schemaReference)) {
      const referred = objectAt(document, ['components', 'schemas', name])
      if (referred === undefined || name in named) continue
      named[name] = referred
      open.push(referred)
    }
  }
  return named
}

const schemaReference = /"#\/components\/schemas\/([^"]+)"/g

const pathOf = ($ref: string) => $ref.split('/').slice(1)

function objectAt(document: Json, steps: readonly string[]): Json | undefined {
  let found: unknown = document
  for (const step of steps) found = isJson(found) ? found[step] : undefined
  return isJson(found) ? found : undefined
}

/** Replaces a response that differs from the document by a 500 with the reason in a header. */
export function replyCheckHook(route: Route) {
  return async (request: FastifyRequest, reply: FastifyReply, body: unknown) => {
    // The client has left, so nothing is sent.
    if (reply.raw.destroyed) return body
    const text = typeof body === 'string' ? body : undefined
    try {
      checkReply(route, { status: reply.statusCode, headers: reply.getHeaders(), body: text })
      return body
    } catch (error) {
      request.log.error({ err: error }, 'a response differs from the OpenAPI document')
      const replaced = problemReply(problem('internal_error'), request.url)
      const reason = encodeURI(String(error)).slice(0, 1000)
      reply.code(500).headers({ ...replaced.headers, 'x-undocumented': reason })
      reply.removeHeader('content-length')
      return JSON.stringify(replaced.body)
    }
  }
}
