import { modelEndpoints } from '../model-endpoints.ts'
import { integer } from '../setting.ts'

/** Settings of the models that verify answers. */
export const verificationSettings = {
  verification_models: modelEndpoints({
    reason:
      'Models that verify answers, as a JSON list: see the [guide](../guides/add-a-judge.md). They receive answers of agents and passages of what the agents saw. When unset, nothing is sent. Set the same value for API and worker.',
  }),
  verification_budget_cents_per_day: integer({
    unit: 'US cents',
    default: 100,
    min: 0,
    max: 10_000_000,
    reason:
      'Maximum cost of the models and searches of verification per project and day (UTC). A call that would exceed it is not sent.',
  }),
}
