import type { Route } from '../../platform/http/index.ts'
import { getLedger, type LedgerDeps } from './ledger.ts'

/** The routes of the ledger. */
export function ledgerRoutes(deps: LedgerDeps): Route[] {
  return [getLedger(deps)]
}
