import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import { type Rule, ruleBody } from '../../incidents/index.ts'

/** Start of the names of the scenario's rules, in SQL `LIKE`. They are not rules of the project. */
export const scenarioRules = 'looptrace-onboarding-%'

/** Builds the rule of a run: in mode shadow, for loops of the scenario only. */
export function buildScenarioRule(run_id: string): Rule {
  return ruleBody.parse({
    name: `looptrace-onboarding-${run_id}`,
    description: 'Made by the seeded scenario, and deleted with its data.',
    event: { match: { source: 'finding', kinds: ['loop'], types: ['repeat_call'] } },
    selector: { environment: [scenarioEnvironment] },
    severity: 'low',
    mode: 'shadow',
  })
}
