import {
  type DetectionTables,
  type Kysely,
  type Selectable,
  sql,
  type TaskTables,
} from '../../../platform/relational/index.ts'
import type { DetectionDb } from '../detection-deps.ts'
import type { TaskHold, TaskKey } from '../worker/due-tasks.ts'
import type { Finding, NotChecked } from './finding.ts'
import type { NewFinding } from './new-findings.ts'
import type { VerdictColumns } from './task-verdict.ts'

type Db = Kysely<DetectionTables & TaskTables>

/** What is stored of a task's detection, beside its findings. */
export type TaskDetection = Selectable<DetectionTables['task_detections']>

/** All findings of a task, in the order in which they began; a task has few. */
export function findingsOf(db: Db, { project_id, task_id }: TaskKey): Promise<Finding[]> {
  return db
    .selectFrom('findings')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .orderBy('started_at')
    .orderBy('finding_id')
    .execute()
}

/** What is known of a task's detection; undefined when it was never marked nor looked at. */
export function detectionOf(db: Db, key: TaskKey): Promise<TaskDetection | undefined> {
  return db
    .selectFrom('task_detections')
    .selectAll()
    .where('project_id', '=', key.project_id)
    .where('task_id', '=', key.task_id)
    .executeTakeFirst()
}

/** Makes the row of a task's detection where the task has none. */
export async function ensureDetection(db: Db, key: TaskKey): Promise<void> {
  await sql`
    insert into task_detections (project_id, task_id)
    select project_id, task_id from tasks
    where project_id = ${key.project_id} and task_id = ${key.task_id}
    on conflict do nothing
  `.execute(db)
}

/** What detection needs of a task's record. */
export type TaskFacts = TaskKey & {
  conversation_id: string | null
  started_at: string
  state: 'running' | 'completed' | 'failed'
  /** The task is one trace: its state is that of its last call, and says nothing of its end. */
  implicit: boolean
  calls: number
}

/** Records of tasks of a project. */
export function taskFacts(
  db: Db,
  project_id: string,
  task_ids: readonly string[],
): Promise<TaskFacts[]> {
  return factsIn(db, project_id)
    .where(sql<boolean>`task_id = any(${[...task_ids]})`)
    .execute()
}

/** The tasks of a project that were active last. */
export function latestTasks(db: Db, project_id: string, limit: number): Promise<TaskFacts[]> {
  return factsIn(db, project_id)
    .orderBy('last_activity_at', 'desc')
    .orderBy('task_id', 'desc')
    .limit(limit)
    .execute()
}

function factsIn(db: Db, project_id: string) {
  return db
    .selectFrom('tasks')
    .select([
      'project_id',
      'task_id',
      'conversation_id',
      'started_at',
      'state',
      'implicit',
      'calls',
    ])
    .where('project_id', '=', project_id)
}

/** Locks the task until the transaction ends; false when it is gone. */
export async function lockTask(trx: Db, { project_id, task_id }: TaskKey): Promise<boolean> {
  const { rows } = await sql`
    select 1 from tasks where project_id = ${project_id} and task_id = ${task_id}
    for no key update
  `.execute(trx)
  return rows.length > 0
}

/**
 * Locks the detection of a task whose row is locked. Undefined when somebody else has written a
 * result or taken content out since it was read. Whose claim it is does not matter: of two that
 * work on it because one was slow, the one that ends first has done the work.
 */
export async function lockDetection(trx: Db, hold: TaskHold): Promise<TaskDetection | undefined> {
  const { project_id, task_id, epoch, revision } = hold
  const row = await trx
    .selectFrom('task_detections')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .forUpdate()
    .executeTakeFirst()
  return row?.epoch === epoch && String(row.revision) === revision ? row : undefined
}

/** What is written of a task's detection. */
export type DetectionColumns = {
  /** ISO 8601. */
  detected_at: string
  settings_version: number
  detectors: string
  not_checked: readonly NotChecked[]
  ledger: unknown
  user_ids: readonly string[]
}

/**
 * Writes what a detection came to, and that the task is not due any more if nobody has marked it
 * meanwhile; else it is due again after its rest. Ends the claim it is held by.
 */
export async function writeDetection(
  trx: Db,
  { project_id, task_id, claim, touches }: TaskHold,
  columns: DetectionColumns,
  { rest_ms }: { rest_ms: number },
): Promise<void> {
  const { detected_at, settings_version, detectors, not_checked, ledger, user_ids } = columns
  await sql`
    update task_detections set
      claim = nullif(claim, ${claim}::uuid),
      claimed_until = case when claim = ${claim}::uuid then null else claimed_until end,
      revision = revision + 1, failures = 0, detected_at = ${detected_at},
      settings_version = ${settings_version}, detectors = ${detectors},
      not_checked = ${JSON.stringify(not_checked)}::jsonb,
      ledger = ${ledger === null ? null : JSON.stringify(ledger)}::jsonb,
      user_ids = ${[...user_ids]},
      rests_until = now() + ${rest_ms} * interval '1 ms',
      due_at = case when touches = ${touches} then null
        else now() + ${rest_ms} * interval '1 ms' end
    where project_id = ${project_id} and task_id = ${task_id}
  `.execute(trx)
}

