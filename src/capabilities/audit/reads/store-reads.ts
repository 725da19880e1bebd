import { newId } from '../../../kernel/ids.ts'
import type { AuditEntry } from '../../../model/audit-entry.ts'
import { type AuditTables, type Kysely, storableText } from '../../../platform/relational/index.ts'
import { commitTo } from '../chain/commitment.ts'
import { detailOf } from '../trail/append.ts'
import { chainOf } from '../trail/chain-id.ts'

type Db = Kysely<AuditTables>
type Waiting = { entry: AuditEntry; resolve: () => void; reject: (error: unknown) => void }

/** Most reads in one statement. */
const batch_max = 500

/**
 * Returns a function that stores reads of content. Reads that arrive while an insert runs share the
 * next insert, so that many readers cost few statements.
 */
export function storeReads(db: Db): (entry: AuditEntry) => Promise<void> {
  let waiting: Waiting[] = []
  let isRunning = false
  const run = async () => {
    isRunning = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batch_max)
      waiting = waiting.slice(batch_max)
      const failure = await insertReads(
        db,
        batch.map(({ entry }) => entry),
      ).catch((error: unknown) => ({ error }))
      for (const { resolve, reject } of batch) {
        if (failure === undefined) resolve()
        else reject(failure.error)
      }
    }
    isRunning = false
  }
  return (entry) =>
    new Promise((resolve, reject) => {
      waiting.push({ entry, resolve, reject })
      if (!isRunning) void run()
    })
}

async function insertReads(db: Db, entries: readonly AuditEntry[]): Promise<undefined> {
  await db.insertInto('audit_reads').values(entries.map(toRow)).execute()
  return undefined
}

function toRow(entry: AuditEntry) {
  const origin = detailOf(entry.origin ?? {}) ?? { salt: '', value: '' }
  return {
    id: newId(),
    chain_id: chainOf(entry.organization_id),
    read_at: entry.recorded_at,
    action: entry.action,
    actor_kind: entry.actor_kind,
    actor_id: entry.actor_id ?? '',
    via: entry.via,
    resource_type: entry.resource_type,
    resource_id: entry.resource_id === null ? null : storableText(entry.resource_id),
    project_id: entry.project_id,
    request_id: entry.request_id,
    origin_hash: Buffer.from(commitTo('origin', origin), 'hex'),
    origin_salt: Buffer.from(origin.salt, 'hex'),
    origin_value: origin.value,
  }
}
