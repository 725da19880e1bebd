import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import type { Rule } from './rule.ts'

/**
 * Returns whether a selector names the environment of the seeded scenario. All other rules, also
 * those with `*`, leave its rows out, so that a scenario moves no measurement and sends no message.
 */
export function readsScenario({ environment }: Rule['selector']): boolean {
  return environment?.includes(scenarioEnvironment) ?? false
}
