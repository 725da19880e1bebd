import { randomUUID } from 'node:crypto'
import type { InsertObject } from 'kysely'
import type { DetectionTables, Kysely, TaskTables } from '../../src/platform/relational/index.ts'

type GivenFinding = Partial<Omit<InsertObject<DetectionTables, 'findings'>, 'places'>> & {
  project_id: string
  task_id: string
  places: readonly { trace_id: string; observation_id: string }[]
}

/** Stores a finding of a stored task. Returns the id of the finding. */
export async function insertFinding(
  db: Kysely<TaskTables>,
  { places, ...given }: GivenFinding,
): Promise<string> {
  const finding_id = randomUUID()
  const at = '2026-09-21T14:00:00.000Z'
  await db
    .withTables<Pick<DetectionTables, 'findings'>>()
    .insertInto('findings')
    .values({
      ...{ finding_id, kind: 'loop', type: 'repeat_call', severity: 'high', state: 'open' },
      ...{ detector: 'repeats', detector_version: 1, summary: 'The same call again' },
      ...{ wasted_tokens: 0, wasted_cost_usd: '0', recovered: false, confidence: 1 },
      ...{ evidence: '{}', started_at: at, first_detected_at: at, updated_at: at },
      trace_ids: [...new Set(places.map(({ trace_id }) => trace_id))],
      ...given,
      places: JSON.stringify(places),
    })
    .execute()
  return finding_id
}
