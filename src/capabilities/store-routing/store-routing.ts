import type { z } from 'zod'
import { Problem, problem } from '../../kernel/problem.ts'
import { type Clock, isoFromNs } from '../../kernel/time.ts'
import { Answer, defineRoute, ifMatchHeader, type Route } from '../../platform/http/index.ts'
import { type Job, type JobDb, readJob, requesterOf } from '../jobs/index.ts'
import { dayOf } from '../storage/index.ts'
import { backfillKind, changeRouting } from './change-routing.ts'
import type { RoutingCache } from './choose-store.ts'
import {
  defaultRouting,
  keptSpan,
  type Routing,
  readableSpan,
  routingBody,
  routingSchema,
  writesToPostgres,
} from './contract.ts'
import {
  findHotState,
  findRouting,
  type HotState,
  type RoutingChange,
  type RoutingDb,
  type StoredRouting,
} from './store.ts'
import { readScorecard, recommendedRoutes } from './store-selection/scorecard.ts'

/** The dependencies of the routes; `routings` is the cache that this process chooses stores by. */
export type StoreRoutingDeps = {
  db: RoutingDb
  clock: Clock
  routings: Pick<RoutingCache, 'forget'>
}

/** GET /api/v2/observability/store-routing. A change names its ETag in If-Match. */
export function getStoreRouting(deps: StoreRoutingDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/store-routing',
    id: 'getStoreRouting',
    summary: 'Store routing of a project and state of its hot window',
    etag: true,
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: null },
    reply: routingSchema,
    errors: ['store_unavailable'],
    handle: async ({ caller: { project_id } }) => {
      const stored = await findRouting(deps.db, project_id)
      return toAnswer(deps, stored ?? { ...noRouting, project_id })
    },
  })
}

/**
 * PUT /api/v2/observability/store-routing: replaces the whole routing. With If-Match, answers 412
 * if the routing has changed since it was read. All processes follow within five seconds. If rows
 * are now written to PostgreSQL, a job fills the hot window; until then ClickHouse answers.
 */
export function putStoreRouting(deps: StoreRoutingDeps): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/observability/store-routing',
    id: 'putStoreRouting',
    summary: 'Set the store routing of a project',
    etag: true,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    headers: [ifMatchHeader],
    body: routingBody,
    reply: routingSchema,
    errors: ['precondition_failed', 'store_unavailable'],
    handle: async ({ body, caller, headers }) => {
      const { project_id, id: updated_by } = caller
      const updated_at = new Date(deps.clock.now_ms())
      const wanted = body.apply_scorecard
        ? await applyScorecard(deps, project_id)
        : { ...defaultRouting, ...setFields(body) }
      const change: RoutingChange = { ...wanted, project_id, updated_at, updated_by }
      const header = headers['if-match']
      const if_match = Array.isArray(header) ? header.join(', ') : header
      const about = { if_match, requested_by: requesterOf(caller) }
      const stored = await writeIfMatch(deps, change, about)
      deps.routings.forget(project_id)
      return toAnswer(deps, stored)
    },
  })
}

/** Returns the fields of the body that are set. */
function setFields({
  apply_scorecard: _,
  ...body
}: z.output<typeof routingBody>): Partial<Routing> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** Returns the stored routing with the routes that the scorecard recommends. */
async function applyScorecard(deps: StoreRoutingDeps, project_id: string): Promise<Routing> {
  const stored = (await findRouting(deps.db, project_id)) ?? defaultRouting
  const { write_stores, hot_window_hours, fallback } = stored
  const { workloads } = await readScorecard(deps, project_id)
  const routes = writesToPostgres(stored)
    ? recommendedRoutes(stored.routes, workloads)
    : stored.routes
  return { write_stores, hot_window_hours, fallback, routes }
}

const noRouting = { ...defaultRouting, version: 0, updated_at: null, updated_by: null }

async function writeIfMatch(
  { db, clock }: StoreRoutingDeps,
  change: RoutingChange,
  { if_match, requested_by }: { if_match: string | undefined; requested_by: string },
): Promise<StoredRouting> {
  const any = if_match === undefined || if_match.trim() === '*'
  const text = /^\s*"(\d{1,15})"\s*$/.exec(if_match ?? '')?.[1]
  const version = text === undefined ? undefined : Number(text)
  if (any || version !== undefined) {
    const stored = await changeRouting(db, change, { version, requested_by, clock })
    if (stored !== undefined) return stored
  }
  const now = await findRouting(db, change.project_id)
  throw problem('precondition_failed', {
    detail: `If-Match: got ${if_match?.slice(0, 80)}, expected "${now?.version ?? 0}". Read the routing again.`,
    faults: [{ pointer: 'If-Match', detail: 'not the current ETag of the routing' }],
  })
}

type ShownRouting = Omit<StoredRouting, 'updated_at'> & { updated_at: string | null }

async function toAnswer({ db, clock }: StoreRoutingDeps, routing: ShownRouting) {
  const { project_id, write_stores, hot_window_hours, routes, fallback } = routing
  const { version, updated_at, updated_by } = routing
  const reply = {
    project_id,
    write_stores: [...write_stores],
    hot_window_hours,
    routes: { ...routes },
    fallback,
    version,
    updated_at,
    updated_by,
    hot_window: writesToPostgres(routing)
      ? await readHotWindow(db, project_id, { now_ms: clock.now_ms(), routing })
      : null,
  }
  return new Answer(reply, { headers: { etag: `"${version}"` } })
}

async function readHotWindow(
  db: RoutingDb,
  project_id: string,
  { now_ms, routing }: { now_ms: number; routing: Routing },
) {
  const { from, to } = keptSpan(now_ms, routing)
  const state = await findHotState(db, project_id, { from: dayOf(from), to: dayOf(to) })
  const job = state?.backfill_job ? await findJob(db, project_id, state.backfill_job) : undefined
  return {
    readable_from: readableFrom(state, readableSpan(now_ms, routing).from),
    backfill: job === undefined ? null : toBackfill(job),
    incomplete_days: (state?.gaps ?? []).map(({ day, reason }) => ({
      day: new Date(day * 86_400_000).toISOString().slice(0, 10),
      reason,
    })),
  }
}

/** Reads a job; undefined if its record was deleted, as those of old runs are. */
async function findJob(db: JobDb, project_id: string, id: string): Promise<Job | undefined> {
  return readJob(db, { project_id, kind: backfillKind, id }).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'job_not_found') return undefined
    throw error
  })
}

function readableFrom(state: HotState | undefined, from: bigint): string | null {
  const covered = state?.covered_from ?? null
  if (covered === null) return null
  return isoFromNs(((covered > from ? covered : from) / 1_000_000n) * 1_000_000n)
}

function toBackfill({ id, state, progress, error }: Job) {
  const { done = 0, of = null, rows = 0 } = (progress ?? {}) as Partial<Record<string, number>>
  return { job_id: id, state, done: done ?? 0, of, rows: rows ?? 0, error }
}
