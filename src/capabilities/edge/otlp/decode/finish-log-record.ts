import type { OtlpLogRecord } from '../contract.ts'
import type { Tally } from './tally.ts'

/**
 * What is known once all fields are read: the event's name may stand in the attribute
 * `event.name` (before LogRecord.event_name), and a span id alone says nothing.
 */
export function finishLogRecord(record: OtlpLogRecord, tally: Tally): void {
  if (record.trace_id === '' && record.span_id !== '') {
    record.span_id = ''
    tally.warn('span_id_without_trace_id')
  }
  if (record.event_name !== '') return
  const value = record.attributes.values[record.attributes.keys.indexOf('event.name')]
  if (typeof value === 'string') record.event_name = value
}
