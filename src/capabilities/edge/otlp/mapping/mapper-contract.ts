import type { IngestRecords } from '../../../../model/ingest-records.ts'
import type { Pricing } from '../../../records/pricing/index.ts'
import type { OtlpDataPoint, OtlpLogRecord, OtlpRequest, OtlpSpan } from '../contract.ts'
import type { MappingContract } from './contracts/contract-shape.ts'

export type MapperOptions = {
  contract: MappingContract
  pricing: Pricing
  /** Maximum bytes of input and of output, by default 1 MiB; longer content is cut. */
  content_bytes_max?: number
}

/** Properties of a request that apply to all its items. */
export type MappedRequest = {
  project_id: string
  /** The default for a resource without an environment; '' when unknown. */
  environment: string
  release: string
  received_at_ms: number
  /** The request's header `baggage`. */
  baggage?: string
}

/** The records of a request; `rejected` counts items that the mapping refused, by reason. */
export type Mapped = { records: IngestRecords; rejected: Map<string, number> }

/**
 * Maps decoded requests to records. It never throws on any input, and keeps nothing of a
 * request.
 */
export type OtlpMapper = {
  traces(request: OtlpRequest<OtlpSpan>, origin: MappedRequest): Mapped
  /**
   * Maps each record to an event, or to an observation. Rejects items with `no_trace_id` and
   * `not_a_genai_event`.
   */
  logs(request: OtlpRequest<OtlpLogRecord>, origin: MappedRequest): Mapped
  /** Maps each data point of a coding agent to an event. Rejects items with `unknown_metric`. */
  metrics(request: OtlpRequest<OtlpDataPoint>, origin: MappedRequest): Mapped
}
