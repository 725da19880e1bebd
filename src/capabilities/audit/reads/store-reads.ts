import { newId } from '../../../kernel/ids.ts'
import type { AuditEntry } from '../../../model/audit-entry.ts'
import type { StoredRead } from '../../../platform/audit/index.ts'
import {
  type AuditTables,
  CompiledQuery,
  type Kysely,
  storableText,
} from '../../../platform/relational/index.ts'
import { runInInstallation } from '../../../platform/tenancy/index.ts'
import { commitTo } from '../chain/commitment.ts'
import { detailOf } from '../trail/append.ts'
import { chainOf } from '../trail/chain-id.ts'
import type { UnsealedRead } from './unsealed-reads.ts'

type Db = Kysely<AuditTables>
type Waiting = {
  entry: AuditEntry
  isSent: boolean
  settle: (failure?: { error: unknown }) => void
}

/** Most reads in one row and statement. */
const batch_max = 500

/** Time that a read waits for others, to share a statement. It runs beside the work of the read. */
const wait_ms = 5

/** Statements that run at a time. Further reads wait, and share the next one. */
const running_max = 2

/**
 * Returns a function that begins to store a read of content. Reads that begin within a few
 * milliseconds share a statement. When the answer of one of them is ready, the statement is sent at
 * once, so that the answer does not wait for other reads.
 */
export function storeReads(db: Db): (entry: AuditEntry) => StoredRead {
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let isDue = false
  let running = 0
  const send = () => {
    clearTimeout(timer)
    timer = undefined
    while (waiting.length > 0 && running < running_max) {
      const batch = waiting.slice(0, batch_max)
      waiting = waiting.slice(batch_max)
      running++
      void insertBatch(db, batch).then((failure) => {
        running--
        for (const { settle } of batch) settle(failure)
        if (isDue) send()
      })
    }
    isDue = waiting.length > 0
  }
  return (entry) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // If the work of the call fails, nothing waits for the promise.
    promise.catch(() => undefined)
    const settle: Waiting['settle'] = (failure) =>
      failure === undefined ? resolve() : reject(failure.error)
    const read = { entry, isSent: false, settle }
    waiting.push(read)
    timer ??= setTimeout(send, wait_ms)
    return {
      whenStored: () => {
        if (!read.isSent) send()
        return promise
      },
    }
  }
}

/** Inserts one row for each chain. Returns the failure, if there is one. */
async function insertBatch(
  db: Db,
  batch: readonly Waiting[],
): Promise<{ error: unknown } | undefined> {
  const chains = new Map<string, UnsealedRead[]>()
  for (const read of batch) {
    read.isSent = true
    const chain_id = chainOf(read.entry.organization_id)
    const reads = chains.get(chain_id) ?? []
    chains.set(chain_id, reads)
    reads.push(toUnsealed(read.entry))
  }
  const rows = [...chains].map(([chain_id, reads]) => [
    ...[chain_id, reads.length, JSON.stringify(reads)],
  ])
  try {
    await runInInstallation('reads of all organizations share a statement', () =>
      db.executeQuery(CompiledQuery.raw(insertText(rows.length), rows.flat())),
    )
    return undefined
  } catch (error) {
    return { error }
  }
}

function insertText(rows: number): string {
  const calls = Array.from({ length: rows }, (_, at) => {
    const first = at * 3 + 1
    return `store_audit_reads($${first}, $${first + 1}, $${first + 2})`
  })
  return `select ${calls.join(', ')}`
}

function toUnsealed(entry: AuditEntry): UnsealedRead {
  const origin = detailOf(entry.origin ?? {}) ?? { salt: '', value: '' }
  return {
    id: newId(),
    read_at: entry.recorded_at,
    action: entry.action,
    actor_kind: entry.actor_kind,
    actor_id: entry.actor_id ?? '',
    via: entry.via,
    resource_type: entry.resource_type,
    resource_id: entry.resource_id === null ? null : storableText(entry.resource_id),
    project_id: entry.project_id,
    request_id: entry.request_id,
    origin_hash: commitTo('origin', origin),
    origin_salt: origin.salt,
    origin_value: origin.value,
  }
}
