export type { Cost, CostSource } from './choose-cost.ts'
export { createPricing, type PricedCall, type PricedUsage, type Pricing } from './pricing.ts'
