import type { Observation } from '../../model/observation.ts'
import type { Owner } from '../records/ownership/index.ts'
import type { ObservationHead } from './row-format/read-rows.ts'

/** The identity of an observation. Rows with equal identities are its versions. */
export type ObservationIdentity = { start_time: bigint; trace_id: string; observation_id: string }

/** Traces, and the starts of their observations: both ends included. At most 5,000 traces. */
export type TraceHeads = { trace_ids: readonly string[]; from: bigint; to: bigint; limit: number }

/** The head of a stored observation. */
export type StoredHead = ObservationHead & Pick<Observation, 'content_state'>

/** Observations to erase with their events, links and correlations, and users of trace records. */
export type RowsToErase = {
  rows: readonly ObservationIdentity[]
  /** Records of the same traces that name one of these users are erased too. */
  users: readonly string[]
}

/** An observation, to whom it belongs from now on, and which row counts it. */
export type OwnerChange = ObservationIdentity & Owner & Pick<Observation, 'counted_with'>

/** Observations whose events are read: at most `identities_max`. */
export type GenAiEventsAsked = {
  places: readonly { trace_id: string; observation_id: string }[]
  /** Maximum events, and maximum bytes of all bodies. */
  limit: number
  bytes_max: number
}

/** An event of the GenAI conventions: its name, and its content as JSON text. */
export type GenAiEvent = { trace_id: string; observation_id: string; name: string; body: string }

/** Observations whose events of these names are counted: at most `identities_max`. */
export type EventCountsAsked = Pick<GenAiEventsAsked, 'places'> & { names: readonly string[] }

/** The number of events of an observation that have a body. */
export type EventCount = { trace_id: string; observation_id: string; events: number }
