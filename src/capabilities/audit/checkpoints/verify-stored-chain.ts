import type { AuditTables, Kysely } from '../../../platform/relational/index.ts'
import { type PublicKeys, StatementFault } from '../../signing/index.ts'
import { openCheckpoint, type SignedCheckpoint } from '../chain/checkpoint.ts'
import type { ChainHead } from '../chain/record.ts'
import { segmentFault } from '../chain/segment.ts'
import { type ChainFault, type ChainReport, ChainVerifier } from '../chain/verify-chain.ts'
import { type RecordRow, toChainRecord, toRecordWithDetails } from '../events/event.ts'
import {
  type ChainRow,
  type CheckpointRow,
  findChain,
  findLastNumber,
  hasStrayReads,
  selectChain,
  selectCheckpoints,
  selectCheckpointsAt,
  selectSegment,
} from '../events/store.ts'
import { toSealedRead } from '../reads/seal-reads.ts'
import {
  type CheckpointSource,
  comparePositions,
  type OutsidePositions,
  readOutsidePositions,
} from './outside-positions.ts'
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
  /** Sinks whose checkpoints were compared, and streams whose position was. */
  sinks_compared: number
  streams_compared: number
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
  /** Sinks of checkpoints that can be read back. */
  sources?: readonly CheckpointSource[]
}

/**
 * Checks a chain in the store against the checkpoints in the store, its stored position, the
 * positions of its streams and the checkpoints of sinks. Detects changes by a person without
 * the signing key, and a cut of the chain with its checkpoints if a stream or sink is ahead of it.
 */
export async function verifyStoredChain(db: Db, asked: Verification): Promise<StoredChainReport> {
  const { chain_id, signal, isOver, sources = [] } = asked
  // Read from the outside in: what a concurrent call adds meanwhile is not behind the head.
  const from = startingPoint(await findChain(db, chain_id), asked.after)
  const outside = await readOutsidePositions(db, { chain_id, from, sources, signal })
  const page = { chain_id, from, limit: checkpoints_max, pruned: true } as const
  const rows = await selectCheckpoints(db, page)
  const chain = await findChain(db, chain_id)
  const { seq: last = 0, pruned_seq = 0 } = chain ?? {}
  const faults: ChainFault[] = []
  const keys = await readCheckpointKeys(db)
  const checkpoints = openAll(withSinks(rows, outside), keys, faults)
  const start = await findStart(db, { ...asked, from, pruned_seq }, checkpoints)
  const verifier = new ChainVerifier(checkpoints, start)
  // The checkpoints after the last one that was read follow in the next call.
  const stored = rows.length < checkpoints_max ? Number.MAX_SAFE_INTEGER : (rows.at(-1)?.seq ?? 0)
  const end = Math.min(stored, ...outside.sinks.map((sink) => sink.end))
  const first = start?.seq ?? pruned_seq
  const reading = { chain_id, after: first, last, end, signal, isOver }
  const { after, isPartial } = await checkRecords(db, reading, async (row) => {
    verifier.add(toRecordWithDetails(row))
    if (row.segment_hash !== null) await checkSegment(db, row, faults)
  })
  const until = isPartial ? after : Number.MAX_SAFE_INTEGER
  faults.push(...(await findStrayReads(db, { chain_id, after: first, until })))
  const report = verifier.finish({ isPartial })
  if (!isPartial) {
    faults.push(...checkPosition(chain, report, checkpoints))
    faults.push(...comparePositions(outside, last))
    faults.push(...(await checkStoredEnd(db, { chain_id, keys, chain })))
  }
  return {
    ...report,
    from_seq: first + 1,
    pruned_seq,
    next_after: isPartial ? after : null,
    sinks_compared: outside.sinks.length,
    streams_compared: outside.streams.length,
    faults: [...faults, ...report.faults],
  }
}

/** Returns the number of the record from which checkpoints are read. */
function startingPoint(chain: ChainRow | undefined, after: number | undefined): number {
  const { seq = 0, pruned_seq = 0, checkpoint_seq = 0 } = chain ?? {}
  return Math.max(pruned_seq, after ?? Math.min(seq - newest_max, checkpoint_seq))
}

