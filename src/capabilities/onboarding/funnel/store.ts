import { Problem } from '../../../kernel/problem.ts'
import type { Semaphore } from '../../../kernel/semaphore.ts'
import { type ProjectId, parseProjectId } from '../../../model/project-id.ts'
import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import {
  ColumnarError,
  ColumnarUnavailable,
  type ProjectColumnar,
} from '../../../platform/columnar/index.ts'
import { isRelationalUnavailable, sql } from '../../../platform/relational/index.ts'
import type { OnboardingDb, OnboardingDeps } from '../contract.ts'
import { scenarioRules } from '../scenario/scenario-rule.ts'
import { type FunnelStep, funnelStepNames } from './steps.ts'

/** Kinds of subjects of a funnel. */
export const subjectKinds = ['project', 'installation', 'user'] as const
export type SubjectKind = (typeof subjectKinds)[number]

/** The first time of a subject's event, or of a person's action. */
export type SubjectEvent = { subject: string; name: string; at: string }

/** Maximum first times that a funnel reads. */
export const maxSubjectEvents = 20_000

/**
 * Returns the first time of each posted event of each installation and person, and when people
 * created their first key and rule. At most `maxSubjectEvents` + 1, the newest first.
 */
export async function selectSubjectEvents(
  db: OnboardingDb,
  { project_id, kinds }: { project_id: string; kinds: readonly SubjectKind[] },
): Promise<SubjectEvent[]> {
  const wanted = kinds.filter((kind) => kind !== 'project')
  if (wanted.length === 0) return []
  const { rows } = await sql<SubjectEvent>`
    select subject, name, min(at) as at from (
      select subject, name, occurred_at as at from onboarding_events where project_id = ${project_id}
      union all
      select 'user:' || created_by, 'key_created', created_at from api_keys
      where project_id = ${project_id} and created_by is not null
      union all
      select updated_by, 'first_incident_rule', created_at from incident_rules
      where project_id = ${project_id} and version = 1
    ) as seen
    where split_part(subject, ':', 1) = any(${wanted}::text[])
    group by subject, name order by min(at) desc, subject, name
    limit ${maxSubjectEvents + 1}`.execute(db)
  return rows
}

/** Dependencies of `findFirstSteps`. */
export type FirstStepsDeps = OnboardingDeps & {
  columnar: { ofProject(project: ProjectId): Pick<ProjectColumnar, 'read'> }
  /** Statements over all rows of a project that this process runs at a time. */
  scans: Semaphore
}

/** When a project took a step for the first time. `unknown`: the store gave no answer in time. */
export type FirstSteps = Record<FunnelStep, string | 'unknown' | null>

/** Maximum time of a statement that looks for a first step. */
const search_ms_max = 2_000

/**
 * Finds when a project took each step for the first time, from stored data without the seeded
 * scenario. A found time is stored, because retention deletes the data; after that, the step is not
 * searched again. Instants are ISO 8601.
 */
export async function findFirstSteps(
  deps: FirstStepsDeps,
  project_id: string,
): Promise<FirstSteps> {
  const { db } = deps
  const rows = await db
    .selectFrom('onboarding_steps')
    .select(['step', 'reached_at'])
    .where('project_id', '=', project_id)
    .execute()
  const kept = new Map(rows.map(({ step, reached_at }) => [step, reached_at]))
  const entries = await Promise.all(
    funnelStepNames.map(async (step) => {
      const at = kept.get(step) ?? (await searches[step](deps, project_id).catch(unlessLate))
      if (at !== null && at !== 'unknown' && !kept.has(step)) await keep(deps, project_id, step, at)
      return [step, at] as const
    }),
  )
  return Object.fromEntries(entries) as FirstSteps
}

/** If a store is slow or unavailable, the step is unknown, and the other steps are still read. */
function unlessLate(error: unknown): 'unknown' {
  if (isLate(error)) return 'unknown'
  throw error
}

/** Returns whether an error means that a store was unavailable or too slow. */
export function isLate(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'store_unavailable'
  const isColumnar = error instanceof ColumnarUnavailable || error instanceof ColumnarError
  return isColumnar || isRelationalUnavailable(error)
}

function keep(
  { db }: OnboardingDeps,
  project_id: string,
  step: FunnelStep,
  reached_at: string,
): Promise<unknown> {
  return db
    .insertInto('onboarding_steps')
    .values({ project_id, step, reached_at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

type Search = (deps: FirstStepsDeps, project_id: string) => Promise<string | null>

const searches: Record<FunnelStep, Search> = {
  installed: async ({ db }, project_id) => {
    const project = await db
      .selectFrom('projects')
      .select('created_at')
      .where('id', '=', project_id)
      .executeTakeFirst()
    return project?.created_at ?? null
  },
  key_created: ({ db }, project_id) =>
    oldest(db, sql`select min(created_at) as at from api_keys where project_id = ${project_id}`),
  first_call: (deps, project_id) => oldestObservation(deps, project_id, 'proxy'),
  first_span: (deps, project_id) => oldestObservation(deps, project_id, 'otlp'),
  first_task: ({ db }, project_id) =>
    oldest(
      db,
      sql`select created_at as at from tasks where project_id = ${project_id} and not implicit
        and environment is distinct from ${scenarioEnvironment} order by started_at limit 1`,
    ),
  first_verdict: ({ db }, project_id) =>
    oldest(
      db,
      sql`select (verdict ->> 'detected_at')::timestamptz as at from tasks
        where project_id = ${project_id} and verdict is not null
          and environment is distinct from ${scenarioEnvironment} order by started_at limit 1`,
    ),
  first_incident_rule: ({ db }, project_id) =>
    oldest(
      db,
      sql`select min(created_at) as at from incident_rules
        where project_id = ${project_id} and name not like ${scenarioRules}`,
    ),
  first_feedback: ({ db }, project_id) =>
    oldest(
      db,
      sql`select first_at as at from feedback_tasks
        where project_id = ${project_id} and attached
          and environment is distinct from ${scenarioEnvironment} order by last_at limit 1`,
    ),
}

/** Runs a statement that returns one instant, within the time limit. */
async function oldest(
  db: OnboardingDeps['db'],
  statement: ReturnType<typeof sql>,
): Promise<string | null> {
  return db.transaction().execute(async (trx) => {
    await sql`select set_config('statement_timeout', ${String(search_ms_max)}, true)`.execute(trx)
    const { rows } = await (statement as ReturnType<typeof sql<{ at: string | null }>>).execute(trx)
    return rows[0]?.at ?? null
  })
}

/** Finds when the first observation from a source was stored, by the clock of the store. */
async function oldestObservation(
  { columnar, scans }: FirstStepsDeps,
  project_id: string,
  source: 'proxy' | 'otlp',
): Promise<string | null> {
  return scans.run(async () => {
    const ofProject = columnar.ofProject(parseProjectId(project_id))
    const { rows } = await ofProject.read<{ at: string; n: string }>(
      `SELECT toUnixTimestamp64Milli(min(ingested_at)) AS at, count() AS n FROM observations
       WHERE project_id = {project:UUID} AND source = {source:String}
         AND environment != {scenario:String}`,
      { source, scenario: scenarioEnvironment },
      { timeout_ms: search_ms_max, settings: { max_threads: 2 } },
    )
    const [row] = rows
    if (row === undefined || row.n === '0') return null
    return new Date(Number(row.at)).toISOString()
  })
}
