import {
  type IncidentTables,
  isRelationalUnavailable,
  type Kysely,
  sql,
  type TaskTables,
} from '../../../platform/relational/index.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import {
  type FindingChange,
  groupsOfTask,
  matchesChange,
  type TaskDimensions,
} from '../evaluation/event-match.ts'
import type { Evidence } from '../incident-view.ts'
import type { IncidentDb } from '../ports.ts'
import { forgetAfterMs } from '../rules/rule-faults.ts'
import type { Saved } from '../store/incident-book.ts'
import { toInstant } from '../store/incident-row.ts'
import { type StoredRule, toRule } from '../store/rule-rows.ts'
import { markEventsDue } from './due-projects.ts'
import { databaseTime } from './leases.ts'
import { type GroupMatches, type MatchContext, recordMatches } from './record-matches.ts'

/** The findings of a task that a transaction stored. */
export type StoredFindings = {
  project_id: string
  task_id: string
  findings: readonly FindingChange[]
}

/** The ports of matching, besides the transaction. */
export type MatchPorts = {
  now_ms: number
  forget_after_ms: number
  logger: Logger
  /** Counts findings that a rule could not evaluate. */
  onFailure: () => void
}

type FindingsTrx = Kysely<IncidentTables & TaskTables>

/**
 * Evaluates event rules in the transaction that stores findings, as its last statements. A rule that
 * fails is marked, and neither the finding nor other rules fail with it.
 */
export async function matchFindings(
  trx: FindingsTrx,
  stored: StoredFindings,
  ports: MatchPorts,
): Promise<Saved> {
  const none = { opened: 0, messages: 0 }
  if (stored.findings.length === 0) return none
  const db: IncidentDb = trx
  const { project_id, task_id } = stored
  const rules = (await findEventRules(db, project_id)).filter(({ rule }) =>
    stored.findings.some((change) => matchesChange(rule, change)),
  )
  if (rules.length === 0) return none
  const task = await trx
    .selectFrom('tasks')
    .select(['name', 'environment', 'release', 'models', 'providers'])
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .executeTakeFirst()
  if (task === undefined) return none
  const matches = rules.flatMap((rule) => toMatches(rule, stored, { task, now_ms: ports.now_ms }))
  if (matches.length === 0) return none
  const saved = await recordApart(db, matches, { ...ports, project_id, lag_ms: 0 })
  await markEventsDue(db, project_id)
  return saved
}

/** Returns the event rules of a project that are evaluated. */
export async function findEventRules(db: IncidentDb, project_id: string): Promise<StoredRule[]> {
  const rows = await db
    .selectFrom('incident_rules')
    .select(['id', 'project_id', 'version', 'spec'])
    .where('project_id', '=', project_id)
    .where('kind', '=', 'event')
    .where('suspended', '=', false)
    .orderBy('id')
    .execute()
  return rows.map(({ spec, ...row }) => ({ ...row, rule: toRule(spec) }))
}

function toMatches(
  stored: StoredRule,
  { task_id, findings }: StoredFindings,
  { task, now_ms }: { task: TaskDimensions; now_ms: number },
): GroupMatches[] {
  const matching = findings.filter((change) => matchesChange(stored.rule, change))
  const at = toInstant(now_ms)
  const evidence = matching.map(({ now }): Evidence => {
    const { finding_id: id, type, summary } = now
    return { kind: 'finding', id, task_id, type, summary, at }
  })
  const times_ms = matching.map(() => now_ms)
  return groupsOfTask(stored.rule, task).map((group) => ({ stored, group, times_ms, evidence }))
}

type Apart = MatchContext & Pick<MatchPorts, 'logger' | 'onFailure'>

/**
 * Records matches after a savepoint. If that fails, each rule is recorded by itself, so that only
 * the matches of the rule at fault are lost.
 */
async function recordApart(
  trx: IncidentDb,
  matches: readonly GroupMatches[],
  context: Apart,
): Promise<Saved> {
  await sql`savepoint event_rules`.execute(trx)
  try {
    const rules = [...new Set(matches.map(({ stored }) => stored))]
    const saved = await recordMatches(trx, { rules, matches }, context)
    await sql`release savepoint event_rules`.execute(trx)
    return saved
  } catch (error) {
    if (isRelationalUnavailable(error)) throw error
    await sql`rollback to savepoint event_rules`.execute(trx)
    const byRule = [...Map.groupBy(matches, ({ stored }) => stored.id).values()]
    const [only] = byRule
    if (byRule.length === 1 && only !== undefined) return markFailed(trx, only, { error, context })
    const sum = { opened: 0, messages: 0 }
    for (const own of byRule) {
      const saved = await recordApart(trx, own, context)
      sum.opened += saved.opened
      sum.messages += saved.messages
    }
    return sum
  }
}

async function markFailed(
  trx: IncidentDb,
  [first]: readonly GroupMatches[],
  { error, context }: { error: unknown; context: Apart },
): Promise<Saved> {
  const none = { opened: 0, messages: 0 }
  if (first === undefined) return none
  const { id: rule_id, project_id } = first.stored
  context.logger.error({ err: error, rule_id, project_id }, 'evaluating an event rule failed')
  context.onFailure()
  const last_error = 'The rule could not be evaluated. See the log of the worker.'
  await trx
    .insertInto('rule_evaluations')
    .values({ rule_id, project_id, failures: 1, last_error })
    .onConflict((conflict) =>
      conflict.column('rule_id').doUpdateSet((row) => ({
        failures: sql`${row.ref('rule_evaluations.failures')} + 1`,
        last_error,
      })),
    )
    .execute()
  return none
}

/** Evaluates event rules in a transaction; returns what follows the commit. */
export type FindingsMatcher = (
  trx: Kysely<IncidentTables & TaskTables>,
  stored: StoredFindings,
) => Promise<() => void>

/** The ports of a matcher. */
type MatcherOptions = {
  logger: Logger
  metrics: Metrics
  /** Called after messages were stored. */
  wakeSender: () => void
}

/** Opens the evaluation of event rules on findings; call once per process. */
export function openFindingsMatcher(options: MatcherOptions): FindingsMatcher {
  const { logger, metrics, wakeSender } = options
  const failures = metrics.counter({
    name: 'looptrace_incident_event_failures_total',
    help: 'Evaluations of an event rule on findings that failed; the findings are stored.',
  })
  return async (trx, stored) => {
    if (stored.findings.length === 0) return () => undefined
    const now_ms = await databaseTime(trx)
    const saved = await matchFindings(trx, stored, {
      // A group that matches now is not forgotten.
      now_ms,
      logger,
      forget_after_ms: forgetAfterMs,
      onFailure: () => failures.inc(),
    })
    return () => {
      if (saved.messages > 0) wakeSender()
    }
  }
}
