export {
  createPricing,
  type PricedCall,
  type Pricing,
  priceVersion,
  type TokenBuckets,
} from './pricing.ts'
