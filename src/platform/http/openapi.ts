import { z } from 'zod'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { ifNoneMatchHeader, isConditional } from './conditional-answers.ts'
import type { Json } from './json-schema.ts'
import { headerComponents } from './openapi-headers.ts'
import { namesProject, responsesOf, responseUses, sharedResponses } from './openapi-responses.ts'
import { type NamedSchemas, namedSchemas, type SchemaUse } from './openapi-schemas.ts'
import { defineRoute, type HeaderDocs, type RawRoute, type Route } from './route.ts'
import { admitsOperator, neededFor } from './route-access.ts'
import { tagOf } from './tag-of-url.ts'

/** Builds the OpenAPI 3.1 document of these routes, without pages. */
export function openapiDocument(
  routes: readonly (Route | RawRoute)[],
  info: { version: string },
): Json {
  const sorted = routes
    .filter(({ page }) => page !== true)
    .toSorted((a, b) => (a.url < b.url ? -1 : a.url > b.url ? 1 : 0))
  const schemas = namedSchemas(sorted.flatMap(schemaUses))
  const parameters = new Map(sorted.map((route) => [route, parametersOf(route, schemas)]))
  const shared = sharedParameters([...parameters.values()].flat())
  const errors = sharedResponses(sorted, schemas)
  const paths: Record<string, Json> = {}
  for (const route of sorted) {
    const own = (parameters.get(route) ?? []).map(shared.of)
    const described = {
      ...operation(route, own, schemas),
      responses: responsesOf(route, schemas, errors),
    }
    paths[route.url] = { ...paths[route.url], [route.method.toLowerCase()]: described }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Looptrace',
      description:
        'Tasks, traces and their completeness, for agents that run on language models. Every response has `X-Request-ID`.',
      version: info.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that serves this document.' }],
    tags: tagsOf(sorted.map(({ url }) => url)),
    paths,
    components: {
      securitySchemes,
      parameters: shared.components,
      headers: headerComponents,
      responses: errors,
      schemas: schemas.components,
    },
  }
}

/** Defines the route of the OpenAPI document of a role. */
export function openapiRoute(routes: () => readonly (Route | RawRoute)[], version: string): Route {
  let document: Json | undefined
  return defineRoute({
    method: 'GET',
    url: '/openapi.json',
    id: 'getOpenapi',
    summary: 'Get the OpenAPI document of this server',
    auth: 'public',
    scope: { level: 'public' },
    reply: z.record(z.string(), z.unknown()),
    errors: [],
    handle: async () => {
      document ??= openapiDocument(routes(), { version })
      return document
    },
  })
}

const securitySchemes: Record<string, Json> = {
  key: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'Key of a project or of one of its service accounts.',
  },
  jwt: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Access token from `POST /api/v1/auth/token`, or from the external issuer.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-looptrace_session',
    description:
      'Session of a browser, from `POST /api/v1/auth/session` or a sign-in at the external issuer. Requests that change something also need the header `X-Looptrace-CSRF: 1`.',
  },
  operator: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'Key of a Kubernetes operator, valid in every project.',
  },
  key_as_bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'Project key, for exporters that cannot set `X-API-Key`.',
  },
  provider_key: {
    type: 'http',
    scheme: 'bearer',
    description: 'Your key for the model provider. It is never stored or logged.',
  },
}

function schemaUses(route: Route | RawRoute): SchemaUse[] {
  const query = route.kind === 'api' ? route.query : undefined
  const sent = [route.params, query, route.body]
  const uses = sent.flatMap((schema) =>
    schema === undefined ? [] : [{ schema, io: 'input' as const }],
  )
  return [...uses, ...responseUses(route)]
}

function operation(route: Route | RawRoute, parameters: Json[], schemas: NamedSchemas): Json {
  return {
    operationId: route.id,
    summary: route.summary,
    tags: [tagOf(route.url)],
    security: securityOf(route),
    ...(route.auth !== 'public' && { description: `Needs ${neededFor(route.scope)}.` }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: {
          'application/json': { schema: schemas.of({ schema: route.body, io: 'input' }) },
        },
      },
    }),
  }
}

function parametersOf(route: Route | RawRoute, schemas: NamedSchemas): Json[] {
  return [
    ...fieldParameters('path', route.params, schemas),
    ...fieldParameters('query', route.kind === 'api' ? route.query : undefined, schemas),
    ...(route.headers ?? []).filter(isNoCredential).map(headerParameter),
    ...(isConditional(route) ? [headerParameter(ifNoneMatchHeader)] : []),
    ...(route.idempotent ? [idempotencyParameter] : []),
    ...(namesProject(route) ? [projectParameter] : []),
  ]
}

