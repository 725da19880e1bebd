import { derivedId, isUuid } from '../../kernel/ids.ts'
import type { ExchangeFacts } from '../../model/exchange.ts'
import { decodeFrame, MalformedFrame } from '../../model/exchange-frame.ts'
import type { IngestRecords, ObservationDraft } from '../../model/ingest-records.ts'
import {
  decodeRowFrame,
  type FrameReceipt,
  isRowFrame,
  type RowFrame,
  type RowKind,
} from '../../model/row-frame.ts'
import { ByteWriter } from '../../platform/columnar/row-binary/index.ts'
import type { Delivery } from '../../platform/queue/index.ts'
import { linksFrom } from '../records/call-task/index.ts'
import { exchangeToRecords, factsFault, type MappingContext } from '../records/exchanges/index.ts'
import {
  readObservation,
  readObservationHead,
  rowFormat,
  rowWriters,
  upgradeFrame,
} from '../storage/row-format/index.ts'
import type { LinkedHead } from './traces/recent-links.ts'

/** Reads a queue message. Never throws; an invalid frame becomes a fault. */
export function readMessage(delivery: Delivery, context: ReadingContext): ReadMessage {
  const message: ReadMessage = { delivery, receipts: [], rows: emptyRows(), faults: [] }
  try {
    if (isRowFrame(delivery.data)) readRows(message, context.frame_bytes_max)
    else readExchanges(message, context)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const faults: MessageFault[] = message.receipts.map((_, receipt) => ({ reason, receipt }))
    return { ...message, rows: emptyRows(), faults: faults.length > 0 ? faults : [{ reason }] }
  }
  return message
}

/**
 * Reads a frame of encoded rows into the message. Rows stay encoded; of observations only the
 * fields for roll-ups are read. Throws MalformedFrame, and TypeError for an invalid project id.
 */
function readRows(message: ReadMessage, frame_bytes_max: number): void {
  const { subject, data } = message.delivery
  const frame = decodeRowFrame(data, frame_bytes_max)
  const { project_id, row_format } = frame
  const upgraded = upgradeFrame(frame)
  message.receipts = frame.receipts.map((receipt) => ({ ...receipt, project_id }))
  if (upgraded === undefined) {
    throw new MalformedFrame(`row format ${row_format}, expected ${rowFormat}`)
  }
  if (!subject.endsWith(`.${project_id}`)) {
    throw new MalformedFrame(`rows of project ${project_id} on subject ${subject}`)
  }
  addRows(message, { ...frame, ...upgraded })
}

/**
 * Adds the rows of a frame. A row of another project is a fault, because the subject of a message
 * is what separates projects.
 */
function addRows(message: ReadMessage, frame: RowFrame): void {
  const { rows } = message
  const { bytes } = frame
  const project = uuidBytes(frame.project_id)
  rows.bytes = bytes
  let place = -1
  frame.eachRow((kind, start, end, receipt) => {
    place += 1
    let head: LinkedHead | undefined
    try {
      assertProject(bytes, start, project)
      if (kind === 'observations') head = readLinkedHead(bytes, start, end)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      message.faults.push({ reason: `row ${place}: ${reason}`, receipt, kind })
      return
    }
    addRow(rows, { kind, start, end, receipt }, head)
  })
}

/** Reads the head of a row. Only records of the proxy have links, which are in their attributes. */
function readLinkedHead(bytes: Buffer, start: number, end: number): LinkedHead {
  const head = readObservationHead(bytes, start)
  if (head.source !== 'proxy') return head
  const links = linksFrom(readObservation(bytes.subarray(start, end)).attributes)
  return links === undefined ? head : { ...head, links }
}

/** Throws unless the row belongs to the project. `project_id` is the first column of every kind. */
function assertProject(bytes: Buffer, start: number, project: Buffer): void {
  if (bytes.compare(project, 0, uuid_bytes, start, start + uuid_bytes) !== 0) {
    throw new MalformedFrame('expected a row of the project of its frame')
  }
}

const uuid_bytes = 16

function uuidBytes(uuid: string): Buffer {
  const writer = new ByteWriter(Buffer.alloc(uuid_bytes))
  writer.uuid(uuid)
  return writer.written()
}

/**
 * Reads a frame of raw exchanges into the message. Each is a request of its own and becomes an
 * observation, with correlations for its W3C headers. Throws MalformedFrame.
 */
function readExchanges(message: ReadMessage, context: ReadingContext): void {
  const { data, id } = message.delivery
  const exchanges = decodeFrame(data, context.frame_bytes_max)
  const out = new ByteWriter(Buffer.allocUnsafe(data.length + exchanges.length * row_bytes))
  const message_id = Buffer.from(id)
  for (const [place, exchange] of exchanges.entries()) {
    const { facts } = exchange
    const fault = factsFault(facts)
    if (fault !== undefined) {
      message.faults.push({
        reason: `exchange ${place}: ${fault}`,
        ...refusedReceipt(message, facts),
      })
      continue
    }
    const records = exchangeToRecords(exchange, context)
    try {
      addRecords(message, { out, records, message_id, facts })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      message.faults.push({
        reason: `exchange ${place}: ${reason}`,
        ...refusedReceipt(message, facts),
      })
    }
  }
  message.rows.bytes = out.written()
}

