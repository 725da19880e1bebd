import type { OtlpLogRecord } from '../../contract.ts'
import { emptyLogRecord } from '../empty-items.ts'
import { droppedCount, severityNumber } from '../enums.ts'
import { finishLogRecord } from '../finish-log-record.ts'
import { readAnyValueField, readAttribute } from './any-value.ts'
import { missingId, readSpanId, readTraceId } from './read-ids.ts'
import { readText } from './read-text.ts'
import type { WireReader } from './wire-reader.ts'

const logRecordFields = 0b1_1111_1110_1110

/** Reads the fields of a LogRecord. Invalid ids are dropped with a warning: it stands alone then. */
export function readLogRecord(wire: WireReader): OtlpLogRecord {
  const record = emptyLogRecord()
  let cut = 0
  while (wire.position < wire.end) {
    const tag = wire.tag('LogRecord')
    switch (tag) {
      case 9:
        record.time = wire.fixed64('LogRecord.time_unix_nano')
        break
      case 42:
        record.body = readAnyValueField(wire, 'LogRecord.body', record.body)
        break
      case 50:
        cut += readAttribute(wire, 'LogRecord.attributes', record.attributes)
        break
      case 74:
        record.trace_id = readTraceId(wire, 'LogRecord.trace_id')
        warnOfId(wire, record.trace_id, 'invalid_trace_id')
        break
      case 82:
        record.span_id = readSpanId(wire, 'LogRecord.span_id')
        warnOfId(wire, record.span_id, 'invalid_span_id')
        break
      default:
        readMore(wire, tag, record)
    }
  }
  record.dropped_attributes_count = droppedCount(record.dropped_attributes_count, cut)
  finishLogRecord(record, wire.tally)
  return record
}

function readMore(wire: WireReader, tag: number, record: OtlpLogRecord): void {
  switch (tag) {
    case 16:
      record.severity_number = severityNumber(wire.varint('LogRecord.severity_number'), wire.tally)
      break
    case 26:
      record.severity_text = readText(wire, 'LogRecord.severity_text')
      break
    case 56:
      record.dropped_attributes_count = wire.varint('LogRecord.dropped_attributes_count')
      break
    case 69:
      record.flags = wire.fixed32('LogRecord.flags')
      break
    case 89:
      record.observed_time = wire.fixed64('LogRecord.observed_time_unix_nano')
      break
    case 98:
      record.event_name = readText(wire, 'LogRecord.event_name')
      break
    default:
      wire.skip(tag, 'LogRecord', logRecordFields)
  }
}

function warnOfId(wire: WireReader, id: string, warning: string): void {
  if (id === '' && wire.idFault !== missingId) wire.tally.warn(warning)
}
