/** Values that texts state: numbers with units, dates, codes, URLs and quotations. Pure. */

export { numberWords } from './number-words.ts'
export { agrees, isComparable, isSameKind, type Quantity, readQuantities } from './quantities.ts'
export { normaliseUrl, readCodes, readQuotes } from './read-codes.ts'
export { readDates } from './read-dates.ts'
export { readValues } from './read-values.ts'
export { findCurrency, findKind, findUnit, readFactUnit } from './units.ts'
export type { Amount, Day, Evidence, SeenText, Value, ValueKind } from './value.ts'
