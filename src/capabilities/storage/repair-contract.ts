import type { Observation } from '../../model/observation.ts'
import type { OpenWindow, TimelineRow } from './contract.ts'
import type { ObservationIdentity, TraceHeads } from './trace-contract.ts'

/** The usage and cost of a call, and the provider's name of its answer. */
export type UsageColumns = Pick<
  Observation,
  | 'input_uncached_tokens'
  | 'cache_read_tokens'
  | 'cache_write_tokens'
  | 'output_visible_tokens'
  | 'reasoning_tokens'
  | 'usage_source'
  | 'usage_semantics'
  | 'usage_details'
  | 'service_tier'
  | 'response_id'
  | 'cost_usd'
  | 'price_version'
  | 'price_partial'
  | 'cost_computed_usd'
  | 'cost_reported_usd'
>

/** An observation, and its usage and cost from now on. */
export type UsageChange = ObservationIdentity & UsageColumns

/** A page of the traces of a day; `after` is the last trace of the page before. */
type DayTraces = { from: bigint; to: bigint; after: string | undefined; limit: number }

/** The reads and changes of rows that were stored by earlier rules. */
export type RepairStore = {
  /** Returns the starts of the days (UTC) with observations, in nanoseconds since 1970, in order. */
  days(project_id: string, window: OpenWindow): Promise<bigint[]>
  /** Returns ids of traces with observations in a window, ordered by id. */
  tracesOf(project_id: string, page: DayTraces): Promise<string[]>
  /** Returns the observations of traces without content, in the order of `traceHeads`. */
  traceRows(project_id: string, asked: TraceHeads): Promise<TimelineRow[]>
  /** Changes usage and cost in all versions of observations; safe to repeat. */
  setUsage(project_id: string, changes: readonly UsageChange[]): Promise<void>
}
