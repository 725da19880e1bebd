export { explainUsage, noTokens } from './explain-usage.ts'
export { dollarText, reportedCost } from './reported-cost.ts'
export {
  type ExplainedUsage,
  hasHiddenTokens,
  type ReportedUsage,
  type TokenBuckets,
  tokens_max,
  type UsageDetails,
} from './reported-usage.ts'
export { serviceTierFrom } from './service-tier.ts'
export type { UsageStep } from './usage-steps.ts'
export { readWireUsage } from './wire-usage.ts'
