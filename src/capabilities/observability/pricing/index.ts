export {
  createPricing,
  type Price,
  type PricedCall,
  type Pricing,
  priceVersion,
  type TokenBuckets,
} from './pricing.ts'
