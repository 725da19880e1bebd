import type { Clock } from '../../../kernel/time.ts'
import type { AuditTables, Kysely, Selectable } from '../../../platform/relational/index.ts'
import { hashSegment, type SealedRead } from '../chain/segment.ts'
import { appendEntry } from '../trail/append.ts'
import { installationChain, runInChain } from '../trail/chain-id.ts'
import { insertSealed, takeUnsealed, tryLockSealing } from './unsealed-reads.ts'

type Db = Kysely<AuditTables>
type ReadRow = Selectable<AuditTables['audit_reads']>

/**
 * Age of a read from which its sealing was interrupted, by stopped workers or an unavailable store.
 */
const late_ms = 10_000

/** The actions of records that seal a segment, in time and after an interruption. */
const sealAction = 'sealReads'
const lateSealAction = 'sealReadsLate'

/**
 * Seals the stored reads of each chain: one record in the chain for up to 1,000 reads. Reads of a
 * chain are sealed by one worker at a time. Returns the number of sealed reads.
 */
export async function sealReads(db: Db, clock: Clock): Promise<number> {
  const chains = await db.selectFrom('audit_read_batches').select('chain_id').distinct().execute()
  let sealed = 0
  for (const { chain_id } of chains) {
    sealed += await runInChain(chain_id, () =>
      db.transaction().execute((trx) => sealChain(trx, { chain_id, now_ms: clock.now_ms() })),
    )
  }
  return sealed
}

async function sealChain(
  trx: Db,
  { chain_id, now_ms }: { chain_id: string; now_ms: number },
): Promise<number> {
  if (!(await tryLockSealing(trx, chain_id))) return 0
  const reads = await takeUnsealed(trx, chain_id)
  const [first] = reads
  if (first === undefined) return 0
  const isLate = now_ms - Date.parse(first.read_at) > late_ms
  const segment = { count: reads.length, hash: hashSegment(reads) }
  const seq = await appendEntry(trx, sealEntry({ chain_id, isLate, now_ms }), segment)
  await insertSealed(trx, reads, { chain_id, seq })
  return reads.length
}

/** Returns a stored read as the segment protects it, with the salt and value of its origin. */
export function toSealedRead(row: ReadRow): SealedRead {
  const { id: _id, chain_id: _chain, segment_seq: _seq, origin_hash, ...rest } = row
  const { origin_salt, origin_value, ...read } = rest
  const isErased = origin_salt === null || origin_value === null
  const origin = isErased
    ? {}
    : { origin: { salt: origin_salt.toString('hex'), value: origin_value } }
  return { ...read, origin_hash: origin_hash.toString('hex'), details: origin }
}

function sealEntry(seal: { chain_id: string; isLate: boolean; now_ms: number }) {
  return {
    organization_id: seal.chain_id === installationChain ? null : seal.chain_id,
    project_id: null,
    recorded_at: new Date(seal.now_ms).toISOString(),
    action: seal.isLate ? lateSealAction : sealAction,
    ...({
      outcome: 'succeeded',
      code: null,
      actor_kind: 'job',
      actor_id: null,
      via: 'job',
    } as const),
    resource_type: 'audit/reads',
    resource_id: null,
    request_id: '',
    suppressed: 0,
    origin: null,
    change: null,
  }
}
