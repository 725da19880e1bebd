import type { Observation } from '../../src/model/observation.ts'
import type { PlainAttribute, PlainEvent, PlainSpan, PlainValue } from './otlp-messages.ts'

/** A span in the format of a convention, and the fields of its row. */
export type ConventionSpan = {
  convention: string
  scope?: string
  span: string
  attributes: Record<string, Json>
  events?: [name: string, attributes: Record<string, Json>, after_ms?: number][]
  status?: PlainSpan['status']
  row: Partial<Observation>
}
type Json = string | number | boolean | readonly string[]

/** The fields of a one-second span, in OTLP/JSON. */
export function plainSpanOf({ span, attributes, events = [], status }: ConventionSpan): PlainSpan {
  const start = 1_790_000_000_000
  return {
    traceId: '0198c0de00007000800000000000000a',
    spanId: '00f067aa0ba902b7',
    name: span,
    kind: 3,
    startTimeUnixNano: `${start}000000`,
    endTimeUnixNano: `${start + 1_000}000000`,
    attributes: plainAttributes(attributes),
    events: events.map(
      ([name, about, after_ms = 0]): PlainEvent => ({
        name,
        timeUnixNano: `${start + after_ms}000000`,
        attributes: plainAttributes(about),
      }),
    ),
    ...(status && { status }),
  }
}

/** Attributes in OTLP/JSON. */
export function plainAttributes(given: Record<string, Json>): PlainAttribute[] {
  return Object.entries(given).map(([key, value]) => ({ key, value: plainValue(value) }))
}

function plainValue(value: Json): PlainValue {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value !== 'number') return { arrayValue: { values: value.map(plainValue) } }
  return Number.isInteger(value) ? { intValue: `${value}` } : { doubleValue: value }
}
