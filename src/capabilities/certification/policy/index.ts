/** The door of policies for resources: what a policy is, without the stores of the room. */

export { metricNames } from './metrics.ts'
export { gates_max, groups_max, policyBody, policyFields } from './policy.ts'
