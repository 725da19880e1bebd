export { scrubbed } from './answer/body-text.ts'
export { exchangeToRecords, type MappingContext } from './mapping/exchange-to-records.ts'
export { factsFault } from './mapping/facts-fault.ts'
export { countTokens } from './usage/token-count.ts'
