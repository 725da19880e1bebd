import type { IngestRecords } from '../../../model/ingest-records.ts'
import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import type { IngestTables, Kysely } from '../../../platform/relational/index.ts'
import type { Pricing } from '../../records/pricing/index.ts'
import type { Enqueuer } from '../enqueue/index.ts'

/** What is taken of a batch by the project's capture policy: sampled, masked, without content. */
export type CaptureBatch = (
  records: IngestRecords,
  project_id: string,
  item_kinds: readonly (keyof IngestRecords)[],
) => CapturedBatch | Promise<CapturedBatch>

type CapturedBatch = {
  records: IngestRecords
  rejected: Readonly<Record<string, number>>
  masked: number
}

/** What the routes of canonical ingest need. */
export type IngestRequestDeps = {
  db: Kysely<IngestTables>
  enqueuer: Enqueuer
  pricing: Pricing
  /** Left out, everything is taken as it came. */
  capture?: CaptureBatch
  /** Receipts of the other ways in, as the LedgerStore gives them. */
  receipts: {
    receipt(projectId: string, ingestRequestId: string): Promise<readonly LedgerEntry[]>
  }
  settings: IngestRequestSettings
}

export type IngestRequestSettings = {
  /** Bytes of a batch; above, 413. */
  body_bytes_max: number
  /** Records of batches that are being taken at one time; above, 503. 200,000 when left out. */
  items_in_flight_max?: number
  /** Calls that wait for a request's end at one time; others are answered at once. 256. */
  waiters_max?: number
  /** How long `?wait=true` waits, at most. 10,000. */
  wait_ms_max?: number
  /** A batch that a call claimed longer ago and never published is another call's. 30,000. */
  take_over_after_ms?: number
  /** How long a call waits for another one that is taking the same batch. 10,000. */
  claim_wait_ms_max?: number
}

/** The dependencies, with what left-out settings are and with the bounds of this process. */
export type RequestContext = IngestRequestDeps & {
  settings: Required<IngestRequestSettings>
  /** Records that are being taken. */
  items: Gate
  /** Calls that wait. */
  waiters: Gate
}

/** Lets so much in at one time and no more. */
type Gate = {
  /** Takes room for so many; false when there is none. A first one gets in, however large it is. */
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
