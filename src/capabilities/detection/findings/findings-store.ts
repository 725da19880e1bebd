import {
  type DetectionTables,
  noteChanges,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import type { DetectionDb } from '../ports.ts'
import type { Finding, NotChecked } from './finding.ts'
import type { NewFinding } from './new-findings.ts'
import type { TaskKey, TaskSnapshot } from './tasks-store.ts'
import type { VerdictColumns } from './verdict.ts'

/** Returns all findings of a task in order of their start; a task has few. */
export function findingsOf(db: DetectionDb, { project_id, task_id }: TaskKey): Promise<Finding[]> {
  return findingsOfTasks(db, { project_id, task_ids: [task_id] })
}

/** Returns all findings of tasks of a project in order of their start. */
export function findingsOfTasks(
  db: DetectionDb,
  { project_id, task_ids }: { project_id: string; task_ids: readonly string[] },
): Promise<Finding[]> {
  return db
    .selectFrom('findings')
    .selectAll()
    .where('project_id', '=', project_id)
    .where(sql<boolean>`task_id = any(${[...task_ids]}::text[])`)
    .orderBy('started_at')
    .orderBy('finding_id')
    .execute()
}

/** Inserts new findings and updates changed ones. */
export async function putFindings(
  trx: DetectionDb,
  findings: readonly NewFinding[],
  at: string,
): Promise<void> {
  if (findings.length === 0) return
  const columns = sql.raw(Object.keys(findingColumns).join(', '))
  const changed = sql.raw(
    Object.keys(findingColumns)
      .filter((column) => !identityColumns.includes(column))
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
  const changes = findings.map(({ project_id, task_id, finding_id: id }) => ({
    project_id,
    task_id,
    id,
    kind: 'finding' as const,
  }))
  await noteChanges(trx, changes)
}

/** Withdraws findings that a late call disproved. */
export async function withdrawFindings(
  trx: DetectionDb,
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
  const kind = 'finding' as const
  await noteChanges(
    trx,
    ids.map((id) => ({ project_id, task_id, id, kind })),
  )
}

/** Writes the verdict of a task. */
export async function writeVerdict(
  trx: DetectionDb,
  { project_id, task_id }: TaskKey,
  { worst_severity, wasted_tokens, wasted_cost_usd, verdict }: VerdictColumns,
): Promise<void> {
  await trx
    .updateTable('tasks')
    .set({ worst_severity, wasted_tokens, wasted_cost_usd, verdict: JSON.stringify(verdict) })
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .execute()
  await noteChanges(trx, [{ project_id, kind: 'task', id: task_id }])
}

const identityColumns: readonly string[] = ['finding_id', 'project_id', 'task_id']

/** Written columns with their types. */
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

/** The stored state of a task's detection, without its findings. */
export type TaskDetection = Selectable<DetectionTables['task_detections']>

/** Returns the state of a task's detection; undefined if it was never due. */
export function detectionOf(db: DetectionDb, key: TaskKey): Promise<TaskDetection | undefined> {
  return db
    .selectFrom('task_detections')
    .selectAll()
    .where('project_id', '=', key.project_id)
    .where('task_id', '=', key.task_id)
    .executeTakeFirst()
}

/** Inserts the row of a task's detection if it is missing. */
export async function ensureDetection(db: DetectionDb, key: TaskKey): Promise<void> {
  await sql`
    insert into task_detections (project_id, task_id)
    select project_id, task_id from tasks
    where project_id = ${key.project_id} and task_id = ${key.task_id}
    on conflict do nothing
  `.execute(db)
}

/**
 * Locks the detection of a task whose row is locked. Returns undefined if another process wrote a
 * result or erased content since it was read. The claim is not checked: if two workers analyse the
 * same task, the first to finish wins.
 */
export async function lockDetection(
  trx: DetectionDb,
  snapshot: TaskSnapshot,
): Promise<TaskDetection | undefined> {
  const { project_id, task_id, epoch, revision } = snapshot
  const row = await trx
    .selectFrom('task_detections')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .forUpdate()
    .executeTakeFirst()
  return row?.epoch === epoch && String(row.revision) === revision ? row : undefined
}

/** Columns that an analysis writes. */
type DetectionColumns = {
  /** ISO 8601. */
  detected_at: string
  settings_version: number
  detectors: string
  not_checked: readonly NotChecked[]
  ledger: unknown
  user_ids: readonly string[]
  tools: readonly string[]
}

/**
 * Writes the result of an analysis and ends its claim. The task is no longer due, unless it was
 * marked in the meantime; then it is due again after its rest.
 */
export async function writeDetection(
  trx: DetectionDb,
  { project_id, task_id, claim, touches }: TaskSnapshot,
  columns: DetectionColumns,
  { rest_ms }: { rest_ms: number },
): Promise<void> {
  const { detected_at, settings_version, detectors, not_checked, ledger } = columns
  await sql`
    update task_detections set
      claim = nullif(claim, ${claim}::uuid),
      claimed_until = case when claim = ${claim}::uuid then null else claimed_until end,
      revision = revision + 1, failures = 0, detected_at = ${detected_at},
      settings_version = ${settings_version}, detectors = ${detectors},
      not_checked = ${JSON.stringify(not_checked)}::jsonb,
      ledger = ${ledger === null ? null : JSON.stringify(ledger)}::jsonb,
      user_ids = ${[...columns.user_ids]}, tools = ${[...columns.tools]},
      rests_until = now() + ${rest_ms} * interval '1 ms',
      due_at = case when touches = ${touches} then null
        else now() + ${rest_ms} * interval '1 ms' end
    where project_id = ${project_id} and task_id = ${task_id}
  `.execute(trx)
}

/** Answers that the judge can be asked about, and the rest before asking. */
export type JudgingPlan = { answers: readonly string[]; rest_ms: number }

/** Marks a task as due for the judge if some answers were not judged yet. */
export async function markJudging(
  trx: DetectionDb,
  key: TaskKey,
  { answers, rest_ms }: JudgingPlan,
  { judged, judge_due_at }: Pick<TaskDetection, 'judged' | 'judge_due_at'>,
): Promise<void> {
  const isOpen = answers.some((answer) => judged?.answers.includes(answer) !== true)
  if (isOpen || judge_due_at !== null) await markJudgeDue(trx, key, isOpen ? rest_ms : null)
}

/** Makes a task due for the judge after a rest; null: there is nothing to ask. */
async function markJudgeDue(
  trx: DetectionDb,
  { project_id, task_id }: TaskKey,
  rest_ms: number | null,
): Promise<void> {
  await sql`
    update task_detections set judge_due_at = now() + ${rest_ms} * interval '1 ms'
    where project_id = ${project_id} and task_id = ${task_id}
  `.execute(trx)
}
