import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../kernel/pages.ts'
import { type Fault, problem } from '../../kernel/problem.ts'
import { expected } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { type Caller, defineRoute, type Route, requesterOf } from '../../platform/http/index.ts'
import { answerAggregate, answerFields, answerQuery, queryWindow } from '../query/index.ts'
import {
  checkTemplate,
  isWithin,
  parseBody,
  type QueryTemplate,
  toFaults,
  withAbsoluteWindow,
} from './check-template.ts'
import { type Parameter, parameterReaders } from './parameters.ts'
import type { SavedQueryDeps } from './saved-queries.ts'
import { isVisible, savedTable } from './store.ts'
import { absoluteWindow, chooseValues, fillTemplate, findPlaceholders } from './template.ts'

/** POST /api/v2/observability/saved-queries/{saved_query_id}/run: runs a saved query. */
export function runSavedQuery(deps: SavedQueryDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/saved-queries/{saved_query_id}/run',
    id: 'runSavedQuery',
    summary: 'Run a saved query',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: savedTable.path,
    body: runBody,
    reply: runReply,
    errors: [
      'saved_query_not_found',
      'saved_query_broken',
      'invalid_cursor',
      'query_too_expensive',
      'rate_limited',
      'store_unavailable',
    ],
    handle: async ({ params, body = { parameters: {} }, caller, signal }) => {
      const key = { project_id: caller.project_id, id: savedTable.idIn(params) }
      const saved = await savedTable.read(deps.db, key)
      if (!isVisible(saved, requesterOf(caller))) throw savedTable.notFound(key.id)
      refuseBroken(saved, deps.clock.now_ms())
      const pages = `run of ${saved.id} ${saved.version}`
      return answerRun(deps, { saved, body, pages, caller, signal })
    },
  })
}

const window = z.union(
  [
    queryWindow,
    record('LastWindow', {
      last: z.string().describe('Length of a window that ends now, such as 15m, 24h or 7d.'),
    }),
  ],
  { error: expected('{from, to} or {last: "24h"}') },
)

const runBody = z
  .strictObject({
    parameters: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('Values of parameters, keyed by name.'),
    window: window.optional().describe('Window to use instead of the saved one.'),
    limit: z.int().min(1).optional().describe('Maximum rows, instead of the saved limit.'),
    cursor: z
      .string()
      .min(1)
      .max(30_000)
      .optional()
      .describe(
        'The `next_cursor` of the previous page, which also carries the window of the first page.',
      ),
  })
  .meta({ id: 'RunSavedQueryRequest' })
  .optional()

type RunBody = NonNullable<z.output<typeof runBody>>

const runReply = z
  .strictObject({
    ...answerFields,
    kind: z.enum(['query', 'aggregate']),
    window: queryWindow.describe('Window of the run.'),
    next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
    truncated: z.boolean().describe('Whether an aggregate has more groups than the limit.'),
  })
  .meta({ id: 'SavedQueryRun' })

function refuseBroken(saved: QueryTemplate, now_ms: number): void {
  const faults = checkTemplate(saved, now_ms)
  const [first] = faults
  if (first === undefined) return
  throw problem('saved_query_broken', { detail: `${first.pointer}: ${first.detail}`, faults })
}

type Run = {
  saved: QueryTemplate
  body: RunBody
  /** Names the list of pages in cursors: this version of the saved query. */
  pages: string
  caller: Caller
  signal: AbortSignal
}

async function answerRun(deps: SavedQueryDeps, { saved, body, pages, ...by }: Run) {
  const position = body.cursor === undefined ? undefined : readRunCursor(pages, body.cursor)
  const filledBody = fillBody(
    saved,
    { ...body, ...(position && { window: position.window }) },
    deps,
  )
  const query = filledBody.query
  const about = { project_id: by.caller.project_id, signal: by.signal }
  if (query.kind === 'aggregate') {
    if (position !== undefined)
      throw problem('invalid_cursor', { detail: 'cursor: expected no cursor for an aggregate' })
    const answer = await answerAggregate(deps.queries, { ...query, ...about })
    return { ...answer, kind: query.kind, window: filledBody.window, next_cursor: null }
  }
  const page = { query: query.query, cursor: position?.cursor }
  const answer = await answerQuery(deps.queries, { ...page, ...about })
  const { from, to } = filledBody.window
  const next_cursor =
    answer.next_cursor === null ? null : encodeCursor(pages, [from, to, answer.next_cursor])
  return { ...answer, kind: query.kind, window: filledBody.window, next_cursor, truncated: false }
}

/** Reads a cursor. It holds the window, since a window that ends now moves between pages. */
function readRunCursor(pages: string, cursor: string) {
  const [from, to, inner] = decodeCursor(pages, cursor, 3).map(String)
  return { window: { from: from ?? '', to: to ?? '' }, cursor: inner }
}

function fillBody(saved: QueryTemplate, given: RunBody, { clock }: SavedQueryDeps) {
  const { body: template, parameters, kind } = saved
  checkValues(parameters, given.parameters)
  const values = chooseValues(parameters, given.parameters)
  const now_ms = clock.now_ms()
  const body = withAbsoluteWindow(
    {
      ...fillTemplate(template, values),
      ...(given.limit !== undefined && { limit: given.limit }),
      ...(given.window !== undefined && { window: absoluteWindow(given.window, now_ms) }),
    },
    now_ms,
  )
  const result = parseBody(kind, body)
  if (!result.success)
    throw refusal(toFaults(result.error).map((each) => blameParameter(each, saved)))
  return { query: result.data, window: body['window'] as { from: string; to: string } }
}

function checkValues(
  parameters: readonly Parameter[],
  given: Readonly<Record<string, unknown>>,
): void {
  const names = parameters.map(({ name }) => name)
  const faults: Fault[] = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => ({
      pointer: `/parameters/${name}`,
      detail: `expected one of ${names.join(', ') || 'none: the query has no parameters'}`,
    }))
  for (const { name, type, required } of parameters) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    const reader = parameterReaders[type]
    const pointer = `/parameters/${name}`
    if (value === undefined && required)
      faults.push({ pointer, detail: `expected ${reader.expected}` })
    if (value !== undefined && !reader.accepts(value)) {
      faults.push({ pointer, detail: expected(reader.expected)({ input: value }) })
    }
  }
  if (faults.length > 0) throw refusal(faults)
}

/** Moves a fault inside a placeholder to the parameter whose value fills it. */
function blameParameter({ pointer, detail }: Fault, { body }: QueryTemplate): Fault {
  const placeholder = findPlaceholders(body).find((each) => isWithin(pointer, [each.pointer]))
  return {
    pointer: placeholder === undefined ? pointer : `/parameters/${placeholder.name}`,
    detail,
  }
}

function refusal(faults: readonly Fault[]) {
  const [first] = faults
  return problem('invalid_request', { detail: `${first?.pointer}: ${first?.detail}`, faults })
}
