import {
  columnTypesByKind,
  type DraftOf,
  rowFormat,
  rowWriters,
} from '../../src/capabilities/storage/row-format/index.ts'
import type { IngestPath } from '../../src/model/ingest-records.ts'
import type { Observation } from '../../src/model/observation.ts'
import {
  type FrameReceipt,
  type RowKind,
  rowFrameHeader,
  rowHeaderBytes,
  rowKinds,
} from '../../src/model/row-frame.ts'
import { ByteWriter, compileRowBinary } from '../../src/platform/columnar/row-binary/index.ts'
import { observationOf } from './observations.ts'

/** A row of a frame: its kind and its writer. */
export type FrameRow = { kind: RowKind; write: (out: ByteWriter, message_id: Buffer) => void }

/** Contents of a frame with one request. */
export type FrameRequest = {
  ingest_request_id: string
  rows: readonly FrameRow[]
  path?: IngestPath
  /** The number of observations by default. */
  items?: number
  rejected?: Record<string, number>
}

/** An observation in a frame. */
export function observationRow(given: Partial<Observation> & { project_id: string }): FrameRow {
  const { attributes, ...row } = observationOf(given)
  const draft = { ...row, attributes: Object.entries(attributes).flat(), metadata: [] }
  return { kind: 'observations', write: (out, id) => rowWriters.observations(out, draft, id) }
}

const columns = Object.entries(columnTypesByKind.observations)
const placeOf = (column: string) => columns.findIndex(([name]) => name === column)

/** Encodes observations in format 1, to which format 2 added a range of columns. */
export const encodeFirstFormat = compileRowBinary<object>(
  columns
    .toSpliced(
      placeOf('price_partial'),
      placeOf('cost_reported_usd') + 1 - placeOf('price_partial'),
    )
    .map(([name, type]) => ({ name, type })),
)

/** An observation in a frame of format 1. */
export function firstFormatRow(given: Partial<Observation> & { project_id: string }): FrameRow {
  return {
    kind: 'observations',
    write: (out, id) => {
      const message_id = Buffer.from(id).toString()
      const bytes = encodeFirstFormat([{ ...observationOf(given), message_id }])
      for (const byte of bytes) out.u8(byte)
    },
  }
}

/** The record of a trace, in a frame. */
export function traceRow(draft: DraftOf<'traces'>): FrameRow {
  return { kind: 'traces', write: (out, id) => rowWriters.traces(out, draft, id) }
}

/** An event in a frame. */
export function eventRow(draft: DraftOf<'events'>): FrameRow {
  return { kind: 'events', write: (out, id) => rowWriters.events(out, draft, id) }
}

/** A message as an edge builds it from encoded rows. */
export function rowFrame(about: {
  project_id: string
  message_id: string
  requests: readonly FrameRequest[]
  row_format?: number
}): Buffer {
  const { project_id, row_format = rowFormat } = about
  const out = new ByteWriter(Buffer.alloc(1024))
  for (const { rows } of about.requests) {
    for (const { kind, write } of rows) {
      out.u8(rowKinds.indexOf(kind) + 1)
      const length = out.skip(rowHeaderBytes - 1)
      write(out, Buffer.from(about.message_id))
      out.putU32(length, out.at - length - 4)
    }
  }
  const rows = out.written()
  const receipts = about.requests.map(receiptOf)
  return Buffer.concat([
    rowFrameHeader({ compressed: false, row_format, rows_bytes: rows.length }),
    rows,
    Buffer.from(JSON.stringify({ project_id, receipts })),
  ])
}

function receiptOf({ rows, ...request }: FrameRequest): FrameReceipt {
  const count = (kind: RowKind) => rows.filter((row) => row.kind === kind).length
  const records = {
    traces: count('traces'),
    observations: count('observations'),
    events: count('events'),
    links: count('links'),
    correlations: count('correlations'),
  }
  return {
    path: 'otlp',
    received_at_ms: received_ms,
    items: records.observations,
    rejected: {},
    ...request,
    rows: rows.length,
    records,
    masked: 0,
  }
}

const received_ms = Date.UTC(2026, 5, 1, 12)
