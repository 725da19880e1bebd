import type {
  OtlpEvent,
  OtlpLink,
  OtlpRequest,
  OtlpSpan,
  OtlpValue,
} from '../../src/capabilities/edge/otlp/contract.ts'
import type {
  FieldRule,
  MappingContract,
} from '../../src/capabilities/edge/otlp/mapping/contracts/contract-shape.ts'
import { currentContract } from '../../src/capabilities/edge/otlp/mapping/contracts/registry.ts'
import { createMapper } from '../../src/capabilities/edge/otlp/mapping/create-mapper.ts'
import type {
  Mapped,
  MapperOptions,
} from '../../src/capabilities/edge/otlp/mapping/mapper-contract.ts'
import type { ObservationDraft, Text, TextPairs } from '../../src/model/ingest-records.ts'
import type { Observation } from '../../src/model/observation.ts'
import { noPrice } from './no-cost.ts'

/** Facts about a request that the mapper gets. */
export const mappedRequest = {
  project_id: '0198c0de-0000-7000-8000-00000000000a',
  environment: '',
  release: '',
  received_at_ms: 1_790_000_100_000,
}

export const traceOne = '0198c0de-0000-7000-8000-000000000001'
export const spanStart = 1_790_000_000_000_000_000n

type Attributes = Record<string, OtlpValue>

export function otlpAttributes(given: Attributes) {
  return { keys: Object.keys(given), values: Object.values(given) }
}

/** A one-second span with the given fields. */
export function otlpSpan(
  attributes: Attributes = {},
  given: Partial<Omit<OtlpSpan, 'attributes'>> = {},
): OtlpSpan {
  return {
    trace_id: traceOne,
    span_id: '00f067aa0ba902b7',
    parent_span_id: '',
    trace_state: '',
    flags: 1,
    name: 'a span',
    kind: 3,
    start_time: spanStart,
    end_time: spanStart + 1_000_000_000n,
    attributes: otlpAttributes(attributes),
    dropped_attributes_count: 0,
    events: [],
    dropped_events_count: 0,
    links: [],
    dropped_links_count: 0,
    status_code: 0,
    status_message: '',
    ...given,
  }
}

export function otlpEvent(name: string, attributes: Attributes = {}, time = spanStart): OtlpEvent {
  return { time, name, attributes: otlpAttributes(attributes), dropped_attributes_count: 0 }
}

export function otlpLink(trace_id: string, span_id: string): OtlpLink {
  const attributes = otlpAttributes({ why: 'retry' })
  return { trace_id, span_id, trace_state: '', attributes, dropped_attributes_count: 0 }
}

/** A request of items of one resource and scope. */
export function otlpRequest<Item>(
  items: Item[],
  about: { resource?: Attributes; scope?: string } = {},
): OtlpRequest<Item> {
  const resource = {
    attributes: otlpAttributes(about.resource ?? {}),
    dropped_attributes_count: 0,
    schema_url: '',
  }
  const attributes = otlpAttributes({})
  const scope = { name: about.scope ?? '', version: '', attributes, schema_url: '' }
  return {
    groups: [{ resource, scope, items }],
    items: items.length,
    rejected: new Map(),
    first_rejection: '',
    warnings: new Map(),
  }
}

const addedKeys = [
  'gen_ai.usage.input_cached_tokens',
  'gen_ai.usage.input_cache_creation_tokens',
  'gen_ai.usage.thinking_tokens',
  'gen_ai.usage.total_cost',
  'gen_ai.cost.total_cost',
  'litellm.cost.total',
]
const addedFields = [
  'input_audio_tokens',
  'cache_read_audio_tokens',
  'output_audio_tokens',
  'input_image_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'service_tier',
  'response_id',
]

function earlierRule(name: string, { sources, ...rule }: FieldRule): FieldRule {
  const isAdded = addedFields.includes(name)
  const known = sources.filter((one) => !('key' in one && addedKeys.includes(one.key)))
  return { ...rule, sources: isAdded ? [] : known }
}

const { span_level } = currentContract

/** A contract before the current one: it lacks sources and whole fields that were added since. */
export const earlierContract: MappingContract = {
  ...currentContract,
  version: 'phase9-otlp-v0',
  span_level: {
    ...span_level,
    fields: Object.fromEntries(
      Object.entries(span_level.fields).map(([name, rule]) => [name, earlierRule(name, rule)]),
    ) as MappingContract['span_level']['fields'],
  },
}

/** A mapper of the current contract, without prices by default. */
export function testMapper(options: Partial<MapperOptions> = {}) {
  return createMapper({ contract: currentContract, pricing: noPrice, ...options })
}

const mapper = testMapper()

export function mapSpans(
  spans: OtlpSpan[],
  about: { resource?: Attributes; scope?: string } = {},
): Mapped['records'] {
  return mapper.traces(otlpRequest(spans, about), mappedRequest).records
}

/** The observation of a span with these attributes. */
export function mapAttributes(
  attributes: Attributes,
  about: { resource?: Attributes; scope?: string; span?: Parameters<typeof otlpSpan>[1] } = {},
): ObservationDraft {
  return onlyOne(mapSpans([otlpSpan(attributes, about.span)], about).observations)
}

export function onlyOne<Item>(items: readonly Item[]): Item {
  const [item] = items
  if (item === undefined || items.length !== 1) throw new Error(`got ${items.length}, expected 1`)
  return item
}

export function textFrom(text: Text): string {
  return typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
}

/** Converts pairs to an object. */
export function pairsFrom(pairs: TextPairs): Record<string, string> {
  const found: Record<string, string> = {}
  for (let at = 0; at < pairs.length; at += 2) {
    found[textFrom(pairs[at] ?? '')] = textFrom(pairs[at + 1] ?? '')
  }
  return found
}

/** A draft as a store returns it. */
export function storedFrom(draft: ObservationDraft): Observation {
  return {
    ...draft,
    input: textFrom(draft.input),
    output: textFrom(draft.output),
    attributes: pairsFrom(draft.attributes),
    metadata: pairsFrom(draft.metadata),
    message_id: 'm1',
  }
}
