export { type Cost, type CostSource, costSources } from './choose-cost.ts'
export { createPricing, type PricedCall, type PricedUsage, type Pricing } from './pricing.ts'
