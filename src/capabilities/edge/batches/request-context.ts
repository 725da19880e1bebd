import type { IngestRecords } from '../../../model/ingest-records.ts'
import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import type { IngestTables, Kysely } from '../../../platform/relational/index.ts'
import type { Pricing } from '../../records/pricing/index.ts'
import type { Enqueuer } from '../enqueue/index.ts'

/** Applies the project's capture policy to a batch: sampling, masks, content. */
type CaptureBatch = (
  records: IngestRecords,
  project_id: string,
  item_kinds: readonly (keyof IngestRecords)[],
) => CapturedBatch | Promise<CapturedBatch>

type CapturedBatch = {
  records: IngestRecords
  rejected: Readonly<Record<string, number>>
  masked: number
}

/** The dependencies of the routes of canonical ingest. */
export type IngestRequestDeps = {
  db: Kysely<IngestTables>
  enqueuer: Enqueuer
  pricing: Pricing
  /** Without it every batch is accepted as it came. */
  capture?: CaptureBatch
  /** Reads the receipts of the other ways in from the LedgerStore. */
  receipts: {
    receipt(projectId: string, ingestRequestId: string): Promise<readonly LedgerEntry[]>
  }
  settings: IngestRequestSettings
}

export type IngestRequestSettings = {
  /** Maximum bytes of a batch; a larger one is refused with 413. */
  body_bytes_max: number
  /**
   * Maximum records being accepted at one time, by default 200,000; beyond it batches are refused
   * with 503.
   */
  items_in_flight_max?: number
  /**
   * Maximum calls that wait for the end of a request, by default 256; others are answered at once.
   */
  waiters_max?: number
  /** Maximum wait of `?wait=true`, by default 10,000. */
  wait_ms_max?: number
  /** Age of an unpublished claim at which another call may take it over, by default 30,000. */
  take_over_after_ms?: number
  /** Maximum wait for another call that is accepting the same batch, by default 10,000. */
  claim_wait_ms_max?: number
}

/** The dependencies with all settings, and the limits of this process. */
export type RequestContext = IngestRequestDeps & {
  settings: Required<IngestRequestSettings>
  /** Limits the records being accepted. */
  items: Gate
  /** Limits the calls that wait. */
  waiters: Gate
}

/** A counter with a limit. */
type Gate = {
  /** Takes room for `amount`. Returns false at the limit; the first caller always gets in. */
  enter(amount: number): boolean
  leave(amount: number): void
}

export function createGate(amount_max: number): Gate {
  let taken = 0
  return {
    enter: (amount) => {
      if (taken > 0 && taken + amount > amount_max) return false
      taken += amount
      return true
    },
    leave: (amount) => {
      taken -= amount
    },
  }
}
