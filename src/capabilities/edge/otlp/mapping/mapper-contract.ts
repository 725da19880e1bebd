import type { IngestRecords } from '../../../../model/ingest-records.ts'
import type { OtlpLogRecord, OtlpRequest, OtlpSpan } from '../contract.ts'
import type { AnyMappingContract } from './contracts/contract-shape.ts'

/** Tokens of one call in disjoint buckets. */
export type MappedBuckets = {
  input_uncached_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  output_visible_tokens: number
  reasoning_tokens: number
}

/** The exact US dollars of a call as decimal text, null when there is no price; and by what prices. */
type MappedPricing = (
  call: { provider: string; model: string; model_requested: string; at_ms: number },
  usage: MappedBuckets,
) => MappedPrice
export type MappedPrice = { cost_usd: string | null; price_version: string }

export type MapperOptions = {
  contract: AnyMappingContract
  pricing: MappedPricing
  /** Longer input and output is cut. Left out, 1 MiB. */
  content_bytes_max?: number
}

/** What a request says of all its items. */
export type MappedRequest = {
  project_id: string
  /** Holds where the resource says none; '' when the request says none. */
  environment: string
  release: string
  received_at_ms: number
  /** The request's header `baggage`. */
  baggage?: string
}

/** What became of a request: `rejected` are the items that the mapping refused, by reason. */
export type Mapped = { records: IngestRecords; rejected: Map<string, number> }

/** Makes records of decoded requests. It throws on no shape of input, and keeps nothing of one. */
export type OtlpMapper = {
  traces(request: OtlpRequest<OtlpSpan>, about: MappedRequest): Mapped
  /** Refuses `no_trace_id` and `not_a_genai_event`. */
  logs(request: OtlpRequest<OtlpLogRecord>, about: MappedRequest): Mapped
}
