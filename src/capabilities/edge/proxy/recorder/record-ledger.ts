import type { Metrics } from '../../../../platform/telemetry/index.ts'

/** Counts of records. At any time `seen = published + refused + lost + pending`. */
export type RecorderStats = {
  seen: number
  published: number
  /** Left out because the project's policy says so. */
  refused: number
  lost: number
  pending: number
}

/** Why a record did not reach the queue. */
export type LossReason =
  | 'inflight_full'
  | 'too_large'
  | 'not_compressed'
  | 'not_published'
  | 'not_mapped'
  | 'closed'

/** Counts what became of each record, so that no loss is silent. */
export type RecordLedger = {
  seen(): void
  published(records: number): void
  lost(records: number, reason: LossReason): void
  refused(reason: string): void
  /** Counts bytes that wait to be published. */
  hold(bytes: number): void
  release(bytes: number): void
  inflightBytes(): number
  stats(): RecorderStats
}

/**
 * Makes a ledger that is exported as metrics too. In both, `seen = published + refused + lost +
 * pending`.
 */
export function createRecordLedger(metrics: Metrics): RecordLedger {
  const settled = metrics.counter({
    name: 'looptrace_proxy_records_total',
    help: 'Records of calls by result: published to the queue, refused by a capture policy, or lost.',
    labels: ['result', 'reason'],
  })
  let seen = 0
  let published = 0
  let refused = 0
  let lost = 0
  let inflight_bytes = 0
  const stats = () => ({
    seen,
    published,
    refused,
    lost,
    pending: seen - published - refused - lost,
  })
  metrics.gauge({
    name: 'looptrace_proxy_records_pending',
    help: 'Records of calls that wait to be published.',
    collect: (gauge) => gauge.set(stats().pending),
  })
  metrics.gauge({
    name: 'looptrace_proxy_records_pending_bytes',
    help: 'Bytes of the records that wait to be published.',
    collect: (gauge) => gauge.set(inflight_bytes),
  })
  return {
    seen: () => {
      seen += 1
    },
    published: (records) => {
      published += records
      settled.inc({ result: 'published', reason: '' }, records)
    },
    lost: (records, reason) => {
      lost += records
      settled.inc({ result: 'lost', reason }, records)
    },
    refused: (reason) => {
      refused += 1
      settled.inc({ result: 'refused', reason })
    },
    hold: (bytes) => {
      inflight_bytes += bytes
    },
    release: (bytes) => {
      inflight_bytes -= bytes
    },
    inflightBytes: () => inflight_bytes,
    stats,
  }
}
