import { modelEndpoints } from '../model-endpoints.ts'
import { integer, url } from '../setting.ts'

/** Settings of the models and the search endpoint that verify answers and judge lost context. */
export const verificationSettings = {
  verification_models: modelEndpoints({
    reason:
      'Models that verify answers or judge lost context, as a JSON list: see the [guide](../guides/add-a-judge.md). They receive requests of users, answers of agents and passages of what the agents saw. When unset, nothing is sent. Set the same value for API and worker.',
  }),
  verification_budget_cents_per_day: integer({
    unit: 'US cents',
    default: 100,
    min: 0,
    max: 10_000_000,
    reason:
      'Maximum cost of the models and searches of verification per project and day (UTC). A call that would exceed it is not sent.',
  }),
  judge_budget_cents_per_day: integer({
    unit: 'US cents',
    default: 100,
    min: 0,
    max: 10_000_000,
    reason:
      'Maximum cost of the model that judges lost context per project and day (UTC). Above it, the model is not asked. Apart from the budget of verification, because this model is asked about every task.',
  }),
  verification_search_url: url(['https', 'http'], {
    unit: 'URL',
    reason:
      'Search endpoint of the verifier `web`, with the JSON of SearXNG, such as `http://searxng:8080/search`. It may be in a private network, and receives words of claims without ids, addresses and URLs. When unset, nothing is sent, and `web` is unavailable. Set the same value for API and worker.',
  }),
  verification_search_cents_per_thousand_queries: integer({
    unit: 'US cents',
    default: 0,
    min: 0,
    max: 1_000_000,
    reason:
      'Price of a thousand searches. Each search is booked in the budget of its project. The default is for an endpoint of your own.',
  }),
}
