import { newId } from '../../../kernel/ids.ts'
import { type OnboardingTables, type Selectable, sql } from '../../../platform/relational/index.ts'
import type { OnboardingDb } from '../contract.ts'
import type { AgentResult } from './agents.ts'
import type { PlayedAgent } from './contract.ts'

/** Steps of a run, in order. */
export const scenarioSteps = [
  'preparing',
  'playing',
  'storing',
  'completing',
  'detecting',
  'verifying',
  'comparing',
] as const
export type ScenarioStep = (typeof scenarioSteps)[number]

/** Objects that a run has created, and its results so far. */
export type ScenarioRecord = {
  agents?: PlayedAgent[]
  results?: AgentResult[]
  /** Id of the shadow rule. It is stored before the rule is created. */
  rule_id?: string
  rule_error?: string
  incident_id?: string | null
  verification?: VerifiedClaim
}

/** The verification of the answer with the invented figure. */
type VerifiedClaim = {
  run_id: string
  trace_id: string
  /** Text of the claim with the figure; null if no claim has it. */
  claim: string | null
  verdict: string | null
  trust_score: number | null
}

/** A stored run of the scenario. */
export type StoredScenario = Omit<
  Selectable<OnboardingTables['onboarding_scenarios']>,
  'record' | 'step'
> & { record: ScenarioRecord; step: ScenarioStep }

export type ScenarioOutcome = NonNullable<StoredScenario['outcome']>

/** Time without a heartbeat after which a run has lost its process. */
export const heartbeat_ms_max = 30_000

/** Names a run of a project. */
export type ScenarioKey = { project_id: string; id: string }

/** Returns the newest run of a project. */
export async function latestScenario(
  db: OnboardingDb,
  project_id: string,
): Promise<StoredScenario | undefined> {
  const row = await scenariosOf(db, project_id).orderBy('id', 'desc').limit(1).executeTakeFirst()
  return row && fromRow(row)
}

