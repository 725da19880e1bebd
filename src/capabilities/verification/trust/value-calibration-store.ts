import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import type { Clock } from '../../../kernel/time.ts'
import { type Kysely, sql } from '../../../platform/relational/index.ts'
import {
  applyCalibration,
  calibrateValues,
  type ValueCalibration,
  type ValueRecord,
} from './value-calibration.ts'

/** Newest tasks whose values are counted, and newest reviewed findings. */
const tasks_max = 500
const reviewed_max = 500

/** Counts the values of a project's newest tasks, and the labels of its newest reviewed findings. */
export async function readValueRecord<Tables>(
  db: Kysely<Tables>,
  project_id: string,
): Promise<ValueRecord> {
  const { rows } = await sql<ValueRecord>`
    with recent as (
      select task_id, (verdict->'values'->>'checked')::int as checked from tasks
      where project_id = ${project_id} order by last_activity_at desc limit ${tasks_max}
    ), reviewed as (
      select sum(case when is_right then 1 else -1 end) as votes from review_finding_labels
      where project_id = ${project_id} and detector = 'unsupported_value'
      group by finding_id order by max(updated_at) desc limit ${reviewed_max}
    )
    select
      (select coalesce(sum(checked), 0)::int from recent) as values,
      (select coalesce(sum(repeats), 0)::int from findings join recent using (task_id)
        where findings.project_id = ${project_id} and type = 'unsupported_value'
          and state <> 'withdrawn') as unexplained,
      (select count(*)::int from reviewed where votes <> 0) as reviewed,
      (select count(*)::int from reviewed where votes > 0) as "right"`.execute(db)
  return rows[0] ?? { values: 0, unexplained: 0, reviewed: 0, right: 0 }
}

const kept_ms = 5 * 60_000
const projects_max = 1_000

/** Opens the calibration of projects, each read at most every five minutes. */
export function openValueCalibration<Tables>(db: Kysely<Tables>, clock: Clock) {
  type Read = { read_ms: number; calibration: ValueCalibration }
  const kept = new BoundedCache<string, Read>(projects_max)
  const read = async (project_id: string) => {
    const known = kept.get(project_id)
    const read_ms = clock.now_ms()
    if (known !== undefined && read_ms - known.read_ms < kept_ms) return known.calibration
    const calibration = calibrateValues(await readValueRecord(db, project_id))
    kept.set(project_id, { read_ms, calibration })
    return calibration
  }
  return async (project_id: string) => {
    const calibration = await read(project_id)
    return <Finding extends Parameters<typeof applyCalibration>[0]>(finding: Finding): Finding =>
      applyCalibration(finding, calibration)
  }
}
