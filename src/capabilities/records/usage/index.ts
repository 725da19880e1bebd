export { explainUsage, noTokens } from './explain-usage.ts'
export {
  dollarText,
  type ExplainedUsage,
  hasHiddenTokens,
  type ReportedUsage,
  reportedCost,
  serviceTierFrom,
  type TokenBuckets,
  tokens_max,
  type UsageDetails,
} from './reported-usage.ts'
export type { UsageStep } from './usage-steps.ts'
export { readWireUsage } from './wire-usage.ts'
