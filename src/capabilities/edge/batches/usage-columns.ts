import type { Observation } from '../../../model/observation.ts'
import type { TokenBuckets } from '../../records/pricing/index.ts'
import type { ObservationRecord } from '../../records/schema/index.ts'
import type { DraftContext } from './draft-context.ts'

type UsageColumns = Pick<
  Observation,
  keyof TokenBuckets | 'usage_source' | 'usage_semantics' | 'cost_usd' | 'price_version'
>

/** The columns of tokens and money of a record whose counts fit each other. */
export function usageColumns(record: ObservationRecord, { pricing }: DraftContext): UsageColumns {
  const columns = countsOf(record)
  const isKnown = isCounted(columns)
  if (isKnown) {
    columns.usage_source = record.usage_source ?? 'provider'
    columns.usage_semantics = record.input_tokens == null ? 'exclusive' : 'inclusive'
  }
  if (record.cost_usd != null) columns.cost_usd = dollarText(record.cost_usd)
  else if (isKnown && (record.model || record.model_requested)) {
    Object.assign(columns, pricing(pricedCall(record), bucketsOf(columns)))
  }
  return columns
}

function countsOf(record: ObservationRecord): UsageColumns {
  const cache_read_tokens = record.cache_read_tokens ?? null
  const cache_write_tokens = record.cache_write_tokens ?? null
  const reasoning_tokens = record.reasoning_tokens ?? null
  const cached = (cache_read_tokens ?? 0) + (cache_write_tokens ?? 0)
  return {
    input_uncached_tokens:
      rest(record.input_tokens, cached) ?? record.input_uncached_tokens ?? null,
    cache_read_tokens,
    cache_write_tokens,
    output_visible_tokens:
      rest(record.output_tokens, reasoning_tokens ?? 0) ?? record.output_visible_tokens ?? null,
    reasoning_tokens,
    usage_source: 'none',
    usage_semantics: '',
    cost_usd: null,
    price_version: '',
  }
}

function rest(total: number | null | undefined, parts: number): number | undefined {
  return total == null ? undefined : total - parts
}

function isCounted(columns: UsageColumns): boolean {
  return (
    columns.input_uncached_tokens !== null ||
    columns.output_visible_tokens !== null ||
    columns.cache_read_tokens !== null ||
    columns.cache_write_tokens !== null ||
    columns.reasoning_tokens !== null
  )
}

function pricedCall(record: ObservationRecord) {
  return {
    provider: record.provider ?? '',
    model: record.model ?? '',
    model_requested: record.model_requested ?? '',
    at_ms: Number(record.start_time / 1_000_000n),
  }
}

function bucketsOf(columns: UsageColumns): TokenBuckets {
  return {
    input_uncached_tokens: columns.input_uncached_tokens ?? 0,
    cache_read_tokens: columns.cache_read_tokens ?? 0,
    cache_write_tokens: columns.cache_write_tokens ?? 0,
    output_visible_tokens: columns.output_visible_tokens ?? 0,
    reasoning_tokens: columns.reasoning_tokens ?? 0,
  }
}

/** Half a nano-dollar rounds up, as in the prices that we compute. */
function dollarText(given: string | number): string {
  return typeof given === 'string' ? given : given.toFixed(9)
}
