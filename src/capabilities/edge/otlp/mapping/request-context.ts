import type { IngestRecords, Text } from '../../../../model/ingest-records.ts'
import type { OtlpGroup } from '../contract.ts'
import type { CompiledContract } from './compiled-contract.ts'
import { offer } from './compiled-contract.ts'
import type { KeyPlans } from './key-plans.ts'
import type { MappedFrom } from './mapped-from.ts'
import type { MappedRequest, MapperOptions } from './mapper-contract.ts'
import { addAttribute, type RowAttributes } from './row-attributes.ts'
import type { FieldValue, SpanState } from './span-state.ts'

/** What a mapper keeps between requests: nothing of any request, only what spares work. */
export type MapperTools = {
  compiled: CompiledContract
  plans: KeyPlans
  mappedFrom: MappedFrom
  options: MapperOptions & { content_bytes_max: number }
  state: SpanState
  conversationOf(projectId: string, value: string): Conversation
  isGenAiEvent(name: string): boolean
}
export type Conversation = { conversation_id: string; external_id: string }

/** One request on its way. */
export type RequestContext = {
  about: MappedRequest
  received_at: bigint
  records: IngestRecords
}

/** What all spans of one resource and scope have in common. */
export type GroupStart = {
  words: Int32Array
  values: readonly (FieldValue | undefined)[]
  attributes: readonly Text[]
  cut: number
}

/** Reads resource and scope once, so that their spans start from there. */
export function startGroup(
  tools: MapperTools,
  { about }: RequestContext,
  group: Pick<OtlpGroup<unknown>, 'resource' | 'scope'>,
): GroupStart {
  const { compiled, state } = tools
  const { gates, shape } = compiled
  state.words.fill(0)
  state.words.fill(0x7fff_ffff, 0, shape.fields)
  state.values.fill(undefined)
  for (const [at, isOpen] of gates.entries()) state.gates[at] = isOpen(group.scope.name) ? 1 : 0
  for (const { field, rank, value } of compiled.constants) {
    state.words[field] = rank
    state.values[field] = value
  }
  for (const { field, rank, key } of compiled.requests) {
    const value = key === 'environment' ? about.environment : key === 'release' ? about.release : ''
    if (value === '') continue
    state.words[field] = rank
    state.values[field] = value
  }
  for (const target of compiled.scope) offer(state, target, group.scope.name)
  const row = resourceAttributes(tools, group)
  const words = state.words.slice()
  return { words, values: state.values.slice(), attributes: row.attributes, cut: row.cut }
}

function resourceAttributes(
  { compiled, state, plans }: MapperTools,
  { resource, scope }: Pick<OtlpGroup<unknown>, 'resource' | 'scope'>,
): RowAttributes {
  const { limits, span_level } = compiled.contract
  const row: RowAttributes = { attributes: [], metadata: [], cut: 0, dropped: 0, dropped_names: '' }
  const { keys, values } = resource.attributes
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? ''
    const value = values[at] ?? null
    for (const target of compiled.resource.get(key) ?? []) offer(state, target, value)
    const isKept = span_level.resource_attributes.some((kept) => fits(kept, key))
    if (isKept && plans(key).refused === '') addAttribute(row, `resource.${key}`, value, limits)
  }
  if (scope.name !== '') addAttribute(row, 'otel.scope.name', scope.name, limits)
  if (scope.version !== '') addAttribute(row, 'otel.scope.version', scope.version, limits)
  if (resource.dropped_attributes_count > 0) {
    const count = resource.dropped_attributes_count
    addAttribute(row, 'otel.resource.dropped_attributes_count', count, limits)
  }
  return row
}

/** `service.*` fits what begins so; without a star it is the key itself. */
function fits(kept: string, key: string): boolean {
  return kept.endsWith('*') ? key.startsWith(kept.slice(0, -1)) : key === kept
}
