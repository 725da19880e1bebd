import { shownDollars } from '../../../../kernel/dollars.ts'
import { isModelCall, spanKinds } from '../../../../model/observation.ts'
import type { Owner } from '../../../records/ownership/index.ts'
import type { Pricing } from '../../../records/pricing/index.ts'
import type { TimelineRow, UsageColumns } from '../../../storage/index.ts'
import type { OtlpAttributes, OtlpGroup, OtlpSpan } from '../contract.ts'
import { currentContract } from './contracts/registry.ts'
import { createMapper } from './create-mapper.ts'
import { readMappedFrom } from './mapped-from.ts'

/** The owner and usage that a stored row says itself, read by the rules of today. */
export type ReadAgain = {
  /** The owner that the row names itself, without what other rows gave it. */
  owner: Owner
  usage: UsageColumns
}

/**
 * Makes a reader of stored rows by the rules of today. Spans of earlier contracts were given owners by
 * guesses, and their usage is read again from their attributes. A span that cannot be read again as it
 * was, because content or attributes are no longer there, keeps its usage. Other rows keep what they
 * say; a call without a computed cost gets one if its model has a price now.
 */
export function createRowReader({
  pricing,
}: {
  pricing: Pricing
}): (row: TimelineRow) => ReadAgain {
  const mapper = createMapper({ contract: currentContract, pricing })
  return (row) => {
    const isOld = row.source === 'otlp' && row.contract_version !== currentContract.version
    if (!isOld) return { owner: ownerOf(row), usage: priced(pricing, row) }
    return { owner: ownOwner(row), usage: usageAgain(mapper, row) ?? usageOf(row) }
  }
}

function ownerOf(row: TimelineRow): Owner {
  const { task_id, task_name, task_implicit, user_id, release } = row
  const { conversation_id, conversation_external_id } = row
  const talk = { conversation_id, conversation_external_id }
  return { task_id, task_name, task_implicit, user_id, release, ...talk }
}

/** `mapped_from` names the fields that the span gave; the others came from other spans. */
function ownOwner(row: TimelineRow): Owner {
  const { given } = readMappedFrom(row.mapped_from)
  const owner = ownerOf(row)
  if (!given.has('task_id')) Object.assign(owner, { task_id: row.trace_id, task_implicit: true })
  if (!given.has('task_name')) owner.task_name = ''
  if (!given.has('user_id')) owner.user_id = ''
  if (!given.has('conversation_id')) {
    Object.assign(owner, { conversation_id: '', conversation_external_id: '' })
  }
  return owner
}

/** Maps the span that the row's attributes describe; undefined if it is not the same call. */
function usageAgain(
  mapper: ReturnType<typeof createMapper>,
  row: TimelineRow,
): UsageColumns | undefined {
  const { project_id } = row
  const origin = { project_id, environment: '', release: '', received_at_ms: 0 }
  const group = groupOf(row)
  const request = {
    groups: [group],
    items: 1,
    rejected: new Map(),
    first_rejection: '',
    warnings: new Map(),
  }
  const [again] = mapper.traces(request, origin).records.observations
  if (again === undefined || 'mapping.dropped' in row.attributes) return undefined
  const isSame =
    again.type === row.type &&
    again.provider === row.provider &&
    again.model === row.model &&
    again.model_requested === row.model_requested &&
    (again.usage_source === 'provider' || row.usage_source !== 'provider')
  return isSame ? usageOf(again) : undefined
}

function groupOf(row: TimelineRow): OtlpGroup<OtlpSpan> {
  const none = { keys: [], values: [] }
  const own: OtlpAttributes = { keys: [], values: [] }
  const ofResource: OtlpAttributes = { keys: [], values: [] }
  for (const [key, value] of Object.entries(row.attributes)) {
    const isOfResource = key.startsWith('resource.')
    const to = isOfResource ? ofResource : own
    to.keys.push(isOfResource ? key.slice('resource.'.length) : key)
    to.values.push(value)
  }
  const span: OtlpSpan = {
    trace_id: row.trace_id,
    span_id: row.observation_id,
    parent_span_id: '',
    trace_state: '',
    flags: 0,
    name: row.name,
    kind: spanKinds.indexOf(row.span_kind),
    start_time: row.start_time,
    end_time: row.end_time,
    attributes: own,
    events: [],
    links: [],
    status_code: 0,
    status_message: '',
    dropped_attributes_count: 0,
    dropped_events_count: 0,
    dropped_links_count: 0,
  }
  return {
    resource: { attributes: ofResource, dropped_attributes_count: 0, schema_url: '' },
    scope: {
      name: row.attributes['otel.scope.name'] ?? '',
      version: '',
      attributes: none,
      schema_url: '',
    },
    items: [span],
  }
}

/**
 * Earlier rows have only the cost that counts. A cost that we computed becomes `cost_computed_usd` too,
 * and a call without a cost is priced; which parts were unclear at the first reading is forgotten.
 */
function priced(pricing: Pricing, row: TimelineRow): UsageColumns {
  const usage = usageOf(row)
  if (!isModelCall(row)) return usage
  if (row.cost_computed_usd !== null || row.cost_reported_usd !== null) return usage
  if (row.cost_usd === null) return hasClearUsage(row) ? priceOf(pricing, row) : usage
  const cost = shownDollars(row.cost_usd)
  const isReported = row.price_version === 'reported' || row.price_version === ''
  return isReported ? { ...usage, cost_reported_usd: cost } : { ...usage, cost_computed_usd: cost }
}

function hasClearUsage(row: TimelineRow): boolean {
  if (row.usage_source === 'none' || row.price_partial.length > 0) return false
  return !('unsplit' in row.usage_details)
}

function priceOf(pricing: Pricing, row: TimelineRow): UsageColumns {
  const { provider, model, model_requested, service_tier } = row
  const at_ms = Number(row.start_time / 1_000_000n)
  const buckets = {
    input_uncached_tokens: row.input_uncached_tokens ?? 0,
    cache_read_tokens: row.cache_read_tokens ?? 0,
    cache_write_tokens: row.cache_write_tokens ?? 0,
    output_visible_tokens: row.output_visible_tokens ?? 0,
    reasoning_tokens: row.reasoning_tokens ?? 0,
  }
  const is_estimated = row.usage_source === 'estimated'
  const call = { provider, model, model_requested, at_ms, service_tier }
  const cost = pricing(call, { buckets, details: row.usage_details, is_estimated })
  return cost.cost_usd === null ? usageOf(row) : { ...usageOf(row), ...cost }
}

function usageOf(row: UsageColumns): UsageColumns {
  return {
    input_uncached_tokens: row.input_uncached_tokens,
    cache_read_tokens: row.cache_read_tokens,
    cache_write_tokens: row.cache_write_tokens,
    output_visible_tokens: row.output_visible_tokens,
    reasoning_tokens: row.reasoning_tokens,
    usage_source: row.usage_source,
    usage_semantics: row.usage_semantics,
    usage_details: row.usage_details,
    service_tier: row.service_tier,
    response_id: row.response_id,
    cost_usd: row.cost_usd,
    price_version: row.price_version,
    price_partial: row.price_partial,
    cost_computed_usd: row.cost_computed_usd,
    cost_reported_usd: row.cost_reported_usd,
  }
}
