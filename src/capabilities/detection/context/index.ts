export { ledgerOf } from './dialogues.ts'
export type { ContextLedger, LedgerEntry } from './ledger.ts'