function fieldParameters(
  place: 'path' | 'query',
  schema: z.ZodType | undefined,
  schemas: NamedSchemas,
): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemas.of({ schema, io: 'input' }) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    ...((place === 'path' || required.includes(name)) && { required: true }),
    ...(description !== undefined && { description }),
    schema: rest,
  }))
}

/** Returns whether the header is a parameter. Credentials are in `security` instead. */
function isNoCredential({ name }: HeaderDocs): boolean {
  return name !== 'X-API-Key' && name !== 'Authorization'
}

function headerParameter(header: HeaderDocs): Json {
  const { name, description, required } = header
  return {
    name,
    in: 'header',
    ...(required && { required }),
    description,
    schema: { type: 'string' },
  }
}

const idempotencyParameter: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A repeated call with the same key and body returns the first response.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
}

const projectParameter: Json = {
  name: 'X-Project-ID',
  in: 'header',
  description:
    'Id of the project. Default: the default project of the user. Required for operators, and for users without a default.',
  schema: { type: 'string', format: 'uuid' },
}

function securityOf({ auth, scope, headers }: Route | RawRoute): Json[] {
  if (auth === 'public') return []
  const operator = admitsOperator(scope) ? [{ operator: [] }] : []
  if (auth === 'jwt_or_key') return [{ jwt: [] }, { key: [] }, { session: [] }, ...operator]
  const authorization = headers?.find(({ name }) => name === 'Authorization')
  if (authorization?.required) return [{ key: [], provider_key: [] }]
  if (authorization !== undefined) return [{ key: [] }, { key_as_bearer: [] }]
  if (auth === 'jwt') return [{ jwt: [] }, { session: [] }, ...operator]
  return [{ [auth]: [] }, ...operator]
}

/** Descriptions of tags. A tag groups operations by the noun of their URL. */
const descriptions: Record<string, string> = {
  access: 'Organizations, projects, members, service accounts and keys.',
  alerts: 'Rules in effect, open incidents, high-risk tasks and statistics.',
  audit: 'Audited calls and reads of content, their proof and its keys.',
  auth: 'Sign-in: access tokens and passwords.',
  conversations: 'Conversations: their tasks, traces and the health of their context.',
  detection: 'Settings and thresholds of detectors.',
  events: 'Server-sent events about changes.',
  feedback: 'Statistics of feedback, patterns, the review queue and labels.',
  observability:
    'Canonical ingest, traces, queries, incidents, retention, archives, stores and the completeness ledger.',
  onboarding:
    'Onboarding: recorded steps, a funnel of them, a report with commands, and the seeded scenario.',
  proxy: 'The data plane: calls of models and OTLP.',
  reliability: 'Release certification: policies, eval runs, certifications and their statements.',
  service: 'The server itself: this document and the keys that sign tokens.',
  tasks: 'Tasks: their calls, tools, findings and cost.',
  verification: 'Claims of answers, their evidence and trust; documents and facts to verify with.',
}

/** Returns the tags of these URLs with their descriptions. */
function tagsOf(urls: readonly string[]): { name: string; description: string }[] {
  const names = [...new Set(urls.map(tagOf))].toSorted()
  return names.map((name) => ({ name, description: descriptions[name] ?? '' }))
}

/** Parameters that several operations share, and references to them. */
type SharedParameters = {
  /** `components.parameters`, by name. */
  components: Record<string, Json>
  /** Returns the parameter, or a reference to it if it is shared. */
  of(parameter: Json): Json
}

/**
 * Finds the parameters of more than one operation. A shared parameter is named after its wire name.
 * If several have the same wire name, the most frequent one gets the name, and another one with a
 * maximum has it in its name: `Limit500`.
 */
function sharedParameters(all: readonly Json[]): SharedParameters {
  const byText = Map.groupBy(all, canonicalJson)
  const shared = [...byText.values()]
    .filter((same) => same.length > 1)
    .toSorted((a, b) => b.length - a.length)
  const components = new Map<string, Json>()
  const names = new Map<string, string>()
  for (const [parameter] of shared) {
    const wireName = pascalCase(String(parameter?.['name']))
    const { maximum } = (parameter?.['schema'] ?? {}) as { maximum?: number }
    const name = components.has(wireName) ? `${wireName}${maximum ?? ''}` : wireName
    if (parameter === undefined || components.has(name)) continue
    components.set(name, parameter)
    names.set(canonicalJson(parameter), name)
  }
  return {
    components: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    of: (parameter) => {
      const name = names.get(canonicalJson(parameter))
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
    },
  }
}

function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/)
  return words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`).join('')
}
