import {
  columnTypesByKind,
  readObservation,
} from '../../src/capabilities/storage/row-format/index.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { RowKind } from '../../src/model/row-frame.ts'
import { ByteReader } from '../../src/platform/columnar/row-binary/index.ts'

/** Byte ranges of the rows of a kind, in bytes that hold many rows. */
export function rowBounds(kind: RowKind, bytes: Buffer): [start: number, end: number][] {
  const reader = new ByteReader()
  reader.moveTo(bytes, 0)
  const bounds: [number, number][] = []
  while (reader.at < bytes.length) {
    const start = reader.at
    for (const type of Object.values(columnTypesByKind[kind])) skip(reader, type)
    bounds.push([start, reader.at])
  }
  return bounds
}

/** Decodes these bytes to observations. */
export function observationsIn(bytes: Buffer): Observation[] {
  return rowBounds('observations', bytes).map(([start, end]) =>
    readObservation(bytes.subarray(start, end)),
  )
}

function skip(reader: ByteReader, type: string): void {
  const fixed = fixedSizes.get(type)
  const nullable = /^Nullable\((.*)\)$/.exec(type)?.[1]
  if (fixed !== undefined) pass(reader, fixed)
  else if (nullable !== undefined) {
    if (!reader.bool()) skip(reader, nullable)
  } else if (type.startsWith('Map(')) repeat(reader, 2)
  else if (type.startsWith('Array(Tuple(')) repeat(reader, type.split(',').length)
  else reader.skipStrings(1)
}

const fixedSizes = new Map([
  ['UUID', 16],
  ["DateTime64(9, 'UTC')", 8],
  ['UInt64', 8],
  ['UInt32', 4],
  ['Bool', 1],
  ['Float64', 8],
  ['Decimal(18, 9)', 8],
])

function pass(reader: ByteReader, size_bytes: number): void {
  for (let left = size_bytes; left > 0; left--) reader.bool()
}

function repeat(reader: ByteReader, texts: number): void {
  for (let left = reader.varint() * texts; left > 0; left--) reader.skipStrings(1)
}
