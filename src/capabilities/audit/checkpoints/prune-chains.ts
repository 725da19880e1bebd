import { createPublicKey, type KeyObject } from 'node:crypto'
import { type AuditTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { type PublicKeys, readKeyId, StatementFault } from '../../signing/index.ts'
import { openCheckpoint } from '../chain/checkpoint.ts'
import type { ChainRow } from '../events/store.ts'
import { runInChain } from '../trail/chain-id.ts'
import { storeCheckpoint } from './sign-checkpoints.ts'

type Db = Kysely<AuditTables>

const batch_max = 5_000

/**
 * Deletes records older than a time: the prefix of a chain up to a checkpoint that was signed
 * before that time. A signed statement names the last deleted record, so the rest still verifies.
 * The time and the record are those in a checkpoint that the service's own key signed: who can
 * write to the database could otherwise have the service delete new records and sign for it. After
 * a change of the service's secret, the first new checkpoint must reach the age.
 * With sinks, only a published checkpoint counts; with streams, only a checkpoint whose record all
 * of them have sent. Returns the number of deleted records.
 */
export async function pruneChains(db: Db, pruning: Pruning): Promise<number> {
  let deleted = 0
  const chains = await db.selectFrom('audit_chains').selectAll().execute()
  for (const chain of chains) {
    pruning.signal.throwIfAborted()
    deleted += await runInChain(chain.chain_id, () => pruneChain(db, chain, pruning))
  }
  return deleted
}

async function pruneChain(db: Db, chain: ChainRow, pruning: Pruning): Promise<number> {
  const cut = await findCut(db, chain, pruning)
  if (cut !== undefined) await storeCheckpoint(db, chain, { ...pruning, kind: 'pruned', ...cut })
  // Also deletes the records that an interrupted pass left.
  return deletePrefix(db, chain.chain_id, pruning.signal)
}

type Pruning = Cut & { key: KeyObject; now: Date; signal: AbortSignal }

/** Which records may be deleted. */
type Cut = { before: Date; hasSinks: boolean; streams: readonly string[] }

/** Checkpoints that are read to find one of the service's own key. */
const candidates_max = 100

async function findCut(
  db: Db,
  chain: ChainRow,
  { key, ...cut }: Pruning,
): Promise<{ seq: number; head: string } | undefined> {
  const publicKey = createPublicKey(key)
  const own: PublicKeys = new Map([[readKeyId(publicKey), publicKey]])
  const candidates = await selectCandidates(db, chain, cut)
  const before = cut.before.toISOString()
  for (const { seq, hash, envelope } of candidates) {
    const signed = openOwn(envelope, own)
    const isOld = signed !== undefined && signed.time < before
    const isOfRecord = signed?.chain_id === chain.chain_id && signed.seq === seq
    if (isOld && isOfRecord && signed.kind === 'head' && signed.head === hash.toString('hex')) {
      return { seq, head: signed.head }
    }
  }
  return undefined
}

function openOwn(envelope: string, own: PublicKeys) {
  try {
    return openCheckpoint(envelope, own)
  } catch (error) {
    if (error instanceof StatementFault) return undefined
    throw error
  }
}

/** Returns the checkpoints that may be old enough, the newest first, with the hash of the record. */
function selectCandidates(
  db: Db,
  { chain_id, pruned_seq }: ChainRow,
  { before, hasSinks, streams }: Cut,
): Promise<{ seq: number; hash: Buffer; envelope: string }[]> {
  return db
    .selectFrom('audit_checkpoints')
    .innerJoin('audit_records', (join) =>
      join
        .onRef('audit_records.chain_id', '=', 'audit_checkpoints.chain_id')
        .onRef('audit_records.seq', '=', 'audit_checkpoints.seq'),
    )
    .select(['audit_records.seq', 'audit_records.hash', 'audit_checkpoints.envelope'])
    .where('audit_checkpoints.chain_id', '=', chain_id)
    .where('audit_checkpoints.kind', '=', 'head')
    .where('audit_checkpoints.seq', '>', pruned_seq)
    .where('audit_checkpoints.created_at', '<', before.toISOString())
    .$if(hasSinks, (query) => query.where('audit_checkpoints.published_at', 'is not', null))
    .where(({ and, exists, selectFrom }) =>
      and(
        streams.map((stream) =>
          exists(
            selectFrom('audit_stream_cursors as cursor')
              .select('cursor.seq')
              .where('cursor.stream', '=', stream)
              .where('cursor.chain_id', '=', chain_id)
              .whereRef('cursor.seq', '>=', 'audit_checkpoints.seq'),
          ),
        ),
      ),
    )
    .orderBy('audit_checkpoints.seq', 'desc')
    .limit(candidates_max)
    .execute()
}

async function deletePrefix(db: Db, chain_id: string, signal: AbortSignal): Promise<number> {
  let deleted = 0
  for (;;) {
    signal.throwIfAborted()
    const { numAffectedRows = 0n } = await sql`
      with prefix as (
        select record.seq from audit_records as record
        join audit_chains as chain using (chain_id)
        where record.chain_id = ${chain_id}::uuid and record.seq <= chain.pruned_seq
        order by record.seq limit ${batch_max}
      ), reads as (
        delete from audit_reads
        where chain_id = ${chain_id}::uuid and segment_seq in (select seq from prefix)
      ), refusals as (
        delete from audit_stream_refusals
        where chain_id = ${chain_id}::uuid and seq in (select seq from prefix)
      )
      delete from audit_records
      where chain_id = ${chain_id}::uuid and seq in (select seq from prefix)`.execute(db)
    deleted += Number(numAffectedRows)
    if (numAffectedRows < BigInt(batch_max)) return deleted
  }
}
