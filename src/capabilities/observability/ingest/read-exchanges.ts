import { derivedId, isUuid } from '../../../kernel/ids.ts'
import type { Exchange, ExchangeFacts } from '../../../model/exchange.ts'
import { decodeFrame } from '../../../model/exchange-frame.ts'
import type { CorrelationDraft } from '../../../model/ingest-records.ts'
import type { Observation } from '../../../model/observation.ts'
import { ByteWriter } from '../../../platform/columnar/row-binary/index.ts'
import { exchangeToObservation, factsFault, type MappingContext } from '../exchanges/index.ts'
import { rowWriters } from '../stores/row-format/index.ts'
import {
  addRow,
  type MessageReceipt,
  type ReadingContext,
  type ReadMessage,
} from './message-rows.ts'

/**
 * Reads a frame of raw exchanges into the message: each becomes an observation, and correlations
 * for the W3C headers that came with it. Each is a request of its own. Throws MalformedFrame.
 */
export function readExchanges(message: ReadMessage, context: ReadingContext): void {
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
    const row = rowOf(exchange, id, context)
    try {
      addObservation(message, { out, row, message_id, facts })
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

/** What the columns beside the content take, about. */
const row_bytes = 1_024

type ObservationToAdd = {
  out: ByteWriter
  row: Observation
  message_id: Buffer
  facts: ExchangeFacts
}

function addObservation(message: ReadMessage, { out, row, message_id, facts }: ObservationToAdd) {
  const correlations = correlationsOf(row)
  const start = out.at
  const ends: number[] = []
  try {
    const draft = { ...row, attributes: pairsOf(row.attributes), metadata: pairsOf(row.metadata) }
    rowWriters.observations(out, draft, message_id)
    ends.push(out.at)
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
    const kind = place === 0 ? 'observations' : 'correlations'
    addRow(message.rows, { kind, start: from, end, receipt }, place === 0 ? row : undefined)
    from = end
  }
}

function pairsOf(record: Readonly<Record<string, string>>): string[] {
  const pairs: string[] = []
  for (const key in record) pairs.push(key, record[key] ?? '')
  return pairs
}

const correlationTypes = [
  ['w3c.traceparent', 'w3c_traceparent'],
  ['w3c.tracestate', 'w3c_tracestate'],
  ['w3c.baggage', 'w3c_baggage'],
] as const

const value_chars_max = 2_048

function correlationsOf(row: Observation): CorrelationDraft[] {
  const { project_id, trace_id, observation_id, start_time, attributes } = row
  const correlations: CorrelationDraft[] = []
  for (const [key, correlation_type] of correlationTypes) {
    const correlation_value = attributes[key]?.slice(0, value_chars_max)
    if (correlation_value === undefined || correlation_value === '') continue
    correlations.push({
      project_id,
      trace_id,
      observation_id,
      correlation_type,
      correlation_value,
      time: start_time,
      source: 'proxy',
      metadata: [],
    })
  }
  return correlations
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

/** A proxy of an older version gives no id: one that is the same at each delivery stands in. */
function requestIdOf(facts: ExchangeFacts): string {
  const { project_id, ingest_request_id, trace_id, observation_id } = facts
  if (ingest_request_id !== undefined && isUuid(ingest_request_id)) return ingest_request_id
  return derivedId(project_id, `${trace_id} ${observation_id}`)
}

/** The receipt of an exchange that can't be stored, if its facts are good enough for one. */
function refusedReceipt(message: ReadMessage, facts: ExchangeFacts) {
  const isKnown =
    isUuid(facts?.project_id ?? '') &&
    message.delivery.subject.endsWith(`.${facts.project_id}`) &&
    isUuid(facts.ingest_request_id ?? '') &&
    /^\d{1,19}$/.test(facts.start_time)
  return isKnown ? { receipt: message.receipts.push(receiptOf(facts, 0)) - 1 } : {}
}

/** A body that makes the mapping fail costs the content, not the record of the call. */
function rowOf(exchange: Exchange, message_id: string, context: MappingContext): Observation {
  try {
    return exchangeToObservation(exchange, message_id, context)
  } catch (error) {
    const facts = { ...exchange.facts, content_state: 'dropped' as const }
    const bare = { facts, request: nothing, response: nothing }
    const row = exchangeToObservation(bare, message_id, context)
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return { ...row, attributes: { ...row.attributes, 'mapping.error': reason.slice(0, 512) } }
  }
}

const nothing = new Uint8Array(0)
