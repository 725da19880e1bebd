export { exchangeToObservation, type MappingContext } from './mapping/exchange-to-observation.ts'
export { factsFault } from './mapping/facts-fault.ts'
export { scrubbed } from './mapping/scrub.ts'
export { countTokens } from './usage/token-count.ts'
