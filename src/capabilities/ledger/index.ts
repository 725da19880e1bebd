export type { LedgerDeps } from './ledger.ts'
export { acceptedEntry, type LedgerRequest, lostEntry, rejectedEntry } from './ledger-entries.ts'
export {
  type LedgerCount,
  type LedgerMeters,
  type LedgerOutcome,
  ledgerMeters,
} from './ledger-meters.ts'
export { ledgerRoutes } from './ledger-routes.ts'
export {
  createLedgerReporter,
  type LedgerReporter,
  type LedgerReporterOptions,
} from './report.ts'
