export {
  createPricing,
  type Price,
  type PricedCall,
  type Pricing,
  type TokenBuckets,
} from './pricing.ts'
