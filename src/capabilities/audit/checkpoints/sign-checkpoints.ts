import type { KeyObject } from 'node:crypto'
import { type AuditTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { type Checkpoint, digestCheckpoint, signCheckpoint } from '../chain/checkpoint.ts'
import type { ChainRow } from '../events/store.ts'
import { runInChain } from '../trail/chain-id.ts'

type Db = Kysely<AuditTables>

/** A chain gets a checkpoint after this many new records, or after this time with a new record. */
const records_max = 1_000
const age_max_ms = 60 * 60 * 1000

/** Maximum chains in one pass of a worker. The others follow in the next pass. */
const chains_max = 500

/** Signs checkpoints of the chains that are due. Returns their number. */
export async function signCheckpoints(
  db: Db,
  { key, now }: { key: KeyObject; now: Date },
): Promise<number> {
  const due = await db
    .selectFrom('audit_chains')
    .selectAll()
    .whereRef('seq', '>', 'checkpoint_seq')
    .where(({ eb, or }) =>
      or([
        eb('seq', '>=', sql<number>`checkpoint_seq + ${records_max}`),
        eb('checkpoint_at', 'is', null),
        eb('checkpoint_at', '<=', new Date(now.getTime() - age_max_ms).toISOString()),
      ]),
    )
    .limit(chains_max)
    .execute()
  let signed = 0
  for (const chain of due) {
    const position = { seq: chain.seq, head: chain.hash.toString('hex') }
    const signing = { kind: 'head', ...position, key, now } as const
    if (await runInChain(chain.chain_id, () => storeCheckpoint(db, chain, signing))) signed++
  }
  return signed
}

type Signing = Pick<Checkpoint, 'kind' | 'seq' | 'head'> & { key: KeyObject; now: Date }

/**
 * Signs and stores the next checkpoint of a chain. Returns false if another worker was faster. The
 * chain is locked for two short statements.
 */
export function storeCheckpoint(db: Db, chain: ChainRow, signing: Signing): Promise<boolean> {
  const { kind, seq, head, key, now } = signing
  const previous = chain.checkpoint_digest?.toString('hex') ?? null
  const count = chain.seq - (kind === 'pruned' ? seq : chain.pruned_seq)
  const { chain_id } = chain
  const value = { kind, chain_id, seq, count, head, time: now.toISOString(), previous }
  return db.transaction().execute(async (trx) => {
    const updated = await trx
      .updateTable('audit_chains')
      .set({
        checkpoint_digest: Buffer.from(digestCheckpoint(value), 'hex'),
        ...(kind === 'head'
          ? { checkpoint_seq: seq, checkpoint_at: now }
          : { pruned_seq: seq, pruned_hash: Buffer.from(head, 'hex') }),
      })
      .where('chain_id', '=', chain_id)
      .where(sql<boolean>`checkpoint_digest is not distinct from ${chain.checkpoint_digest}`)
      .executeTakeFirst()
    if (updated.numUpdatedRows === 0n) return false
    const envelope = JSON.stringify(signCheckpoint(value, key))
    await trx
      .insertInto('audit_checkpoints')
      .values({ chain_id, seq, kind, envelope, created_at: now })
      .execute()
    return true
  })
}
