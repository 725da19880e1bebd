import type { ToolCall, ToolResult } from '../../../../model/observation.ts'
import type { OtlpEvent, OtlpValue } from '../contract.ts'
import { emptyGathered, type Gathered } from './gathered-messages.ts'

/** The value of a field. */
export type FieldValue = string | Uint8Array | number | readonly ToolCall[] | readonly ToolResult[]

/** A rank greater than that of any source. */
export const noSource = 0x7fff_ffff

/** Bits of a span's notes: fields that were set to a default or cut. */
export const notes = {
  start_time: 1,
  end_time: 2,
  input_cut: 4,
  output_cut: 8,
  usage_semantics: 16,
} as const

/**
 * State of the current span; one object serves all spans. `words` identifies the origin of every
 * field in one block of memory: for each field the rank of its source, a bit for each present
 * source, and the notes.
 */
export type SpanState = {
  readonly words: Int32Array
  readonly values: (FieldValue | undefined)[]
  readonly gathered: readonly Gathered[]
  /** The gates that the current scope opens. */
  readonly gates: Uint8Array
  start_time: bigint
  events: readonly OtlpEvent[]
  /** The names of the events, once a source needs them. */
  event_names: ReadonlySet<string> | undefined
  /** The last value that was parsed, and its JSON. */
  parsed: { value: OtlpValue; json: unknown } | undefined
}

export type StateShape = { fields: number; sources: number; gathers: number; gates: number }

export function createState(shape: StateShape): SpanState {
  const words = new Int32Array(shape.fields + Math.ceil(shape.sources / 32) + 1)
  words.fill(noSource, 0, shape.fields)
  return {
    words,
    values: new Array<FieldValue | undefined>(shape.fields).fill(undefined),
    gathered: Array.from({ length: shape.gathers }, emptyGathered),
    gates: new Uint8Array(shape.gates),
    start_time: 0n,
    events: [],
    event_names: undefined,
    parsed: undefined,
  }
}

/** Drops references to the request of the span; fields stay. */
export function forgetSpan(state: SpanState): void {
  state.events = []
  state.event_names = undefined
  state.parsed = undefined
}

/** Returns true when the span has an event of this name. The names are collected once. */
export function hasEvent(state: SpanState, name: string): boolean {
  state.event_names ??= new Set(state.events.map((event) => event.name))
  return state.event_names.has(name)
}

export function isPresent(state: SpanState, field: number): boolean {
  return state.words[field] !== noSource
}

export function noteIn(state: SpanState, note: number): void {
  const last = state.words.length - 1
  state.words[last] = (state.words[last] ?? 0) | note
}

/** Returns a text field; '' when unknown. */
export function textIn(state: SpanState, field: number): string {
  const value = state.values[field]
  return typeof value === 'string' ? value : ''
}

/** Returns a number field; undefined when unknown. */
export function numberIn(state: SpanState, field: number): number | undefined {
  const value = state.values[field]
  return typeof value === 'number' ? value : undefined
}

/** Returns a content field; '' when unknown. */
export function contentIn(state: SpanState, field: number): string | Uint8Array {
  const value = state.values[field]
  return typeof value === 'string' || value instanceof Uint8Array ? value : ''
}
