import type { IngestRecords, Text } from '../../../../model/ingest-records.ts'
import type { OtlpEvent, OtlpGroup, OtlpSpan, OtlpValue } from '../contract.ts'
import { type CompiledContract, offer, offerGathered, type Target } from './compiled-contract.ts'
import type { Gathered } from './gathered-messages.ts'
import type { GatherPlace, KeyPlan, KeyPlans } from './key-plans.ts'
import type { MappedFrom } from './mapped-from.ts'
import type { MappedRequest, MapperOptions } from './mapper-contract.ts'
import { addAttribute, addMetadata, drop, type RowAttributes } from './row-attributes.ts'
import { type FieldValue, forgetSpan, isPresent, noSource, type SpanState } from './span-state.ts'

/** State of a mapper across requests. It contains no data of requests, only caches. */
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

/** One request in progress. */
export type RequestContext = {
  origin: MappedRequest
  received_at: bigint
  records: IngestRecords
}

/** The state that all spans of one resource and scope start from. */
export type GroupStart = {
  words: Int32Array
  values: readonly (FieldValue | undefined)[]
  attributes: readonly Text[]
  cut: number
  /** Name of the scope. */
  scope: string
}

/** Reads resource and scope once for all their spans. */
export function startGroup(
  tools: MapperTools,
  { origin }: RequestContext,
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
    const value =
      key === 'environment' ? origin.environment : key === 'release' ? origin.release : ''
    if (value === '') continue
    state.words[field] = rank
    state.values[field] = value
  }
  for (const target of compiled.scope) offer(state, target, group.scope.name)
  const row = resourceAttributes(tools, group)
  const words = state.words.slice()
  return {
    words,
    values: state.values.slice(),
    attributes: row.attributes,
    cut: row.cut,
    scope: group.scope.name,
  }
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

/** Returns true when the key equals `kept`, or begins with it up to a final star (`service.*`). */
function fits(kept: string, key: string): boolean {
  return kept.endsWith('*') ? key.startsWith(kept.slice(0, -1)) : key === kept
}

/** The attributes of a span, with the baggage of its trace. */
export type SpanReading = RowAttributes & { baggage: string }

/** Reads a span into the state. Returns its attributes. */
export function readSpan(tools: MapperTools, start: GroupStart, span: OtlpSpan): SpanReading {
  const { compiled, state } = tools
  state.words.set(start.words)
  state.events = span.events
  for (let at = 0; at < start.values.length; at++) state.values[at] = start.values[at]
  const row: SpanReading = {
    attributes: start.attributes.slice(),
    metadata: [],
    cut: start.cut,
    dropped: 0,
    dropped_names: '',
    baggage: '',
  }
  readAttributes(tools, span, row)
  for (const target of compiled.span.name) offer(state, target, span.name)
  if (span.status_code !== 0) {
    for (const target of compiled.span.status) offer(state, target, `${span.status_code}`)
  }
  if (span.status_message !== '') {
    for (const target of compiled.span.status_message) offer(state, target, span.status_message)
  }
  for (let at = 0; at < span.events.length; at++) readEvent(tools, span.events[at], at)
  settleGathered(compiled, state)
  settleDerived(compiled, state)
  forgetSpan(state)
  return row
}

function readAttributes({ compiled, plans, state }: MapperTools, span: OtlpSpan, row: SpanReading) {
  const { keys, values } = span.attributes
  const { limits } = compiled.contract
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? ''
    const value = values[at] ?? null
    const plan = plans(key)
    if (plan.is_plain) {
      addAttribute(row, key, value, limits)
      continue
    }
    offerAll(state, plan.targets, value)
    if (plan.gathers.length > 0) takeGathered(state.gathered, plan.gathers, value)
    if (plan.is_kept) addAttribute(row, key, value, limits)
    else if (!plan.is_content) placeAttribute(row, { key, value, plan }, compiled)
  }
}

