import { createHash } from 'node:crypto'
import { type RowKind, rowKinds } from '../../model/row-frame.ts'
import type { ObservationHead } from '../storage/row-format/index.ts'
import type { ReadMessage } from './message-rows.ts'

/** Rows of a message that are written together, from one place to before another. */
export type RowUnit = { message: ReadMessage; from: number; to: number }

/** Rows of many messages that are written together. */
export type RowBatch = {
  /** The same for the same rows in whatever order their messages came; another for a part. */
  token: string
  /** The rows of each kind one after the other, as they are inserted. */
  rows: { kind: RowKind; bytes: Buffer; count: number }[]
  /** Of the observations. */
  heads: ObservationHead[]
  /** What was put together. */
  units: readonly RowUnit[]
}

/**
 * Puts rows of many messages together. Nothing is encoded again: bytes are copied once, to where
 * `take` has room for so many.
 */
export function batchOf(
  units: readonly RowUnit[],
  take: (size_bytes: number) => Buffer = Buffer.allocUnsafe,
): RowBatch {
  const sizes = sizesOf(units)
  const rows = rowKinds
    .filter((kind) => sizes[kind].count > 0)
    .map((kind) => ({
      kind,
      count: sizes[kind].count,
      bytes: take(sizes[kind].bytes),
    }))
  for (const { kind, bytes } of rows) copyRows(units, kind, bytes)
  return { token: tokenOf(units), rows, heads: headsOf(units), units }
}

type Sizes = Record<RowKind, { count: number; bytes: number }>

function sizesOf(units: readonly RowUnit[]): Sizes {
  const sizes: Sizes = {
    observations: { count: 0, bytes: 0 },
    traces: { count: 0, bytes: 0 },
    events: { count: 0, bytes: 0 },
    links: { count: 0, bytes: 0 },
    correlations: { count: 0, bytes: 0 },
  }
  for (const { message, from, to } of units) {
    const { kinds, starts, ends } = message.rows
    for (let row = from; row < to; row++) {
      const kind = kinds[row]
      if (kind === undefined) continue
      sizes[kind].count += 1
      sizes[kind].bytes += (ends[row] ?? 0) - (starts[row] ?? 0)
    }
  }
  return sizes
}

function copyRows(units: readonly RowUnit[], kind: RowKind, target: Buffer): void {
  let at = 0
  for (const { message, from, to } of units) {
    const { bytes, kinds, starts, ends } = message.rows
    for (let row = from; row < to; row++) {
      if (kinds[row] === kind) at += bytes.copy(target, at, starts[row], ends[row])
    }
  }
}

function headsOf(units: readonly RowUnit[]): ObservationHead[] {
  const heads: ObservationHead[] = []
  for (const { message, from, to } of units) {
    for (let row = from; row < to; row++) {
      const head = message.rows.heads[row]
      if (head !== undefined) heads.push(head)
    }
  }
  return heads
}

function tokenOf(units: readonly RowUnit[]): string {
  const names = units.map(({ message, from, to }) => `${message.delivery.id} ${from} ${to}`)
  const hash = createHash('sha256')
  for (const name of names.toSorted()) hash.update(name).update('\n')
  return hash.digest('hex')
}

/** Smaller bodies are allocated as they come: to keep them would save nothing. */
const kept_bytes_min = 1024 * 1024
/** Sizes are rounded up to this, so that bodies of about the same size fit the same buffer. */
const step_bytes = 4 * 1024 * 1024

/**
 * Buffers for the bodies of inserts, used again: each is tens of megabytes, and the system takes
 * longer to find fresh memory for them than we take to fill it. Keeps `kept_max` of them.
 */
export class BodyBuffers {
  readonly #kept_max: number
  readonly #kept: ArrayBuffer[] = []

  constructor(kept_max: number) {
    this.#kept_max = kept_max
  }

  /** A body of that size; what is in it is left over from others. */
  take(size_bytes: number): Buffer {
    if (size_bytes < kept_bytes_min) return Buffer.allocUnsafe(size_bytes)
    const at = this.#kept.findIndex(({ byteLength }) => byteLength >= size_bytes)
    const [found] = this.#kept.splice(Math.max(0, at), 1)
    // One that is too small makes room for a larger one, or none would ever fit.
    const kept = at < 0 ? undefined : found
    const fresh = () => new ArrayBuffer(Math.ceil(size_bytes / step_bytes) * step_bytes)
    return Buffer.from(kept ?? fresh(), 0, size_bytes)
  }

  /** Takes a body back that nobody reads any more. One that is not given back is no loss. */
  give({ buffer }: Buffer): void {
    const isOurs = buffer instanceof ArrayBuffer && buffer.byteLength >= kept_bytes_min
    if (isOurs && this.#kept.length < this.#kept_max) this.#kept.push(buffer)
  }
}