type StoredCheckpoint = Pick<CheckpointRow, 'seq' | 'envelope'>

/** Adds the checkpoints of the sinks that the store does not have. */
function withSinks(
  rows: readonly StoredCheckpoint[],
  { sinks }: OutsidePositions,
): StoredCheckpoint[] {
  const stored = new Set(rows.map(({ envelope }) => envelope))
  const published = new Set(sinks.flatMap(({ envelopes }) => envelopes))
  const others = [...published.difference(stored)]
  return [...rows, ...others.map((envelope) => ({ seq: 0, envelope }))]
}

/**
 * Checks that the last checkpoint that the chain names is stored, and that no record is behind the
 * head, where a new record would be.
 */
async function checkStoredEnd(
  db: Db,
  about: { chain_id: string; keys: PublicKeys; chain: ChainRow | undefined },
): Promise<ChainFault[]> {
  const { chain_id, keys, chain } = about
  const faults: ChainFault[] = []
  const digest = chain?.checkpoint_digest?.toString('hex')
  if (chain !== undefined && digest !== undefined) {
    const seqs = [chain.checkpoint_seq, chain.pruned_seq]
    const opened = openAll(await selectCheckpointsAt(db, { chain_id, seqs }), keys, [])
    if (!opened.some((checkpoint) => checkpoint.digest === digest)) {
      const detail = 'the last checkpoint that was signed is not in the store'
      faults.push({ kind: 'checkpoint_missing', seq: chain.checkpoint_seq, detail })
    }
  }
  const seq = await findLastNumber(db, chain_id)
  const head = (await findChain(db, chain_id))?.seq ?? 0
  if (seq > head) {
    const detail = `the head of the chain is record ${head}`
    faults.push({ kind: 'record_inserted', seq, detail })
  }
  return faults
}

type Reading = Pick<Verification, 'chain_id' | 'signal' | 'isOver'> & {
  after: number
  /** Number of the last record when the check began. */
  last: number
  /** Number of the last record for which checkpoints were read. */
  end: number
}

/** Checks records page by page. Returns the last one, and whether others are left. */
async function checkRecords(
  db: Db,
  { chain_id, signal, isOver, last, end, ...reading }: Reading,
  check: (row: RecordRow) => Promise<void>,
): Promise<{ after: number; isPartial: boolean }> {
  let { after } = reading
  for (;;) {
    signal.throwIfAborted()
    const page = await selectChain(db, { chain_id, after, limit: page_max })
    const records = page.filter(({ seq }) => seq <= last)
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
  if (after <= pruned_seq) return prunedHead(checkpoints, pruned_seq)
  const [record] = await selectChain(db, { chain_id, after: after - 1, limit: 1 })
  return record?.seq === after ? { seq: after, hash: record.hash.toString('hex') } : undefined
}

/** Returns the position of the signed statement about the deleted prefix, if there is one. */
function prunedHead(
  checkpoints: readonly SignedCheckpoint[],
  pruned_seq: number,
): ChainHead | undefined {
  const pruned = checkpoints.find(({ kind, seq }) => kind === 'pruned' && seq === pruned_seq)
  return pruned && { seq: pruned.seq, hash: pruned.head }
}

/** Checks the stored position of a chain, which is not signed. */
function checkPosition(
  chain: ChainRow | undefined,
  { head }: ChainReport,
  checkpoints: readonly SignedCheckpoint[],
): ChainFault[] {
  const { seq: last = 0, pruned_seq = 0, hash } = chain ?? {}
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
  rows: readonly StoredCheckpoint[],
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

async function findStrayReads(
  db: Db,
  about: { chain_id: string; after: number; until: number },
): Promise<ChainFault[]> {
  if (!(await hasStrayReads(db, about))) return []
  const detail = 'the store has reads that no record seals'
  return [{ kind: 'record_inserted', seq: about.after + 1, detail }]
}

async function checkSegment(db: Db, row: RecordRow, faults: ChainFault[]): Promise<void> {
  const { chain_id, seq } = row
  const reads = await selectSegment(db, { chain_id, seq })
  const detail = segmentFault(toChainRecord(row), reads.map(toSealedRead))
  if (detail !== undefined) faults.push({ kind: 'record_changed', seq, detail })
}
