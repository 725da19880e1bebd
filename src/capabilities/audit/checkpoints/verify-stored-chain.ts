import type { AuditTables, Kysely } from '../../../platform/relational/index.ts'
import { type PublicKeys, StatementFault } from '../../certification/index.ts'
import { openCheckpoint, type SignedCheckpoint } from '../chain/checkpoint.ts'
import type { ChainHead } from '../chain/record.ts'
import { hashSegment } from '../chain/segment.ts'
import { type ChainFault, type ChainReport, ChainVerifier } from '../chain/verify-chain.ts'
import { type RecordRow, toRecordWithDetails } from '../events/event.ts'
import {
  type CheckpointRow,
  findChain,
  selectChain,
  selectCheckpoints,
  selectSegment,
} from '../events/store.ts'
import { toRead } from '../reads/seal-reads.ts'
import { readCheckpointKeys } from './signing-key.ts'

type Db = Kysely<AuditTables>

/** Maximum checked records. A longer chain is checked from a checkpoint among its newest ones. */
const records_max = 100_000
const checkpoints_max = 10_000
const page_max = 1_000

/** A report with the first record that was checked, and the deleted prefix. */
type StoredChainReport = ChainReport & { from_seq: number; pruned_seq: number }

/**
 * Checks a chain in the store against the checkpoints in the store. Detects changes by a person
 * without the signing key. To detect a chain that was replaced with its checkpoints and keys, use
 * `looptrace audit verify` with published copies.
 */
export async function verifyStoredChain(
  db: Db,
  { chain_id, signal }: { chain_id: string; signal: AbortSignal },
): Promise<StoredChainReport> {
  const chain = await findChain(db, chain_id)
  const { seq: last = 0, pruned_seq = 0 } = chain ?? {}
  const from = Math.max(pruned_seq, last - records_max)
  const page = { chain_id, from, limit: checkpoints_max, pruned: true } as const
  const rows = await selectCheckpoints(db, page)
  const faults: ChainFault[] = []
  const checkpoints = openAll(rows, await readCheckpointKeys(db), faults)
  const start = startOf(checkpoints, from)
  const verifier = new ChainVerifier(checkpoints, start)
  let after = start?.seq ?? pruned_seq
  const from_seq = after + 1
  for (;;) {
    signal.throwIfAborted()
    const records = await selectChain(db, { chain_id, after, limit: page_max })
    for (const row of records) {
      verifier.add(toRecordWithDetails(row))
      if (row.segment_hash !== null) await checkSegment(db, row, faults)
    }
    after = records.at(-1)?.seq ?? after
    if (records.length < page_max) break
  }
  const report = verifier.finish()
  faults.push(...checkPosition({ last, pruned_seq, hash: chain?.hash }, report, checkpoints))
  return { ...report, from_seq, pruned_seq, faults: [...faults, ...report.faults] }
}

type Position = { last: number; pruned_seq: number; hash: Buffer | undefined }

/** Checks the stored position of a chain, which is not signed. */
function checkPosition(
  { last, pruned_seq, hash }: Position,
  { head }: ChainReport,
  checkpoints: readonly SignedCheckpoint[],
): ChainFault[] {
  const faults: ChainFault[] = []
  const pruned = checkpoints.filter(({ kind }) => kind === 'pruned').map(({ seq }) => seq)
  const signed_seq = Math.max(0, ...pruned)
  if (pruned_seq !== signed_seq) {
    const detail = `records up to ${pruned_seq} are marked as deleted, signed is ${signed_seq}`
    faults.push({ kind: 'prefix_missing', seq: pruned_seq, detail })
  }
  const isHead = head.seq === last && (hash === undefined || hash.toString('hex') === head.hash)
  if (!isHead) {
    faults.push({ kind: 'truncated', seq: last, detail: `the head of the chain is record ${last}` })
  }
  return faults
}

function openAll(
  rows: readonly CheckpointRow[],
  keys: PublicKeys,
  faults: ChainFault[],
): SignedCheckpoint[] {
  return rows.flatMap(({ envelope, seq }) => {
    try {
      return [openCheckpoint(envelope, keys)]
    } catch (error) {
      if (!(error instanceof StatementFault)) throw error
      faults.push({ kind: 'checkpoint_conflict', seq, detail: error.message })
      return []
    }
  })
}

/** Returns the first checkpoint at or after a number, from which a part of a chain is checked. */
function startOf(checkpoints: readonly SignedCheckpoint[], from: number): ChainHead | undefined {
  const first = checkpoints.find(({ seq }) => seq >= from)
  return from === 0 || first === undefined ? undefined : { seq: first.seq, hash: first.head }
}

async function checkSegment(db: Db, row: RecordRow, faults: ChainFault[]): Promise<void> {
  const { chain_id, seq } = row
  const reads = await selectSegment(db, { chain_id, seq })
  const isWhole = reads.length === row.segment_count
  if (isWhole && hashSegment(reads.map(toRead)) === row.segment_hash?.toString('hex')) return
  const detail = `the ${row.segment_count} reads that the record seals were changed`
  faults.push({ kind: 'record_changed', seq, detail })
}
