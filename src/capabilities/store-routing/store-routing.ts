import type { z } from 'zod'
import { Problem } from '../../kernel/problem.ts'
import { type Clock, isoFromNs } from '../../kernel/time.ts'
import { type Route, requesterOf } from '../../platform/http/index.ts'
import { type EffectiveDocument, projectDocumentRoutes } from '../documents/index.ts'
import { type Job, type JobDb, readJob } from '../jobs/index.ts'
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
  type HotState,
  type RoutingDb,
  routingTable,
  type StoredRouting,
} from './store.ts'
import { readScorecard, recommendedRoutes } from './store-selection/scorecard.ts'

/** The dependencies of the routes; `routings` is the cache that this process chooses stores by. */
export type StoreRoutingDeps = {
  db: RoutingDb
  clock: Clock
  routings: Pick<RoutingCache, 'forget'>
}

/**
 * Routes GET and PUT of the store routing. All processes follow a change within five seconds. If
 * rows are now written to PostgreSQL, a job fills the hot window; until then ClickHouse answers.
 */
export function routingDocumentRoutes(deps: StoreRoutingDeps): Route[] {
  return projectDocumentRoutes(deps, {
    table: routingTable,
    url: '/api/v2/observability/store-routing',
    get: {
      id: 'getStoreRouting',
      summary: 'Store routing of a project and state of its hot window',
      auth: 'jwt',
      scope: { level: 'project', role: 'viewer', key: null },
    },
    put: { id: 'putStoreRouting', summary: 'Set the store routing of a project' },
    body: routingBody,
    reply: routingSchema,
    errors: ['store_unavailable'],
    toColumns: async (body, { project_id }) =>
      body.apply_scorecard
        ? await applyScorecard(deps, project_id)
        : { ...defaultRouting, ...setFields(body) },
    toReply: (routing) => toReply(deps, routing),
    write: (change, version, caller) =>
      changeRouting(deps.db, change, {
        version,
        requested_by: requesterOf(caller),
        clock: deps.clock,
      }),
    changed: (project_id) => deps.routings.forget(project_id),
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
  const stored = await routingTable.read(deps.db, project_id)
  const { write_stores, hot_window_hours, fallback } = stored
  const { workloads } = await readScorecard(deps, project_id)
  const routes = writesToPostgres(stored)
    ? recommendedRoutes(stored.routes, workloads)
    : stored.routes
  return { write_stores, hot_window_hours, fallback, routes }
}

async function toReply(
  { db, clock }: StoreRoutingDeps,
  routing: EffectiveDocument<StoredRouting>,
): Promise<z.input<typeof routingSchema>> {
  const hot_window = writesToPostgres(routing)
    ? await readHotWindow(db, routing.project_id, { now_ms: clock.now_ms(), routing })
    : null
  return { ...routing, write_stores: [...routing.write_stores], hot_window }
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