function offerAll(state: SpanState, targets: readonly Target[], value: OtlpValue): void {
  for (let at = 0; at < targets.length; at++) {
    const target = targets[at]
    if (target !== undefined) offer(state, target, value)
  }
}

function placeAttribute(
  row: SpanReading,
  { key, value, plan }: { key: string; value: OtlpValue; plan: KeyPlan },
  { contract }: CompiledContract,
): void {
  if (plan.refused !== '') {
    drop(row, key)
    return
  }
  if (plan.is_baggage) {
    const text = `${key.slice('baggage.'.length)}=${encodeURIComponent(shortText(value))}`
    row.baggage = row.baggage === '' ? text : `${row.baggage},${text}`
  }
  if (plan.metadata_key === '') addAttribute(row, key, value, contract.limits)
  else addMetadata(row, plan.metadata_key, value, contract.limits)
}

/** Baggage is short by its specification; a longer one is cut with the correlation. */
function shortText(value: OtlpValue): string {
  if (typeof value === 'string') return value.toWellFormed()
  return Buffer.isBuffer(value) ? value.toString('utf8', 0, 2_048) : ''
}

function takeGathered(
  gathered: readonly Gathered[],
  places: readonly GatherPlace[],
  value: OtlpValue,
): void {
  for (let at = 0; at < places.length; at++) {
    const to = places[at]
    const into = to && gathered[to.gather]
    if (into === undefined || to === undefined) continue
    into.places[into.length] = to.place
    into.paths[into.length] = to.path
    into.values[into.length] = value
    into.length++
  }
}

function readEvent({ compiled, state }: MapperTools, event: OtlpEvent | undefined, at: number) {
  if (event === undefined) return
  const { keys, values } = event.attributes
  for (const { key, target } of compiled.events.get(event.name) ?? []) {
    const place = keys.indexOf(key)
    if (key === '') offer(state, target, event.time)
    else if (place >= 0) offer(state, target, values[place] ?? null)
  }
  for (const [gather, { kind, matches }] of compiled.gathers.entries()) {
    const into = state.gathered[gather]
    if (kind === 'events' && into !== undefined && matches(event.name)) {
      takeMessage(into, event, at)
    }
  }
}

const noMessage = new Set(['gen_ai.system', 'gen_ai.provider.name', 'event.name'])

/**
 * Adds an event as a message. `gen_ai.user.message` has the role `user`; other names have no role.
 */
function takeMessage(into: Gathered, { name, attributes }: OtlpEvent, at: number): void {
  const put = (key: string, value: OtlpValue) => {
    into.places[into.length] = at
    into.paths[into.length] = [key]
    into.values[into.length] = value
    into.length++
  }
  for (const [place, key] of attributes.keys.entries()) {
    if (noMessage.has(key) || key === '__proto__') continue
    put(key === 'gen_ai.event.content' ? 'content' : key, attributes.values[place] ?? null)
  }
  const [, role = '', kind = 'message'] = name.split('.')
  if (kind === 'message') put('role', role === 'choice' ? 'assistant' : role)
}

function settleGathered({ gathers }: CompiledContract, state: SpanState): void {
  for (let at = 0; at < gathers.length; at++) {
    const gathered = state.gathered[at]
    const gather = gathers[at]
    if (gathered === undefined || gather === undefined || gathered.length === 0) continue
    for (let n = 0; n < gather.targets.length; n++) {
      const target = gather.targets[n]
      if (target !== undefined) offerGathered(state, target, gathered)
    }
    gathered.length = 0
    gathered.values.length = 0
    gathered.messages = undefined
  }
}

function settleDerived({ derived }: CompiledContract, state: SpanState): void {
  for (let at = 0; at < derived.length; at++) {
    const one = derived[at]
    if (one === undefined || (state.words[one.target.field] ?? noSource) <= one.target.rank)
      continue
    if (one.present.every((field) => isPresent(state, field))) {
      state.words[one.target.field] = one.target.rank
      state.values[one.target.field] = one.value
    }
  }
}
