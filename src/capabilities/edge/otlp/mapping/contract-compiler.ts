import type {
  CompiledContract,
  CompiledField,
  CompiledGather,
  CompiledSource,
  Condition,
  Target,
} from './compiled-contract.ts'
import type { FieldName, FieldRule, MappingContract, Source } from './contracts/contract-shape.ts'
import { sourceName } from './contracts/sources.ts'
import { compileGatherReader, compileReader, type ReaderContext } from './field-readers.ts'
import { hasEvent, textIn } from './span-state.ts'
import { compileTable, globPattern } from './transforms.ts'

type Draft = {
  constants: { field: number; rank: number; value: string }[]
  requests: { field: number; rank: number; key: string }[]
  attributes: Map<string, Target[]>
  prefixes: { prefix: string; target: Target }[]
  resource: Map<string, Target[]>
  scope: Target[]
  span: Record<'name' | 'status' | 'status_message', Target[]>
  events: Map<string, { key: string; target: Target }[]>
  derived: { target: Target; present: readonly number[]; value: string }[]
  gathers: CompiledGather[]
  gates: Map<string, (scope: string) => boolean>
}

/** Compiles a contract. The mapping depends on nothing else. */
export function compileContract(contract: MappingContract): CompiledContract {
  const { trace_level, span_level } = contract
  const all = { ...trace_level.fields, ...span_level.fields }
  const rules = Object.entries(all) as [FieldName, FieldRule][]
  const numbers = Object.fromEntries(rules.map(([name], at) => [name, at]))
  const field = numbers as Record<FieldName, number>
  const tables = new Map(
    Object.entries(contract.tables).map(([name, table]) => [name, compileTable(table)]),
  )
  const draft: Draft = {
    constants: [],
    requests: [],
    attributes: new Map(),
    prefixes: [],
    resource: new Map(),
    scope: [],
    span: { name: [], status: [], status_message: [] },
    events: new Map(),
    derived: [],
    gathers: [],
    gates: new Map(),
  }
  let hits = 0
  const fields = rules.map(([name, rule]): CompiledField => {
    const sources = rule.sources.map((source, rank): CompiledSource => {
      const hit = isPresenceRecorded(source, rule) ? hits++ : -1
      const input = { source, rule, rank, hit, first_hit_word: rules.length, field }
      addSource(draft, { ...input, number: field[name], context: { contract, tables } })
      const is_default = source.from === 'constant' || source.from === 'request'
      return { name: sourceName(source), hit, is_default }
    })
    return { name, sources }
  })
  const { gates, ...rest } = draft
  const shape = {
    fields: rules.length,
    sources: hits,
    gathers: draft.gathers.length,
    gates: gates.size,
  }
  return { contract, shape, fields, field, ...rest, gates: [...gates.values()] }
}

/**
 * Returns true when it is worth recording that the source was present but did not give the field.
 */
function isPresenceRecorded(source: Source, rule: FieldRule): boolean {
  if (rule.reads === 'tool_calls' || rule.reads === 'tool_results') return false
  if (source.gives !== undefined || source.only || source.path || source.silent) return false
  return !['constant', 'request', 'fields', 'span', 'scope', 'prefix'].includes(source.from)
}

type SourceInput = {
  source: Source
  rule: FieldRule
  rank: number
  hit: number
  first_hit_word: number
  /** The number of the source's field. */
  number: number
  field: Readonly<Record<FieldName, number>>
  context: ReaderContext
}

function addSource(draft: Draft, input: SourceInput): void {
  const { source, rank, number } = input
  const target = targetOf(draft, input)
  switch (source.from) {
    case 'constant':
      draft.constants.push({ field: number, rank, value: source.gives ?? '' })
      return
    case 'request':
      draft.requests.push({ field: number, rank, key: source.key })
      return
    case 'attribute':
      listAt(draft.attributes, source.key).push(target)
      return
    case 'prefix':
      draft.prefixes.push({ prefix: source.key, target })
      return
    case 'resource':
      listAt(draft.resource, source.key).push(target)
      return
    case 'scope':
      draft.scope.push(target)
      return
    case 'span':
      draft.span[source.key].push(target)
      return
    case 'event':
      listAt(draft.events, source.event).push({ key: source.key, target })
      return
    case 'fields':
      draft.derived.push({
        target,
        present: source.present.map((name) => input.field[name]),
        value: source.gives ?? '',
      })
      return
    default:
      addGather(draft, { input, source, target })
  }
}

function targetOf(draft: Draft, { source, rule, rank, hit, ...input }: SourceInput): Target {
  return {
    field: input.number,
    rank,
    hit_word: input.first_hit_word + (hit === -1 ? 0 : hit >> 5),
    hit_bit: hit === -1 ? 0 : 1 << (hit & 31),
    gate: gateOf(draft, source),
    condition: conditionOf(source, input.field),
    read: compileReader(source, rule, input.context),
  }
}

function gateOf(draft: Draft, { in_scopes, except_scopes }: Source): number {
  const scopes = in_scopes ?? except_scopes
  if (scopes === undefined) return -1
  const isIn = in_scopes !== undefined
  const key = JSON.stringify([isIn, scopes])
  if (!draft.gates.has(key)) {
    const patterns = scopes.map(globPattern)
    draft.gates.set(key, (scope) => patterns.some((one) => one.test(scope.toLowerCase())) === isIn)
  }
  return [...draft.gates.keys()].indexOf(key)
}

const readLate = new Set<Source['from']>(['attributes', 'indexed', 'span', 'event', 'events'])

/**
 * Compiles the condition of a source on the span. Throws for a source that is read before the
 * condition is known.
 */
function conditionOf(source: Source, field: SourceInput['field']): Condition | undefined {
  const { of_types, except_types, with_event } = source
  const types = of_types ?? except_types
  if (types === undefined && with_event === undefined) return undefined
  if (!readLate.has(source.from)) {
    throw new Error(
      `${sourceName(source)}: the type of the span is not known yet when "${source.from}" is read`,
    )
  }
  const isOf = of_types !== undefined
  return (state) => {
    if (types !== undefined && types.includes(textIn(state, field.type)) !== isOf) return false
    return with_event === undefined || hasEvent(state, with_event)
  }
}

function addGather(
  draft: Draft,
  gathered: {
    input: SourceInput
    source: Extract<Source, { from: 'attributes' | 'indexed' | 'events' }>
    target: Target
  },
): void {
  const { source, input } = gathered
  const { read: _read, ...target } = gathered.target
  const keys =
    source.from === 'attributes'
      ? source.keys
      : [source.from === 'events' ? source.event : source.key]
  let gather = draft.gathers.find(
    (one) => one.kind === source.from && one.keys.join() === keys.join(),
  )
  if (gather === undefined) {
    const without = source.from === 'indexed' ? (source.without ?? []) : []
    const pattern = globPattern(keys[0] ?? '')
    const matches = (name: string) => pattern.test(name.toLowerCase())
    gather = { kind: source.from, keys, without, matches, targets: [] }
    draft.gathers.push(gather)
  }
  gather.targets.push({ ...target, read: compileGatherReader(source, input.rule, input.context) })
}

function listAt<Item>(map: Map<string, Item[]>, key: string): Item[] {
  const known = map.get(key)
  if (known) return known
  const made: Item[] = []
  map.set(key, made)
  return made
}
