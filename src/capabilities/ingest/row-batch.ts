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
