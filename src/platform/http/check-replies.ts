import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../../kernel/problem.ts'
import { isJson, type Json } from './json-schema.ts'
import { openapiDocument } from './openapi.ts'
import { errorsOf } from './openapi-responses.ts'
import { problemReply } from './problem-reply.ts'
import { eventsMediaType, linesMediaType, type Route } from './route.ts'

/** A response as sent. `body` is its text. */
export type SentReply = {
  status: number
  headers: Readonly<Record<string, unknown>>
  body: string | undefined
}

/** A response that the OpenAPI document of its server does not describe. */
export class UndocumentedReply extends Error {
  override readonly name = 'UndocumentedReply'
}

/**
 * Throws `UndocumentedReply` when the status, error code, media type, headers or body of a response
 * differ from the OpenAPI document of its route. For tests, because it compiles a validator for
 * each kind of response.
 */
export function checkReply(route: Route, reply: SentReply): void {
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

const documentUri = 'https://looptrace.dev/openapi.json'

/** Most tests call few routes, so each route gets a document of its own, at its first response. */
const known = new WeakMap<Route, FindDescription>()
/** By the text of the document: servers that define the same route share its validators. */
const compiled = new Map<string, FindDescription>()

function descriptionsOf(route: Route): FindDescription {
  const found = known.get(route)
  if (found !== undefined) return found
  const document = openapiDocument([route], { version: '0' })
  const text = JSON.stringify(document)
  const find = compiled.get(text) ?? compileReplies(document, route)
  compiled.set(text, find)
  known.set(route, find)
  return find
}

function compileReplies(document: Json, route: Route): FindDescription {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(document, documentUri)
  const validators = new Map<string, ValidateFunction>()
  return (status) => {
    const steps = ['paths', route.url, route.method.toLowerCase(), 'responses', String(status)]
    const inline = objectAt(document, steps)
    const { $ref } = inline ?? {}
    const place = typeof $ref === 'string' ? $ref.split('/').slice(1) : steps
    const response = typeof $ref === 'string' ? objectAt(document, place) : inline
    if (response === undefined) return undefined
    const validatorOf = (media_type: string) => {
      const pointer = [...place, 'content', media_type, 'schema'].map(pointerStep).join('/')
      const known = validators.get(pointer)
      const validator = known ?? ajv.compile({ $ref: `${documentUri}#/${pointer}` })
      validators.set(pointer, validator)
      return validator
    }
    return { response, validatorOf }
  }
}

function objectAt(document: Json, steps: readonly string[]): Json | undefined {
  let found: unknown = document
  for (const step of steps) found = isJson(found) ? found[step] : undefined
  return isJson(found) ? found : undefined
}

function pointerStep(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
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
