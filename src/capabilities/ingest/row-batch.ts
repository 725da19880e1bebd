import { createHash } from 'node:crypto'
import { type RowKind, rowKinds } from '../../model/row-frame.ts'
import type { ReadMessage } from './read-messages.ts'
import type { LinkedHead } from './traces/recent-links.ts'

/** Consecutive rows of a message that are written together, from `from` to before `to`. */
export type RowUnit = { message: ReadMessage; from: number; to: number }

/** Rows of many messages that are written together. */
export type RowBatch = {
  /** Identifies the rows, in any order of their messages; a part of them has another token. */
  token: string
  /** The rows of each kind, concatenated for the insert. */
  rows: { kind: RowKind; bytes: Buffer; count: number }[]
  /** The heads of the observations. */
  heads: LinkedHead[]
  /** The rows' origins. */
  units: readonly RowUnit[]
}

/**
 * Concatenates the rows of many messages without encoding them again. The bytes are copied once,
 * into buffers from `take`.
 */
export function createRowBatch(
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

function headsOf(units: readonly RowUnit[]): LinkedHead[] {
  const heads: LinkedHead[] = []
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

/** Smaller bodies are allocated each time, since keeping them saves nothing. */
const kept_bytes_min = 1024 * 1024
/** Sizes are rounded up to a multiple of this, so that similar bodies fit the same buffer. */
const step_bytes = 4 * 1024 * 1024

/**
 * Reuses buffers for the bodies of inserts. Each is tens of megabytes, and the system needs longer
 * to provide fresh memory than the copy takes. Keeps up to `kept_max` buffers.
 */
export class BodyBuffers {
  readonly #kept_max: number
  readonly #kept: ArrayBuffer[] = []

  constructor(kept_max: number) {
    this.#kept_max = kept_max
  }

  /** Returns a buffer of that size with arbitrary content. */
  take(size_bytes: number): Buffer {
    if (size_bytes < kept_bytes_min) return Buffer.allocUnsafe(size_bytes)
    const at = this.#kept.findIndex(({ byteLength }) => byteLength >= size_bytes)
    const [found] = this.#kept.splice(Math.max(0, at), 1)
    // A buffer that is too small is dropped, to make room for a larger one.
    const kept = at < 0 ? undefined : found
    const fresh = () => new ArrayBuffer(Math.ceil(size_bytes / step_bytes) * step_bytes)
    return Buffer.from(kept ?? fresh(), 0, size_bytes)
  }

  /** Takes back a buffer that is no longer read. A buffer that is never returned does no harm. */
  give({ buffer }: Buffer): void {
    const isOurs = buffer instanceof ArrayBuffer && buffer.byteLength >= kept_bytes_min
    if (isOurs && this.#kept.length < this.#kept_max) this.#kept.push(buffer)
  }
}
