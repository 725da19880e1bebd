import { z } from 'zod'
import { problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import { expected, isStorable } from '../../model/list-query.ts'
import { faultSchema, record } from '../../model/named-schemas.ts'
import { withoutInvisible } from '../../model/names.ts'
import { type Route, requesterOf } from '../../platform/http/index.ts'
import type { Kysely, SavedQueryTables } from '../../platform/relational/index.ts'
import { type ChangeOf, namedDocumentRoutes } from '../documents/index.ts'
import type { RunDeps } from '../query/index.ts'
import { checkTemplate, type QueryTemplate } from './check-template.ts'
import { parameterSchema, parameterTypes } from './parameters.ts'
import { isVisible, type StoredQuery, savedTable, selectVisible } from './store.ts'

const name_characters_max = 200

const description_characters_max = 2_000

const body_bytes_max = 65_536

const parameters_max = 50

const storable = z.string().refine(isStorable, { error: expected('text without U+0000') })

const kinds = ['query', 'aggregate'] as const

const visibilities = ['private', 'project'] as const

/** The body of POST and PUT, checked against the current entities and fields. */
export function savedQueryBody(now_ms: () => number) {
  return z
    .strictObject({
      name: storable
        .min(1)
        .max(name_characters_max)
        .refine(...withoutInvisible)
        .describe('Name, unique in the project.'),
      description: storable.max(description_characters_max).default(''),
      visibility: z
        .enum(visibilities, { error: expected(visibilities.join(' or ')) })
        .meta({ id: 'SavedQueryVisibility' })
        .default('private')
        .describe(
          '`private`: visible to its owner. `project`: visible to all who may read the project.',
        ),
      kind: z
        .enum(kinds, { error: expected(kinds.join(' or ')) })
        .describe('Kind of the body: of query or of query/aggregate.'),
      body: z
        .record(z.string(), z.unknown())
        .refine((body) => Buffer.byteLength(JSON.stringify(body)) <= body_bytes_max, {
          error: `expected at most ${body_bytes_max} bytes`,
        })
        .describe(
          'Body of query or query/aggregate. `{"$param": name}` is a placeholder; the window may be `{"last": "24h"}`.',
        ),
      parameters: z
        .array(parameterSchema)
        .max(parameters_max)
        .default([])
        .superRefine((parameters, context) => {
          const names = parameters.map(({ name }) => name)
          for (const [at, name] of names.entries()) {
            if (names.indexOf(name) === at) continue
            context.addIssue({
              code: 'custom',
              path: [at, 'name'],
              message: 'expected each name once',
            })
          }
        }),
    })
    .superRefine((given, context) => {
      for (const { pointer, detail } of checkTemplate(given, now_ms())) {
        const path = pointer.split('/').slice(1).map(unescaped)
        context.addIssue({ code: 'custom', path: ['body', ...path], message: detail })
      }
    })
    .meta({ id: 'SavedQueryRequest' })
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** A saved query in replies. */
const savedQuerySchema = z
  .strictObject({
    saved_query_id: z.uuid(),
    owner: z.string().describe('Owner: `user:<id>`, `key:<id>` or `service_account:<id>`.'),
    name: z.string(),
    description: z.string(),
    visibility: z.enum(visibilities),
    kind: z.enum(kinds),
    body: z.record(z.string(), z.unknown()),
    parameters: z.array(
      record('QueryParameter', {
        name: z.string(),
        type: z.enum(parameterTypes),
        required: z.boolean(),
        default: z.unknown().optional(),
      }),
    ),
    broken: z
      .array(faultSchema)
      .describe('Faults, such as fields that no longer exist; empty if the query can run.'),
    version: z.int().describe('Version, incremented by each change; also the ETag.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    updated_by: z.string(),
  })
  .meta({ id: 'SavedQuery' })

/** Converts a stored query to its reply, with its faults. */
function toReply(stored: StoredQuery, now_ms: number): z.input<typeof savedQuerySchema> {
  const { id: saved_query_id, project_id: _project, ...rest } = stored
  const template: QueryTemplate = rest
  return { saved_query_id, ...rest, broken: checkTemplate(template, now_ms) }
}

/** The dependencies of the routes of saved queries. */
export type SavedQueryDeps = {
  db: Kysely<SavedQueryTables>
  clock: Clock
  queries: RunDeps
  /** Maximum saved queries of a project. */
  saved_queries_max: number
}

type SavedQuerySpec = z.output<ReturnType<typeof savedQueryBody>>

/** Routes of saved queries. People and keys see those of the project, and their own. */
export function savedQueryDocuments(deps: SavedQueryDeps): Route[] {
  const { db, clock } = deps
  return namedDocumentRoutes(deps, {
    table: savedTable,
    title: 'saved queries',
    documents_max: deps.saved_queries_max,
    is_owned: false,
    url: '/api/v2/observability/saved-queries',
    item_url: '/api/v2/observability/saved-queries/{saved_query_id}',
    list: {
      id: 'listSavedQueries',
      summary: 'Saved queries, newest first',
      reply: 'SavedQueryList',
      field: 'saved_queries',
      filter: {
        kind: z
          .enum(['query', 'aggregate'], { error: expected('query or aggregate') })
          .optional()
          .describe('Returns only saved queries of this kind.'),
      },
    },
    create: { id: 'createSavedQuery', summary: 'Save a query with parameters' },
    get: { id: 'getSavedQuery', summary: 'Read a saved query' },
    put: { id: 'putSavedQuery', summary: 'Replace a saved query' },
    delete: { id: 'deleteSavedQuery', summary: 'Delete a saved query' },
    reads: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    writes: { level: 'project', role: 'editor', key: 'query:run' },
    write_auth: 'jwt_or_key',
    body: savedQueryBody(clock.now_ms),
    reply: savedQuerySchema,
    errors: ['name_taken'],
    put_errors: ['permission_denied'],
    isVisible,
    toColumns: async (_trx, change) => toColumns(change),
    select: (caller, page) =>
      selectVisible(db, { project_id: caller.project_id, owner: requesterOf(caller) }, page),
    toReplies: async (queries) => queries.map((query) => toReply(query, clock.now_ms())),
  })
}

/** Names are unique among the queries of the project, and among the private ones of an owner. */
function toColumns({ spec, before, by }: ChangeOf<StoredQuery, SavedQuerySpec>) {
  const { name, visibility } = spec
  const owner = before?.owner ?? by
  if (owner !== by && visibility !== before?.visibility) {
    throw problem('permission_denied', { detail: 'visibility: only the owner can change it' })
  }
  const unique = visibility === 'project' ? { name, visibility } : { name, visibility, owner }
  return { columns: { ...spec, owner }, unique }
}
