import { verificationTypes } from '../../../model/finding-kind.ts'
import type {
  DetectionTables,
  IncidentTables,
  Kysely,
  TaskTables,
} from '../../../platform/relational/index.ts'
import { groupsOfTask, type MatchedFinding, matchesChange } from '../evaluation/event-match.ts'
import type { Group } from '../rules/groups.ts'
import type { Rule } from '../rules/rule.ts'
import type { Range } from './rule-preview.ts'

type FindingsDb = Kysely<IncidentTables & TaskTables & DetectionTables>

/** A match of an event rule by a group. */
type StoredMatch = { group: Group; at_ms: number }

/** The matches of an event rule in a range, oldest first. */
export type StoredMatches = {
  matches: readonly StoredMatch[]
  /** Whether the range has more findings than `limit`. */
  is_cut: boolean
  /** Start of the oldest stored task; undefined without tasks. */
  available_from_ms: number | undefined
}

/** Reads the findings of a range that match an event rule, at the time of their detection. */
export async function readMatches(
  db: FindingsDb,
  { project_id, rule, range }: { project_id: string; rule: Rule; range: Range },
  limit: number,
): Promise<StoredMatches> {
  const { kinds, types, source } = rule.event?.match ?? {}
  const [rows, oldest] = await Promise.all([
    db
      .selectFrom('findings')
      .innerJoin('tasks', (join) =>
        join
          .onRef('tasks.project_id', '=', 'findings.project_id')
          .onRef('tasks.task_id', '=', 'findings.task_id'),
      )
      .select(['finding_id', 'kind', 'type', 'severity', 'findings.state', 'confidence', 'summary'])
      .select(['first_detected_at', 'name', 'environment', 'release', 'models', 'providers'])

      .where('findings.project_id', '=', project_id)
      .where('findings.state', '<>', 'withdrawn')
      .where('first_detected_at', '>=', new Date(range.from_ms).toISOString())
      .where('first_detected_at', '<', new Date(range.to_ms).toISOString())
      .$if(kinds !== undefined, (query) => query.where('kind', 'in', kinds ?? []))
      .$if(types !== undefined, (query) => query.where('type', 'in', types ?? []))
      .$if(source === 'verification', (query) => query.where('type', 'in', verificationTypes))
      .orderBy('first_detected_at')
      .orderBy('finding_id')
      .limit(limit + 1)
      .execute(),
    db
      .selectFrom('tasks')
      .select('started_at')
      .where('project_id', '=', project_id)
      .orderBy('started_at')
      .limit(1)
      .executeTakeFirst(),
  ])
  const matches = rows.slice(0, limit).flatMap((row) => {
    const now: MatchedFinding = row
    if (!matchesChange(rule, { now, before: undefined })) return []
    const at_ms = Date.parse(row.first_detected_at)
    return groupsOfTask(rule, row).map((group) => ({ group, at_ms }))
  })
  return {
    matches,
    is_cut: rows.length > limit,
    available_from_ms: oldest && Date.parse(oldest.started_at),
  }
}
