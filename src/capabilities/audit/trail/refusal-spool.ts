import { newId } from '../../../kernel/ids.ts'
import { parsedJson } from '../../../kernel/json-values.ts'
import type { AuditEntry } from '../../../model/audit-entry.ts'
import type { AuditTrail } from '../../../platform/audit/index.ts'
import { type Consumer, type Queue, QueueUnavailable } from '../../../platform/queue/index.ts'
import type { Metrics } from '../../../platform/telemetry/index.ts'
import type { AuditDb } from './append.ts'
import { appendEntry } from './append.ts'
import { chainOf } from './chain-id.ts'

type Options = {
  db: AuditDb
  trail: Pick<AuditTrail, 'findOrganization'>
  /** A queue in a file of this process. */
  queue: Pick<Queue, 'publish' | 'consume' | 'stats'>
  metrics: Metrics
  /** Maximum entries in the spool. Further ones are refused. */
  entries_max?: number
}

/** Keeps entries of refused calls on disk while PostgreSQL is unavailable. */
export type RefusalSpool = {
  /** Resolves once the entry is synced to disk. Rejects with QueueUnavailable when it is full. */
  keep(entry: AuditEntry): Promise<void>
  /** Stops writing entries to their chains, for example before the database is closed. */
  stop(): Promise<void>
}

const entriesMax = 10_000
const kind = 'audit'

/** Maximum characters of a requested change in the spool; a longer one is kept as its length. */
const maxChangeLength = 16_384

/**
 * Opens the spool and starts moving its entries, also those of a killed process, to their chains.
 * An entry keeps the time of its call. It is written once, also if a process is killed between the
 * record and the removal from the spool.
 */
export async function openRefusalSpool(options: Options): Promise<RefusalSpool> {
  const { queue, metrics, entries_max = entriesMax } = options
  let entries = (await queue.stats()).pending
  const gauge = refusalSpoolGauge(metrics)
  gauge.set(entries)
  const count = (change: 1 | -1) => {
    entries += change
    gauge.set(entries)
  }
  const replayer: Consumer = await queue.consume(replaying, async (batch) => {
    for (const delivery of batch) {
      await write(options, delivery.data)
      await delivery.ack()
      count(-1)
    }
  })
  return {
    keep: async (entry) => {
      if (entries >= entries_max) {
        throw new QueueUnavailable(`${entries_max} refused calls wait for their records`, {
          reason: 'full',
        })
      }
      count(1)
      const data = Buffer.from(JSON.stringify(withShortChange(entry)))
      await queue.publish({ id: newId(), subject: `${kind}.refused`, data }).catch((error) => {
        count(-1)
        throw error
      })
    },
    stop: () => replayer.stop(),
  }
}

/** Registers the gauge of entries in the spool. */
export function refusalSpoolGauge(metrics: Metrics) {
  return metrics.gauge({
    name: 'looptrace_audit_spooled',
    help: 'Refused calls that wait on disk for PostgreSQL, to be recorded.',
  })
}

/** Back-off of failed batches. They are retried until PostgreSQL is available. */
const replaying = {
  kind,
  batch_messages_max: 100,
  batch_bytes_max: 4 * 1_048_576,
  batch_wait_ms: 0,
  ack_wait_ms: 60_000,
  attempts_max: Number.MAX_SAFE_INTEGER,
  backoff_ms_min: 250,
  backoff_ms_max: 5_000,
} as const

function withShortChange(entry: AuditEntry): AuditEntry {
  const { length } = JSON.stringify(entry.change) ?? ''
  return length > maxChangeLength ? { ...entry, change: { after: { too_long: length } } } : entry
}

async function write({ db, trail }: Options, data: Uint8Array): Promise<void> {
  const kept = parsedJson(Buffer.from(data).toString()) as AuditEntry
  const { project_id } = kept
  const found = project_id === null ? undefined : await trail.findOrganization(project_id)
  const entry = { ...kept, organization_id: kept.organization_id ?? found ?? null }
  if (!(await isWritten(db, entry))) await appendEntry(db, entry)
}

async function isWritten(db: AuditDb, entry: AuditEntry): Promise<boolean> {
  const row = await db
    .selectFrom('audit_records')
    .select('seq')
    .where('chain_id', '=', chainOf(entry.organization_id))
    .where('recorded_at', '=', entry.recorded_at)
    .where('request_id', '=', entry.request_id)
    .where('action', '=', entry.action)
    .where('outcome', '=', entry.outcome)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
