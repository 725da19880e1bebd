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

/**
 * Records that are checked without a given start, if there is a checkpoint to start from: about the
 * newest 100,000.
 */
const newest_max = 100_000
const checkpoints_max = 10_000
/** Records in memory at one time. Each has up to 32 KiB, and seals up to 1,000 reads. */
const page_max = 200

/** A report of the checked part of a chain. */
export type StoredChainReport = ChainReport & {
  from_seq: number
  /** Records up to this one were deleted by retention. 0: none. */
  pruned_seq: number
  /** The last checked record, if the time limit ended the check; null if all were checked. */
  next_after: number | null
}

type Verification = {
  chain_id: string
  /** Number of the record before the first one to check. Undefined: about the newest 100,000. */
  after: number | undefined
  /** Aborts the check. */
  signal: AbortSignal
  /** Ends the check after the current page, with a report of the checked part. */
  isOver: () => boolean
}

/**
 * Checks a chain in the store against the checkpoints in the store. Detects changes by a person
 * without the signing key. To detect a chain that was replaced with its checkpoints and keys, use
 * `looptrace audit verify` with published copies.
 */
export async function verifyStoredChain(db: Db, asked: Verification): Promise<StoredChainReport> {
  const { chain_id, signal, isOver } = asked
  const chain = await findChain(db, chain_id)
  const { seq: last = 0, pruned_seq = 0 } = chain ?? {}
  const from = Math.max(pruned_seq, asked.after ?? last - newest_max)
  const page = { chain_id, from, limit: checkpoints_max, pruned: true } as const
  const rows = await selectCheckpoints(db, page)
  const faults: ChainFault[] = []
  const checkpoints = openAll(rows, await readCheckpointKeys(db), faults)
  const start = await findStart(db, { ...asked, from, pruned_seq }, checkpoints)
  const verifier = new ChainVerifier(checkpoints, start)
  // The checkpoints after the last one that was read follow in the next call.
  const end = rows.length < checkpoints_max ? Number.MAX_SAFE_INTEGER : (rows.at(-1)?.seq ?? 0)
  const first = start?.seq ?? pruned_seq
  const reading = { chain_id, after: first, end, signal, isOver }
  const { after, isPartial } = await checkRecords(db, reading, async (row) => {
    verifier.add(toRecordWithDetails(row))
    if (row.segment_hash !== null) await checkSegment(db, row, faults)
  })
  const report = verifier.finish({ isPartial })
  const position = { last, pruned_seq, hash: chain?.hash }
  if (!isPartial) faults.push(...checkPosition(position, report, checkpoints))
  const next_after = isPartial ? after : null
  const from_seq = first + 1
  return { ...report, from_seq, pruned_seq, next_after, faults: [...faults, ...report.faults] }
}

type Reading = Pick<Verification, 'chain_id' | 'signal' | 'isOver'> & {
  after: number
  /** Number of the last record for which checkpoints were read. */
  end: number
}

/** Checks records page by page. Returns the last one, and whether others are left. */
async function checkRecords(
  db: Db,
  { chain_id, signal, isOver, end, ...reading }: Reading,
  check: (row: RecordRow) => Promise<void>,
): Promise<{ after: number; isPartial: boolean }> {
  let { after } = reading
  for (;;) {
    signal.throwIfAborted()
    const records = await selectChain(db, { chain_id, after, limit: page_max })
    for (const row of records) await check(row)
    after = records.at(-1)?.seq ?? after
    if (records.length < page_max) return { after, isPartial: false }
    if (isOver() || after >= end) return { after, isPartial: true }
  }
}

/**
 * Returns the position after which the chain is checked: a checkpoint, or the requested record,
 * which an earlier call has checked. Undefined: check from the first record.
 */
async function findStart(
  db: Db,
  { chain_id, after, from, pruned_seq }: Verification & { from: number; pruned_seq: number },
  checkpoints: readonly SignedCheckpoint[],
): Promise<ChainHead | undefined> {
  if (after === undefined) return startOf(checkpoints, from)
  if (after <= pruned_seq) return undefined
  const [record] = await selectChain(db, { chain_id, after: after - 1, limit: 1 })
  return record?.seq === after ? { seq: after, hash: record.hash.toString('hex') } : undefined
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
    const detail = `records up to ${pruned_seq} are marked as deleted, but the signed checkpoint says up to ${signed_seq}`
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
