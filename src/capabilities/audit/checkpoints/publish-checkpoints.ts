import type { AuditTables, Kysely } from '../../../platform/relational/index.ts'
import { runInChain } from '../trail/chain-id.ts'

type Db = Kysely<AuditTables>

/** A checkpoint for a sink: a file name below the sink, and the envelope as JSON text. */
export type PublishedCheckpoint = { name: string; envelope: string }

/** A store of checkpoints outside the database. Publishing must be idempotent. */
export type CheckpointSink = (checkpoint: PublishedCheckpoint) => Promise<void>

const page_max = 200

/**
 * Publishes checkpoints to all sinks, oldest first. Retries each checkpoint until every sink has
 * accepted it, so that an unavailable sink loses no checkpoint. Rejects with the first failure.
 */
export async function publishCheckpoints(
  db: Db,
  { sinks, now }: { sinks: readonly CheckpointSink[]; now: Date },
): Promise<number> {
  if (sinks.length === 0) return 0
  const waiting = await db
    .selectFrom('audit_checkpoints')
    .select(['chain_id', 'seq', 'kind', 'envelope'])
    .where('published_at', 'is', null)
    .orderBy('created_at')
    .orderBy('seq')
    .limit(page_max)
    .execute()
  for (const { chain_id, seq, kind, envelope } of waiting) {
    const name = `${chain_id}/${String(seq).padStart(16, '0')}-${kind}.json`
    for (const publish of sinks) await publish({ name, envelope })
    const note = db
      .updateTable('audit_checkpoints')
      .set({ published_at: now })
      .where('chain_id', '=', chain_id)
      .where('seq', '=', seq)
      .where('kind', '=', kind)
    await runInChain(chain_id, () => note.execute())
  }
  return waiting.length
}
