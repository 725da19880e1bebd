import type { OtlpLogRecord } from '../../contract.ts'
import { emptyLogRecord } from '../empty-items.ts'
import { droppedCount } from '../enums.ts'
import { finishLogRecord } from '../finish-log-record.ts'
import type { Tally } from '../tally.ts'
import { severityNumberOf } from './json-enums.ts'
import type { JsonIds } from './json-ids.ts'
import { textOf, timeOf, uint32Of } from './json-scalars.ts'
import { readAnyValue, readAttributes } from './json-values.ts'

type JsonLogRecord = {
  traceId?: unknown
  trace_id?: unknown
  spanId?: unknown
  span_id?: unknown
  timeUnixNano?: unknown
  time_unix_nano?: unknown
  observedTimeUnixNano?: unknown
  observed_time_unix_nano?: unknown
  eventName?: unknown
  event_name?: unknown
  severityNumber?: unknown
  severity_number?: unknown
  severityText?: unknown
  severity_text?: unknown
  body?: unknown
  attributes?: unknown
  droppedAttributesCount?: unknown
  dropped_attributes_count?: unknown
  flags?: unknown
}

/** Reads a log record; undefined when it is no object or its times are none: it is rejected then. */
export function readJsonLogRecord(
  raw: unknown,
  ids: JsonIds,
  tally: Tally,
): OtlpLogRecord | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    tally.reject('invalid_item', 'the log record is no object')
    return undefined
  }
  const json = raw as JsonLogRecord
  const record = emptyLogRecord()
  if (!readTimes(json, record, tally)) return undefined
  readIds(json, record, ids, tally)
  record.event_name = textOf(json.eventName ?? json.event_name, tally)
  record.severity_number = severityNumberOf(json.severityNumber ?? json.severity_number, tally)
  record.severity_text = textOf(json.severityText ?? json.severity_text, tally)
  record.body = readAnyValue(json.body, 0, tally)
  record.flags = uint32Of(json.flags, tally)
  const cut = readAttributes(json.attributes, record.attributes, tally)
  const dropped = json.droppedAttributesCount ?? json.dropped_attributes_count
  record.dropped_attributes_count = droppedCount(uint32Of(dropped, tally), cut)
  finishLogRecord(record, tally)
  return record
}

function readTimes(json: JsonLogRecord, record: OtlpLogRecord, tally: Tally): boolean {
  const time = timeOf(json.timeUnixNano ?? json.time_unix_nano, tally)
  const observed = timeOf(json.observedTimeUnixNano ?? json.observed_time_unix_nano, tally)
  if (time === undefined || observed === undefined) {
    const field = time === undefined ? 'time_unix_nano' : 'observed_time_unix_nano'
    tally.reject('invalid_time', `${field} is no whole number of nanoseconds`)
    return false
  }
  record.time = time
  record.observed_time = observed
  return true
}

/** Invalid ids are dropped with a warning: the record stands alone then. */
function readIds(json: JsonLogRecord, record: OtlpLogRecord, ids: JsonIds, tally: Tally): void {
  const traceId = json.traceId ?? json.trace_id ?? ''
  record.trace_id = ids.traceId(traceId, tally)
  if (record.trace_id === '' && traceId !== '') tally.warn('invalid_trace_id')
  const spanId = json.spanId ?? json.span_id ?? ''
  record.span_id = ids.spanId(spanId, tally)
  if (record.span_id === '' && spanId !== '') tally.warn('invalid_span_id')
}
