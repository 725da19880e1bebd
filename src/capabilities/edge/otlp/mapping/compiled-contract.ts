import type { AnyMappingContract, FieldName } from './contracts/contract-shape.ts'
import type { GatherReader, Reader } from './field-readers.ts'
import type { Gathered } from './gathered-messages.ts'
import { type FieldValue, noSource, type SpanState, type StateShape } from './span-state.ts'

/** A source of a field, ready to be offered values. */
export type Target = {
  readonly field: number
  /** The place in the field's list, from 0. */
  readonly rank: number
  /** Which word of the state, and which bit of it, says that the source was present. */
  readonly hit_word: number
  /** 0 for sources whose presence is not worth telling. */
  readonly hit_bit: number
  /** The gate that has to be open, -1 for none. */
  readonly gate: number
  /** A condition on the span; undefined for none. */
  readonly condition: Condition | undefined
  readonly read: Reader
}

/** Decides, once the attributes of a span are read, whether a source counts in it. */
export type Condition = (state: SpanState) => boolean

/** A source that reads gathered attributes. */
export type GatherTarget = Omit<Target, 'read'> & {
  readonly read: GatherReader
}

export type CompiledField = { name: FieldName; sources: readonly CompiledSource[] }
/** `hit` is the source's number, which says where its presence stands; -1 when that is not told. */
export type CompiledSource = { name: string; hit: number; is_default: boolean }

/** A contract, ready to be executed. */
export type CompiledContract = {
  contract: AnyMappingContract
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
  /** For each gate, which scopes open it. */
  gates: readonly ((scope: string) => boolean)[]
}

export type CompiledGather = {
  readonly kind: 'attributes' | 'indexed' | 'events'
  /** The keys for `attributes`, the key for `indexed`, the pattern of names for `events`. */
  readonly keys: readonly string[]
  readonly without: readonly string[]
  /** Whether an event of this name is one of the gathered. */
  readonly matches: (name: string) => boolean
  readonly targets: GatherTarget[]
}

/** Takes a value when its source ranks before what the field has, and is usable. */
export function offer(state: SpanState, target: Target, value: Parameters<Reader>[0]): void {
  if (isWanted(state, target)) take(state, target, target.read(value, state))
}

/** The same for gathered attributes. */
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
