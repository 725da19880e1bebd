import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { OnboardingDb } from '../contract.ts'
import { scenarioRules } from '../scenario/scenario-rule.ts'

/** Facts in PostgreSQL for a report. Instants are ISO 8601; null if the object does not exist. */
export type StoredFacts = {
  /** Creation of the oldest live key that can send calls, and of the oldest of all keys. */
  call_key_at: string | null
  any_key_at: string | null
  /** Creation of the oldest live rule that is not suspended, and whether there is any rule. */
  live_rule_at: string | null
  has_rule: boolean
  channel_at: string | null
  has_disabled_channel: boolean
  verified_at: string | null
  verification_policy_at: string | null
  retention_policy_at: string | null
  archived_at: string | null
  /** Newest task id that a client chose; null without one. */
  named_task: string | null
}

/** Kind of the jobs that archive days. */
const archiveJob = 'archive'

/** Maximum time of the statement, so that a report costs little even in a large project. */
const facts_ms_max = 2_000

/** Reads the facts of a project for a report from PostgreSQL, without the seeded scenario. */
export function readStoredFacts(
  db: OnboardingDb,
  project_id: string,
  now: Date,
): Promise<StoredFacts> {
  return db.transaction().execute(async (trx) => {
    await sql`select set_config('statement_timeout', ${String(facts_ms_max)}, true)`.execute(trx)
    const { rows } = await sql<StoredFacts>`select
      (select min(created_at) from api_keys where project_id = ${project_id} and revoked_at is null
        and (expires_at is null or expires_at > ${now}) and 'proxy:write' = any(scopes)) as call_key_at,
      (select min(created_at) from api_keys where project_id = ${project_id}) as any_key_at,
      (select min(created_at) from incident_rules where project_id = ${project_id}
        and not suspended and spec ->> 'mode' = 'live' and name not like ${scenarioRules}) as live_rule_at,
      exists (select from incident_rules
        where project_id = ${project_id} and name not like ${scenarioRules}) as has_rule,
      (select min(created_at) from notification_channels
        where project_id = ${project_id} and disabled_at is null) as channel_at,
      exists (select from notification_channels
        where project_id = ${project_id} and disabled_at is not null) as has_disabled_channel,
      (select ended_at from verification_runs where project_id = ${project_id}
        and state = 'verified' and environment is distinct from ${scenarioEnvironment}
        order by ended_at limit 1) as verified_at,
      (select updated_at from verification_policies where project_id = ${project_id}
        and (policy ->> 'enabled')::boolean) as verification_policy_at,
      (select updated_at from retention_policies where project_id = ${project_id}) as retention_policy_at,
      (select ended_at from job_runs where project_id = ${project_id} and kind = ${archiveJob}
        and state = 'succeeded' order by id limit 1) as archived_at,
      (select task_id from tasks where project_id = ${project_id} and not implicit
        and environment is distinct from ${scenarioEnvironment}
        order by last_activity_at desc limit 1) as named_task`.execute(trx)
    const [row] = rows
    if (row === undefined) throw new Error('a select without a table returns one row')
    return row
  })
}

/** A key that asked for the report. */
export type AskingKey = { scopes: string[]; environment: string | null; expires_at: string | null }

/** Returns the rights of a key of the project. */
export function findAskingKey(
  db: OnboardingDb,
  { project_id, id }: { project_id: string; id: string },
): Promise<AskingKey | undefined> {
  return db
    .selectFrom('api_keys')
    .select(['scopes', 'environment', 'expires_at'])
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .executeTakeFirst()
}
