export { scrubbed } from './answer/body-text.ts'
export { factsFault } from './mapping/exchange-facts.ts'
export { exchangeToRecords, type MappingContext } from './mapping/exchange-to-records.ts'
export { countTokens } from './usage/call-usage.ts'
