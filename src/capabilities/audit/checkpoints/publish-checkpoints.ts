import type { AuditTables, Kysely } from '../../../platform/relational/index.ts'
import { type PublicKeys, StatementFault } from '../../signing/index.ts'
import { openCheckpoint } from '../chain/checkpoint.ts'
import { runInChain } from '../trail/chain-id.ts'
import { readCheckpointKeys } from './signing-key.ts'

type Db = Kysely<AuditTables>

/** A checkpoint for a sink: a file name below the sink, and the envelope as JSON text. */
type PublishedCheckpoint = { name: string; envelope: string }

/** A store of checkpoints outside the database. Publishing must be idempotent. */
export type CheckpointSink = (checkpoint: PublishedCheckpoint) => Promise<void>

const page_max = 200

/** A stored checkpoint is not the signed one of its row, so it is not published. */
class CheckpointForged extends Error {
  override readonly name = 'CheckpointForged'
}

/**
 * Publishes checkpoints to all sinks, oldest first. Retries each checkpoint until every sink has
 * accepted it, so that an unavailable sink loses no checkpoint. Rejects with the first failure of a
 * sink; with `CheckpointForged`, after publishing the others, if the row of a checkpoint names
 * another chain, record or kind than its signed envelope: a file with a wrong name would hide the
 * newest checkpoint of the sink.
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
  if (waiting.length === 0) return 0
  const keys = await readCheckpointKeys(db)
  const genuine = waiting.filter((row) => isOfRow(row, keys))
  for (const { chain_id, seq, kind, envelope } of genuine) {
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
  const forged = waiting.find((row) => !genuine.includes(row))
  if (forged === undefined) return waiting.length
  throw new CheckpointForged(
    `the stored checkpoint ${forged.kind} of record ${forged.seq} in the audit chain ${forged.chain_id} is not the signed one`,
  )
}

type Waiting = { chain_id: string; seq: number; kind: string; envelope: string }

function isOfRow({ chain_id, seq, kind, envelope }: Waiting, keys: PublicKeys): boolean {
  try {
    const signed = openCheckpoint(envelope, keys)
    return signed.chain_id === chain_id && signed.seq === seq && signed.kind === kind
  } catch (error) {
    if (error instanceof StatementFault) return false
    throw error
  }
}