/** Estimated bytes of the columns beside the content. */
const row_bytes = 1_024

type RecordsToAdd = {
  out: ByteWriter
  records: IngestRecords
  message_id: Buffer
  facts: ExchangeFacts
}

function addRecords(message: ReadMessage, { out, records, message_id, facts }: RecordsToAdd) {
  const { observations, correlations } = records
  const start = out.at
  const ends: number[] = []
  try {
    for (const observation of observations) {
      rowWriters.observations(out, observation, message_id)
      ends.push(out.at)
    }
    for (const correlation of correlations) {
      rowWriters.correlations(out, correlation, message_id)
      ends.push(out.at)
    }
  } catch (error) {
    out.rewind(start)
    throw error
  }
  const receipt = message.receipts.push(receiptOf(facts, correlations.length)) - 1
  let from = start
  for (const [place, end] of ends.entries()) {
    const head = linkedHead(observations[place])
    const kind = head === undefined ? 'correlations' : 'observations'
    addRow(message.rows, { kind, start: from, end, receipt }, head)
    from = end
  }
}

function linkedHead(draft: ObservationDraft | undefined): LinkedHead | undefined {
  const links = draft && linksFrom(recordOf(draft.attributes))
  return draft && links !== undefined ? { ...draft, links } : draft
}

/** Returns the pairs of a draft as a record. */
function recordOf(pairs: ObservationDraft['attributes']): Record<string, string> {
  const record: Record<string, string> = {}
  for (let at = 0; at < pairs.length; at += 2) {
    const [key, value] = [pairs[at], pairs[at + 1]]
    if (typeof key === 'string' && typeof value === 'string') record[key] = value
  }
  return record
}

function receiptOf(facts: ExchangeFacts, correlations: number): MessageReceipt {
  return {
    project_id: facts.project_id,
    ingest_request_id: requestIdOf(facts),
    path: 'proxy',
    received_at_ms: Number(BigInt(facts.start_time) / nsPerMs),
    items: 1,
    rows: 1 + correlations,
    records: { traces: 0, observations: 1, events: 0, links: 0, correlations },
    masked: 0,
    rejected: {},
  }
}

const nsPerMs = 1_000_000n

/**
 * Returns the id of the request. For an older proxy, which sends none, it derives an id that is the
 * same at each delivery.
 */
function requestIdOf(facts: ExchangeFacts): string {
  const { project_id, ingest_request_id, trace_id, observation_id } = facts
  if (ingest_request_id !== undefined && isUuid(ingest_request_id)) return ingest_request_id
  return derivedId(project_id, `${trace_id} ${observation_id}`)
}

/** Adds a receipt for an exchange that cannot be stored, if its facts allow one. */
function refusedReceipt(message: ReadMessage, facts: ExchangeFacts) {
  const isKnown =
    isUuid(facts?.project_id ?? '') &&
    message.delivery.subject.endsWith(`.${facts.project_id}`) &&
    isUuid(facts.ingest_request_id ?? '') &&
    /^\d{1,19}$/.test(facts.start_time)
  return isKnown ? { receipt: message.receipts.push(receiptOf(facts, 0)) - 1 } : {}
}

/**
 * The rows of one message in order, as they are inserted. Parallel lists replace a list of objects,
 * because there are tens of thousands of rows a second.
 */
type EncodedRows = {
  /** The encoded rows. */
  bytes: Buffer
  kinds: RowKind[]
  /** Offsets into `bytes`. */
  starts: number[]
  ends: number[]
  /** Index of each row's receipt in the message. */
  receipts: number[]
  /** Fields of observations that roll-ups need; undefined for rows that do not count. */
  heads: (LinkedHead | undefined)[]
}

/** The part of a message that belongs to one request of one project. */
export type MessageReceipt = FrameReceipt & { project_id: string }

/**
 * A queue message as rows. `faults` lists the parts that could not become rows, for the dead
 * letter.
 */
export type ReadMessage = {
  delivery: Delivery
  receipts: MessageReceipt[]
  rows: EncodedRows
  faults: MessageFault[]
}

/**
 * Why a part of the message cannot be stored, and the receipt that counts it, if there is one. The
 * part is one row of `kind`, or without a kind the whole receipt.
 */
type MessageFault = { reason: string; receipt?: number; kind?: RowKind }

/** Settings and services for reading messages. */
export type ReadingContext = MappingContext & { frame_bytes_max: number }

/** Returns an empty list of rows. */
function emptyRows(): EncodedRows {
  return { bytes: nothing, kinds: [], starts: [], ends: [], receipts: [], heads: [] }
}

const nothing = Buffer.alloc(0)

/** Adds the row from `start` to before `end`. */
function addRow(
  rows: EncodedRows,
  row: { kind: RowKind; start: number; end: number; receipt: number },
  head: LinkedHead | undefined,
): void {
  rows.kinds.push(row.kind)
  rows.starts.push(row.start)
  rows.ends.push(row.end)
  rows.receipts.push(row.receipt)
  rows.heads.push(head)
}
