import type { FieldName, MappingContract } from './contracts/contract-shape.ts'
import type { GatherReader, Reader } from './field-readers.ts'
import type { Gathered } from './gathered-messages.ts'
import { type FieldValue, noSource, type SpanState, type StateShape } from './span-state.ts'

/** A source of a field, ready to receive values. */
export type Target = {
  readonly field: number
  /** The index in the field's list, from 0. */
  readonly rank: number
  /** The word of the state, and the bit of it, that marks the source as present. */
  readonly hit_word: number
  /** 0 for a source whose presence is not recorded. */
  readonly hit_bit: number
  /** Index of the gate that must be open; -1 for none. */
  readonly gate: number
  /** A condition on the span; undefined for none. */
  readonly condition: Condition | undefined
  readonly read: Reader
}

/** Decides whether a source counts in a span, once the span's attributes are read. */
export type Condition = (state: SpanState) => boolean

/** A source that reads gathered attributes. */
export type GatherTarget = Omit<Target, 'read'> & {
  readonly read: GatherReader
}

export type CompiledField = { name: FieldName; sources: readonly CompiledSource[] }
/** `hit` is the number of the source among those whose presence is recorded; -1 when it is not. */
export type CompiledSource = { name: string; hit: number; is_default: boolean }

/** A contract, ready to be executed. */
export type CompiledContract = {
  contract: MappingContract
  shape: StateShape
  fields: readonly CompiledField[]
  field: Readonly<Record<FieldName, number>>
  constants: readonly { field: number; rank: number; value: string }[]
  requests: readonly { field: number; rank: number; key: string }[]
  attributes: ReadonlyMap<string, readonly Target[]>
  prefixes: readonly { prefix: string; target: Target }[]
  resource: ReadonlyMap<string, readonly Target[]>
  scope: readonly Target[]
  span: Readonly<Record<'name' | 'status' | 'status_message', readonly Target[]>>
  events: ReadonlyMap<string, readonly { key: string; target: Target }[]>
  derived: readonly { target: Target; present: readonly number[]; value: string }[]
  gathers: readonly CompiledGather[]
  /** For each gate, the scopes that open it. */
  gates: readonly ((scope: string) => boolean)[]
}

export type CompiledGather = {
  readonly kind: 'attributes' | 'indexed' | 'events'
  /** The keys for `attributes`, the key for `indexed`, the pattern of names for `events`. */
  readonly keys: readonly string[]
  readonly without: readonly string[]
  /** Returns true for the name of an event to gather. */
  readonly matches: (name: string) => boolean
  readonly targets: GatherTarget[]
}

/** Sets a field to a usable value, unless an earlier source has set it. */
export function offer(state: SpanState, target: Target, value: Parameters<Reader>[0]): void {
  if (isWanted(state, target)) take(state, target, target.read(value, state))
}

/** Does the same for gathered attributes. */
export function offerGathered(state: SpanState, target: GatherTarget, gathered: Gathered): void {
  if (isWanted(state, target)) take(state, target, target.read(gathered, state))
}

type AnyTarget = Omit<Target, 'read'>

function isWanted(state: SpanState, target: AnyTarget): boolean {
  const { gates, words } = state
  if (target.gate >= 0 && gates[target.gate] === 0) return false
  if (target.condition !== undefined && !target.condition(state)) return false
  if (target.hit_bit !== 0) {
    words[target.hit_word] = (words[target.hit_word] ?? 0) | target.hit_bit
  }
  return (words[target.field] ?? noSource) > target.rank
}

function take(state: SpanState, target: AnyTarget, value: FieldValue | undefined): void {
  if (value === undefined) return
  state.words[target.field] = target.rank
  state.values[target.field] = value
}