/** Writes new findings and changed ones. */
export async function putFindings(
  trx: Db,
  findings: readonly NewFinding[],
  at: string,
): Promise<void> {
  if (findings.length === 0) return
  const columns = sql.raw(Object.keys(findingColumns).join(', '))
  const changed = sql.raw(
    Object.keys(findingColumns)
      .filter((column) => !identity.includes(column))
      .map((column) => `${column} = excluded.${column}`)
      .join(', '),
  )
  const definitions = sql.raw(
    Object.entries(findingColumns)
      .map(([column, type]) => `${column} ${type}`)
      .join(', '),
  )
  await sql`
    insert into findings (${columns}, first_detected_at, updated_at)
    select ${columns}, ${at}::timestamptz, ${at}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(findings)}::jsonb) as given (${definitions})
    order by finding_id
    on conflict (finding_id) do update set ${changed}, updated_at = excluded.updated_at
  `.execute(trx)
}

/** They were found, and a call that came late shows that they never were so. */
export async function withdrawFindings(
  trx: Db,
  { project_id, task_id }: TaskKey,
  { ids, at }: { ids: readonly string[]; at: string },
): Promise<void> {
  if (ids.length === 0) return
  await trx
    .updateTable('findings')
    .set({ state: 'withdrawn', updated_at: at })
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .where('finding_id', 'in', ids)
    .execute()
}

/** Writes what findings say of a task as a whole. */
export async function writeVerdict(
  trx: Db,
  { project_id, task_id }: TaskKey,
  { worst_severity, wasted_tokens, wasted_cost_usd, verdict }: VerdictColumns,
): Promise<void> {
  await trx
    .updateTable('tasks')
    .set({ worst_severity, wasted_tokens, wasted_cost_usd, verdict: JSON.stringify(verdict) })
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .execute()
}

/**
 * The ledger of the last task of the conversation that began before this one and has a ledger: it
 * holds what the tasks before it said too.
 */
export async function earlierLedger(
  db: DetectionDb,
  { project_id, task_id, conversation_id, started_at }: TaskFacts,
): Promise<unknown> {
  if (conversation_id === null) return
  const row = await db
    .selectFrom('tasks')
    .innerJoin('task_detections', (join) =>
      join
        .onRef('task_detections.project_id', '=', 'tasks.project_id')
        .onRef('task_detections.task_id', '=', 'tasks.task_id'),
    )
    .select('task_detections.ledger')
    .where('tasks.project_id', '=', project_id)
    .where('tasks.conversation_id', '=', conversation_id)
    .where(sql<boolean>`(tasks.started_at, tasks.task_id) < (${started_at}, ${task_id})`)
    .where('task_detections.ledger', 'is not', null)
    .orderBy('tasks.started_at', 'desc')
    .orderBy('tasks.task_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.ledger ?? undefined
}

/** Tasks of the conversation that began after this one, the next ones first. */
export async function laterTasks(
  db: DetectionDb,
  { project_id, task_id, conversation_id, started_at }: TaskFacts,
  limit: number,
): Promise<TaskKey[]> {
  if (conversation_id === null) return []
  return db
    .selectFrom('tasks')
    .select(['project_id', 'task_id'])
    .where('project_id', '=', project_id)
    .where('conversation_id', '=', conversation_id)
    .where(sql<boolean>`(started_at, task_id) > (${started_at}, ${task_id})`)
    .orderBy('started_at')
    .orderBy('task_id')
    .limit(limit)
    .execute()
}

const identity: readonly string[] = ['finding_id', 'project_id', 'task_id']

/** Columns that are written, with their types. */
const findingColumns = {
  finding_id: 'uuid',
  project_id: 'uuid',
  task_id: 'text',
  kind: 'text',
  type: 'text',
  detector: 'text',
  detector_version: 'int',
  severity: 'text',
  state: 'text',
  summary: 'text',
  start_step: 'int',
  end_step: 'int',
  period: 'int',
  repeats: 'int',
  places: 'jsonb',
  trace_ids: 'uuid[]',
  wasted_tokens: 'bigint',
  wasted_cost_usd: 'numeric',
  recovered: 'boolean',
  confidence: 'double precision',
  evidence: 'jsonb',
  judge: 'text',
  started_at: 'timestamptz',
} as const satisfies Record<keyof NewFinding, string>
