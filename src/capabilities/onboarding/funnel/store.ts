import { sql } from '../../../platform/relational/index.ts'
import type { OnboardingDb } from '../contract.ts'

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
