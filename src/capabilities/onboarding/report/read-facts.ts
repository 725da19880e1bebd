import type { LedgerStore } from '../../storage/index.ts'
import { type FirstSteps, type FirstStepsDeps, findFirstSteps, isLate } from '../funnel/store.ts'
import { latestScenario, type StoredScenario } from '../scenario/store.ts'
import type { Fact, Facts } from './checks.ts'
import { readStoredFacts, type StoredFacts } from './store.ts'

/** Dependencies of the report. */
export type ReportDeps = FirstStepsDeps & {
  ledger: Pick<LedgerStore, 'sums'>
  /** Whether the installation has storage for archives. */
  archives_configured: boolean
}

/** Reads the facts of a report, the id of a task that commands can name, and the last run of the scenario. */
export async function readFacts(
  deps: ReportDeps,
  project_id: string,
): Promise<{ facts: Facts; named_task: string | null; scenario_id: string | null }> {
  const now_ms = deps.clock.now_ms()
  const [steps, stored, scenario, lost] = await Promise.all([
    findFirstSteps(deps, project_id),
    readStoredFacts(deps.db, project_id, new Date(now_ms)),
    latestScenario(deps.db, project_id),
    countLost(deps, project_id, now_ms),
  ])
  const facts = { ...factsOfSteps(steps), ...factsOfStores(stored, deps) }
  return {
    facts: { ...facts, seeded_scenario: factOfScenario(scenario), ledger_complete: lost },
    named_task: stored.named_task,
    scenario_id: scenario === undefined || scenario.removed_at !== null ? null : scenario.id,
  }
}

function factsOfSteps(steps: FirstSteps) {
  const fact = (at: string | null): Fact => ({ done: at ?? false })
  return {
    first_call: fact(steps.first_call),
    first_task: fact(steps.first_task),
    first_verdict: fact(steps.first_verdict),
    feedback: fact(steps.first_feedback),
    first_span: fact(steps.first_span),
  }
}

function factsOfStores(
  stored: StoredFacts,
  { archives_configured }: Pick<ReportDeps, 'archives_configured'>,
) {
  const detailed = (at: string | null, detail: string | false): Fact => {
    return at === null && detail !== false ? { done: false, detail } : { done: at ?? false }
  }
  return {
    project_key: detailed(
      stored.call_key_at,
      stored.any_key_at !== null &&
        'No live key has the scope proxy:write: all keys are revoked, expired or lack it. Create one.',
    ),
    incident_rule: detailed(
      stored.live_rule_at,
      stored.has_rule && 'All rules are suspended or in mode shadow. Create a live one.',
    ),
    notification_channel: detailed(
      stored.channel_at,
      stored.has_disabled_channel && 'All channels are disabled. Create another one.',
    ),
    verification: detailed(stored.verified_at, false),
    verification_policy: detailed(stored.verification_policy_at, false),
    retention_policy: detailed(stored.retention_policy_at, false),
    archive: detailed(
      stored.archived_at,
      !archives_configured &&
        'Archives are not configured. Set LOOPTRACE_BLOBS_URL for the roles api and worker, then archive the days before today.',
    ),
  }
}

function factOfScenario(scenario: StoredScenario | undefined): Fact {
  if (scenario === undefined || scenario.removed_at !== null) return { done: false }
  if (scenario.state === 'running') {
    return { done: false, detail: 'A run is in progress. Ask again in a few seconds.' }
  }
  if (scenario.outcome === 'as_expected') return { done: scenario.ended_at ?? true }
  const why = scenario.error ?? 'Not everything was found as expected.'
  return { done: false, detail: `The last run did not pass: ${why}` }
}

const day_ms = 86_400_000

/** Whether no item of the last day was lost, by the ledger without the age of the queue. */
async function countLost(
  { ledger }: Pick<ReportDeps, 'ledger'>,
  project_id: string,
  now_ms: number,
): Promise<Fact> {
  try {
    const window = { from_ms: now_ms - day_ms, to_ms: now_ms, lost_before_ms: undefined }
    const sums = await ledger.sums(project_id, window)
    const lost = sums.flatMap((path) => Object.values(path.lost)).reduce((all, n) => all + n, 0)
    if (lost === 0) return { done: true }
    return { done: false, detail: `${lost} items of the last 24 hours were lost.` }
  } catch (error) {
    if (isLate(error)) return { done: 'unknown' }
    throw error
  }
}