/** Returns a run of a project; `id` must be a UUID. */
export async function findScenario(
  db: OnboardingDb,
  { project_id, id }: ScenarioKey,
): Promise<StoredScenario | undefined> {
  const row = await scenariosOf(db, project_id).where('id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/** Returns the runs of a project whose data were not removed, oldest first; at most 100. */
export async function unremovedScenarios(
  db: OnboardingDb,
  project_id: string,
): Promise<StoredScenario[]> {
  const rows = await scenariosOf(db, project_id)
    .where('removed_at', 'is', null)
    .orderBy('id')
    .limit(100)
    .execute()
  return rows.map(fromRow)
}

/** Counts the runs of a project that were started since an instant. */
export async function countStarted(
  db: OnboardingDb,
  project_id: string,
  since: Date,
): Promise<number> {
  const { n } = await db
    .selectFrom('onboarding_scenarios')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('project_id', '=', project_id)
    .where('started_at', '>=', since.toISOString())
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Stores a running run; undefined while the project has another one. */
export async function insertScenario(
  db: OnboardingDb,
  { project_id, requested_by, now }: { project_id: string; requested_by: string; now: Date },
): Promise<StoredScenario | undefined> {
  const row = await db
    .insertInto('onboarding_scenarios')
    .values({
      id: newId(),
      project_id,
      requested_by,
      started_at: now,
      heartbeat_at: now,
      state: 'running',
      step: 'preparing',
      record: '{}',
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Deletes a run that has created no objects. */
export async function deleteScenario(
  db: OnboardingDb,
  { project_id, id }: ScenarioKey,
): Promise<void> {
  await db
    .deleteFrom('onboarding_scenarios')
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .execute()
}

/** Ends running runs of a project that have no recent heartbeat. */
export async function endLostScenarios(
  db: OnboardingDb,
  project_id: string,
  now_ms: number,
): Promise<void> {
  await db
    .updateTable('onboarding_scenarios')
    .set({
      state: 'ended',
      outcome: 'interrupted',
      ended_at: new Date(now_ms),
      error: 'The process that played the scenario ended. Start it again.',
    })
    .where('project_id', '=', project_id)
    .where('state', '=', 'running')
    .where('heartbeat_at', '<', new Date(now_ms - heartbeat_ms_max).toISOString())
    .execute()
}

/** Stores the progress of a running run. Returns false once the run has ended. */
export async function noteProgress(
  db: OnboardingDb,
  { project_id, id }: ScenarioKey,
  progress: { step: ScenarioStep; record: ScenarioRecord; now: Date },
): Promise<boolean> {
  const { step, record, now } = progress
  const changed = await db
    .updateTable('onboarding_scenarios')
    .set({ step, record: JSON.stringify(record), heartbeat_at: now })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return changed.numUpdatedRows > 0n
}

/** Ends a running run. A run that has ended stays as it is. */
export async function endScenario(
  db: OnboardingDb,
  { project_id, id }: ScenarioKey,
  end: { outcome: ScenarioOutcome; error: string | null; record: ScenarioRecord; now: Date },
): Promise<void> {
  const { outcome, error, record, now } = end
  await db
    .updateTable('onboarding_scenarios')
    .set({ state: 'ended', outcome, error, record: JSON.stringify(record), ended_at: now })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute()
}

/** Notes that the data of a run were removed. */
export async function noteRemoved(
  db: OnboardingDb,
  { project_id, id }: ScenarioKey,
  now: Date,
): Promise<void> {
  await db
    .updateTable('onboarding_scenarios')
    .set({ removed_at: now })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .execute()
}

/** Returns how many calls of each task are stored. */
export async function countCalls(
  db: OnboardingDb,
  project_id: string,
  task_ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('tasks')
    .select(['task_id', 'calls'])
    .where('project_id', '=', project_id)
    .where('task_id', 'in', task_ids)
    .execute()
  return new Map(rows.map(({ task_id, calls }) => [task_id, calls]))
}

/** Returns the tasks that detection has analysed completely. */
export async function analysedTasks(
  db: OnboardingDb,
  project_id: string,
  task_ids: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('task_detections')
    .select('task_id')
    .where('project_id', '=', project_id)
    .where('task_id', 'in', task_ids)
    .where('due_at', 'is', null)
    .where('detected_at', 'is not', null)
    .execute()
  return rows.map(({ task_id }) => task_id)
}

/** Returns the newest incident that a rule opened. */
export async function findIncidentOf(
  db: OnboardingDb,
  project_id: string,
  rule_name: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('incidents')
    .select('id')
    .where('project_id', '=', project_id)
    .where('rule_name', '=', rule_name)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** Returns the state of a verification run, and its claim with a text. */
export async function readVerification(
  db: OnboardingDb,
  { project_id, run_id, text }: { project_id: string; run_id: string; text: string },
) {
  const { rows } = await sql<{
    state: 'pending' | 'verified' | 'failed' | 'cancelled'
    trust_score: number | null
    claim: string | null
    verdict: string | null
  }>`select runs.state, runs.trust_score, claims.text as claim, claims.verdict
    from verification_runs as runs left join lateral (
      select text, verdict from verification_claims
      where run_id = runs.id and position(${text} in text) > 0 order by position limit 1
    ) as claims on true
    where runs.project_id = ${project_id} and runs.id = ${run_id}`.execute(db)
  return rows[0]
}

function scenariosOf(db: OnboardingDb, project_id: string) {
  return db.selectFrom('onboarding_scenarios').selectAll().where('project_id', '=', project_id)
}

function fromRow(row: Selectable<OnboardingTables['onboarding_scenarios']>): StoredScenario {
  return row as StoredScenario & typeof row
}

/** Days for which the record of a removed run is kept. */
const removedKeptDays = 90

/** Deletes the records of runs whose data were removed more than `removedKeptDays` ago. */
export async function deleteOldScenarios(db: OnboardingDb, now_ms: number): Promise<void> {
  const before = new Date(now_ms - removedKeptDays * 86_400_000).toISOString()
  await db.deleteFrom('onboarding_scenarios').where('removed_at', '<', before).execute()
}
