import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../kernel/pages.ts'
import { type Fault, problem } from '../../kernel/problem.ts'
import { expected } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { type Caller, defineRoute, type Route } from '../../platform/http/index.ts'
import { answerAggregate, answerFields, answerQuery, queryWindow } from '../query/index.ts'
import { type Checked, faultsIn, faultsOf, isWithin, parsed, runnable } from './check-template.ts'
import { type Parameter, parameterReaders } from './parameters.ts'
import { savedQueryPath } from './saved-query.ts'
import type { SavedQueryDeps } from './saved-query-deps.ts'
import { absoluteWindow, filled, placesIn, valuesOf } from './template.ts'
import { visibleQuery } from './visible-query.ts'

/** POST /api/v2/observability/saved-queries/{saved_query_id}/run. */
export function runSavedQuery(deps: SavedQueryDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/saved-queries/{saved_query_id}/run',
    id: 'runSavedQuery',
    summary: 'Run a saved query with values',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: savedQueryPath,
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
    handle: async ({ params: { saved_query_id }, body = { parameters: {} }, caller, signal }) => {
      const saved = await visibleQuery(deps, caller, saved_query_id)
      refuseBroken(saved, deps.clock.now_ms())
      const pages = `run of ${saved.id} ${saved.version}`
      return answerRun(deps, { saved, body, pages, caller, signal })
    },
  })
}

const window = z.union(
  [queryWindow, record('LastWindow', { last: z.string().describe('Up to now: 15m, 24h, 7d.') })],
  { error: expected('{from, to} or {last: "24h"}') },
)

const runBody = z
  .strictObject({
    parameters: z.record(z.string(), z.unknown()).default({}).describe('Values, by their names.'),
    window: window.optional().describe('Instead of the saved one.'),
    limit: z.int().min(1).optional().describe('Instead of the saved one.'),
    cursor: z
      .string()
      .min(1)
      .max(30_000)
      .optional()
      .describe("A page's next_cursor; with it the window is that of the first page."),
  })
  .meta({ id: 'RunSavedQueryRequest' })
  .optional()
type RunBody = NonNullable<z.output<typeof runBody>>

const runReply = z
  .strictObject({
    ...answerFields,
    kind: z.enum(['query', 'aggregate']),
    window: queryWindow.describe('What was asked for.'),
    next_cursor: z.string().nullable().describe('Of the next page; null on the last one.'),
    truncated: z.boolean().describe('Of an aggregate: there are more groups than the limit.'),
  })
  .meta({ id: 'SavedQueryRun' })

function refuseBroken(saved: Checked, now_ms: number): void {
  const faults = faultsOf(saved, now_ms)
  const [first] = faults
  if (first === undefined) return
  throw problem('saved_query_broken', { detail: `${first.pointer}: ${first.detail}`, faults })
}

type Run = {
  saved: Checked
  body: RunBody
  /** Names the pages of this version of the saved query. */
  pages: string
  caller: Caller
  signal: AbortSignal
}

async function answerRun(deps: SavedQueryDeps, { saved, body, pages, ...by }: Run) {
  const place = body.cursor === undefined ? undefined : placeIn(pages, body.cursor)
  const asked = askedBody(saved, { ...body, ...(place && { window: place.window }) }, deps)
  const query = asked.parsed
  const about = { project_id: by.caller.project_id, signal: by.signal }
  if (query.kind === 'aggregate') {
    if (place !== undefined) throw problem('invalid_cursor', { detail: 'cursor: expected none' })
    const answer = await answerAggregate(deps.queries, { ...query, ...about })
    return { ...answer, kind: query.kind, window: asked.window, next_cursor: null }
  }
  const page = { query: query.query, cursor: place?.cursor }
  const answer = await answerQuery(deps.queries, { ...page, ...about })
  const { from, to } = asked.window
  const next_cursor =
    answer.next_cursor === null ? null : encodeCursor(pages, [from, to, answer.next_cursor])
  return { ...answer, kind: query.kind, window: asked.window, next_cursor, truncated: false }
}

/** A window that ends now would be another one on the next page, so that the cursor holds it. */
function placeIn(pages: string, cursor: string) {
  const [from, to, inner] = decodeCursor(pages, cursor, 3).map(String)
  return { window: { from: from ?? '', to: to ?? '' }, cursor: inner }
}

function askedBody(saved: Checked, given: RunBody, { clock }: SavedQueryDeps) {
  const { body: template, parameters, kind } = saved
  refuseValues(parameters, given.parameters)
  const values = valuesOf(parameters, given.parameters)
  const now_ms = clock.now_ms()
  const body = runnable(
    {
      ...filled(template, values),
      ...(given.limit !== undefined && { limit: given.limit }),
      ...(given.window !== undefined && { window: absoluteWindow(given.window, now_ms) }),
    },
    now_ms,
  )
  const result = parsed(kind, body)
  if (!result.success) throw refusal(faultsIn(result.error).map((each) => ofValue(each, saved)))
  return { parsed: result.data, window: body['window'] as { from: string; to: string } }
}

function refuseValues(
  parameters: readonly Parameter[],
  given: Readonly<Record<string, unknown>>,
): void {
  const names = parameters.map(({ name }) => name)
  const faults: Fault[] = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => ({
      pointer: `/parameters/${name}`,
      detail: `expected one of ${names.join(', ') || 'none: it takes no parameters'}`,
    }))
  for (const { name, type, required } of parameters) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    const reader = parameterReaders[type]
    const pointer = `/parameters/${name}`
    if (value === undefined && required)
      faults.push({ pointer, detail: `expected ${reader.expected}` })
    if (value !== undefined && !reader.holds(value)) {
      faults.push({ pointer, detail: expected(reader.expected)({ input: value }) })
    }
  }
  if (faults.length > 0) throw refusal(faults)
}

/** What is wrong in the place of a parameter is wrong with its value. */
function ofValue({ pointer, detail }: Fault, { body }: Checked): Fault {
  const place = placesIn(body).find((each) => isWithin(pointer, [each.pointer]))
  return { pointer: place === undefined ? pointer : `/parameters/${place.name}`, detail }
}

function refusal(faults: readonly Fault[]) {
  const [first] = faults
  return problem('invalid_request', { detail: `${first?.pointer}: ${first?.detail}`, faults })
}
