import type { Route } from '../../platform/http/index.ts'
import { getLedger, type LedgerDeps } from './ledger.ts'

export { type LedgerDeps, lostBefore } from './ledger.ts'
export { acceptedEntry, type LedgerRequest, lostEntry, rejectedEntry } from './ledger-entries.ts'
export {
  type LedgerMeters,
  ledgerMeters,
} from './ledger-meters.ts'
export { keepLedgerMessage, leftLedgerChore } from './left-messages.ts'
export {
  createLedgerReporter,
  type LedgerReporter,
} from './report.ts'

/** Returns the routes of the ledger. */
export function ledgerRoutes(deps: LedgerDeps): Route[] {
  return [getLedger(deps)]
}
