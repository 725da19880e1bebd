import type { SignedCheckpoint } from './checkpoint.ts'
import { commitTo, type Detail, type DetailPart, detailParts } from './commitment.ts'
import { type ChainHead, type ChainRecord, emptyHead, hashRecord } from './record.ts'

/** A fault in a chain. */
export type ChainFault = {
  kind:
    | 'record_changed'
    | 'record_missing'
    | 'record_inserted'
    | 'prefix_missing'
    | 'truncated'
    | 'rewritten'
    | 'detail_changed'
    | 'checkpoint_missing'
    | 'checkpoint_conflict'
  /** Number of the record where the fault was detected. */
  seq: number
  detail: string
}

/** A record with its details that were not erased. */
export type RecordWithDetails = ChainRecord & { details?: Partial<Record<DetailPart, Detail>> }

/** The result of a verification. */
export type ChainReport = {
  /** Position of the last record. */
  head: ChainHead
  records: number
  /** Details that were erased: the record has their hash only. */
  erased: number
  /** Number of the newest checkpoint; records after it are not protected yet. 0: none. */
  protected_seq: number
  /** Time of the newest checkpoint, ISO 8601; null without one. */
  protected_at: string | null
  checkpoints: number
  /** The first faults, at most 100. */
  faults: readonly ChainFault[]
}

/**
 * Checks the records of one chain, in their order, against its checkpoints, whose signatures are
 * already verified. Only checkpoints can show that the end of the chain, or all of it, was
 * replaced. Records after the newest checkpoint can be cut off without a trace.
 */
export class ChainVerifier {
  readonly #heads = new Map<number, string>()
  readonly #faults: ChainFault[] = []
  readonly #newest: SignedCheckpoint | undefined
  readonly #checkpoints: number
  #head: ChainHead
  #records = 0
  #erased = 0

  /** `start`: the head of a checkpoint, to check only the records after it. */
  constructor(checkpoints: readonly SignedCheckpoint[], start?: ChainHead) {
    const sorted = checkpoints.toSorted((a, b) => a.seq - b.seq)
    this.#checkpoints = sorted.length
    this.#newest = sorted.at(-1)
    this.#readHeads(sorted)
    this.#checkLinks(sorted, start?.seq ?? -1)
    this.#head = start ?? lastPruned(sorted) ?? emptyHead
  }

  /** Checks the next record. Leave out the prefix that retention deleted. */
  add(record: RecordWithDetails): void {
    this.#records++
    this.#checkPosition(record)
    const previous = { seq: record.seq - 1, hash: this.#head.hash }
    if (hashRecord(record, previous) !== record.hash) {
      this.#fault(
        'record_changed',
        record.seq,
        'the hash does not match the record and the record before it',
      )
    }
    this.#checkDetails(record)
    this.#checkHead(record)
    this.#head = { seq: record.seq, hash: record.hash }
  }

  /** Returns the report. `isPartial`: the time limit ended the check before the last record. */
  finish({ isPartial = false }: { isPartial?: boolean } = {}): ChainReport {
    for (const [seq] of this.#heads) {
      if (isPartial || seq <= this.#head.seq) continue
      this.#fault(
        'truncated',
        seq,
        `a checkpoint names record ${seq}, the last is ${this.#head.seq}`,
      )
    }
    return {
      head: this.#head,
      records: this.#records,
      erased: this.#erased,
      protected_seq: this.#newest?.seq ?? 0,
      protected_at: this.#newest?.time ?? null,
      checkpoints: this.#checkpoints,
      faults: this.#faults,
    }
  }

  #readHeads(sorted: readonly SignedCheckpoint[]): void {
    for (const { seq, head } of sorted) {
      const known = this.#heads.get(seq)
      if (known !== undefined && known !== head) {
        this.#fault('checkpoint_conflict', seq, `two checkpoints name different records ${seq}`)
      }
      this.#heads.set(seq, head)
    }
  }

  /** Checks that each checkpoint after a number has its predecessor. */
  #checkLinks(sorted: readonly SignedCheckpoint[], after: number): void {
    const digests = new Set(sorted.map(({ digest }) => digest))
    for (const { seq, previous } of sorted.filter((checkpoint) => checkpoint.seq > after)) {
      if (previous === null || digests.has(previous)) continue
      this.#fault('checkpoint_missing', seq, 'the checkpoint before this one was not given')
    }
  }

  #checkPosition({ seq }: ChainRecord): void {
    const expected = this.#head.seq + 1
    if (seq === expected) return
    if (this.#records === 1 && seq > expected) {
      const detail = `records ${expected} to ${seq - 1} are missing, and no signed statement says why`
      this.#fault('prefix_missing', seq, detail)
    } else if (seq > expected) {
      this.#fault('record_missing', seq, `records ${expected} to ${seq - 1} are missing`)
    } else {
      this.#fault('record_inserted', seq, `expected record ${expected}`)
    }
  }

  #checkHead({ seq, hash }: ChainRecord): void {
    const head = this.#heads.get(seq)
    if (head === undefined || head === hash) return
    this.#fault('rewritten', seq, 'a checkpoint was signed with another hash of this record')
  }

  #checkDetails(record: RecordWithDetails): void {
    for (const part of detailParts) {
      const committed = record[`${part}_hash`]
      const detail = record.details?.[part]
      if (detail === undefined) {
        if (committed !== null) this.#erased++
      } else if (committed === null || commitTo(part, detail) !== committed) {
        this.#fault('detail_changed', record.seq, `${part}: the value does not match its hash`)
      }
    }
  }

  #fault(kind: ChainFault['kind'], seq: number, detail: string): void {
    if (this.#faults.length < faultsMax) this.#faults.push({ kind, seq, detail })
  }
}

const faultsMax = 100

function lastPruned(sorted: readonly SignedCheckpoint[]): ChainHead | undefined {
  const pruned = sorted.findLast(({ kind }) => kind === 'pruned')
  return pruned && { seq: pruned.seq, hash: pruned.head }
}
