import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import type { Rule } from './rule.ts'

/**
 * Returns whether a selector names the environment of the seeded scenario. All other rules leave its
 * rows out, also those with `*`: a scenario moves no measurement and wakes nobody.
 */
export function readsScenario({ environment }: Rule['selector']): boolean {
  return environment?.includes(scenarioEnvironment) ?? false
}
