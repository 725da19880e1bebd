import type { ToolCall, ToolResult } from '../../../../model/observation.ts'
import type { OtlpEvent, OtlpValue } from '../contract.ts'
import { emptyGathered, type Gathered } from './gathered-messages.ts'

/** What a field can hold. */
export type FieldValue = string | Uint8Array | number | readonly ToolCall[] | readonly ToolResult[]

/** A rank no source has. */
export const noSource = 0x7fff_ffff

/** What was defaulted or cut, as bits of a span's notes. */
export const notes = {
  start_time: 1,
  end_time: 2,
  input_cut: 4,
  output_cut: 8,
  usage_semantics: 16,
} as const

/**
 * What is known of the span at hand; one is reused for all. `words` holds, as one piece of memory
 * that identifies where everything came from: for each field the rank of the source that gave it,
 * a bit for each source that was present, and the notes.
 */
export type SpanState = {
  readonly words: Int32Array
  readonly values: (FieldValue | undefined)[]
  readonly gathered: readonly Gathered[]
  /** Which gates the scope at hand opens. */
  readonly gates: Uint8Array
  start_time: bigint
  events: readonly OtlpEvent[]
  /** The names of the events, once a source asked for one. */
  event_names: ReadonlySet<string> | undefined
  /** The value that was looked into last, and the JSON in it. */
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

/** Lets go of what belongs to the request of the span; its fields stay. */
export function forgetSpan(state: SpanState): void {
  state.events = []
  state.event_names = undefined
  state.parsed = undefined
}

/** Returns whether the span has an event of this name; the names are collected once. */
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

/** A text field; '' when it is not known. */
export function textIn(state: SpanState, field: number): string {
  const value = state.values[field]
  return typeof value === 'string' ? value : ''
}

/** A number field; undefined when it is not known. */
export function numberIn(state: SpanState, field: number): number | undefined {
  const value = state.values[field]
  return typeof value === 'number' ? value : undefined
}

/** A content field; '' when it is not known. */
export function contentIn(state: SpanState, field: number): string | Uint8Array {
  const value = state.values[field]
  return typeof value === 'string' || value instanceof Uint8Array ? value : ''
}
