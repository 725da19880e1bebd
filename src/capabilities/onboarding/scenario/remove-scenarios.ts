import { removeShadowRule } from '../../incidents/index.ts'
import { requestErasure } from '../../lifecycle/retention/index.ts'
import type { ScenarioDeps } from './contract.ts'
import { scenarioIds } from './contract.ts'
import { noteRemoved, unremovedScenarios } from './store.ts'

/** The runs whose data are being removed, with their erasures. */
export type RemovedScenarios = { scenario_ids: string[]; erasure_ids: string[] }

/**
 * Removes the data of a project's runs: the rule and its incidents at once; tasks, traces, findings
 * and verifications by an erasure of the only user of each run. No other data have that user. Safe
 * to repeat. Throws `held` if a legal hold names such a user.
 */
export async function removeScenarios(
  deps: Pick<ScenarioDeps, 'db' | 'clock' | 'retention'>,
  request: { project_id: string; requested_by: string; except?: string },
): Promise<RemovedScenarios> {
  const { db, clock, retention } = deps
  const { project_id, requested_by, except } = request
  const removed: RemovedScenarios = { scenario_ids: [], erasure_ids: [] }
  for (const { id, record } of await unremovedScenarios(db, project_id)) {
    if (id === except) continue
    const { erasure_id } = await requestErasure(retention, {
      project_id,
      requested_by,
      user_id: scenarioIds(id).user_id,
      reason: 'Removal of the data of the seeded onboarding scenario.',
      purge: false,
    })
    const { rule_id } = record
    if (rule_id !== undefined) {
      await removeShadowRule(db, { project_id, rule_id, now: new Date(clock.now_ms()) })
    }
    await noteRemoved(db, { project_id, id }, new Date(clock.now_ms()))
    removed.scenario_ids.push(id)
    removed.erasure_ids.push(erasure_id)
  }
  return removed
}
