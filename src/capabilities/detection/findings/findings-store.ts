import {
  type DetectionTables,
  type Kysely,
  sql,
  type TaskTables,
} from '../../../platform/relational/index.ts'
import type { TaskKey } from './due-tasks.ts'
import type { Finding } from './finding.ts'
import type { NewFinding } from './new-findings.ts'
import type { VerdictColumns } from './verdict.ts'

type Db = Kysely<DetectionTables & TaskTables>

/** Returns all findings of a task in order of their start; a task has few. */
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

/** Inserts new findings and updates changed ones. */
export async function putFindings(
  trx: Db,
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
}

/** Withdraws findings that a late call disproved. */
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

/** Writes the verdict of a task. */
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
