import type {
  CorrelationDraft,
  EventDraft,
  IngestRecords,
  LinkDraft,
} from '../../model/ingest-records.ts'
import type { TimeWindow } from './contract.ts'

/**
 * The port to all kinds of records: rows go in as they were encoded at the edge, and what stands
 * beside observations is read. Every answer is exact while versions of a record that was sent again
 * still lie side by side (the later write wins), and no call sees another project. Times are
 * nanoseconds since 1970. Lists are at most 10,000 rows long.
 * Rejects with problem('store_unavailable') when the store is out of reach or too slow.
 */
export type RecordStore = {
  /**
   * Appends rows of one kind, as stores/row-format encodes them, of any projects; resolves once
   * they are durable. When it rejects, any part may be stored, and repeating it is right.
   * `token` names the batch, so that a cluster need not even store the repeated one.
   */
  insertRows(kind: RecordKind, rows: readonly Uint8Array[], about: { token: string }): Promise<void>
  /** Ordered by time, observation_id, event_id. */
  traceEvents(projectId: string, traceId: string, page: EventPage): Promise<EventRows>
  /** Counts up to `limit`; more than that reads as `limit`. So do the other counts. */
  countTraceEvents(
    projectId: string,
    traceId: string,
    filter: Counted<EventFilter>,
  ): Promise<number>
  /** Links from the trace and to it, ordered by time, trace_id, observation_id, link_id. */
  traceLinks(projectId: string, traceId: string, page: LinkPage): Promise<LinkRow[]>
  countTraceLinks(projectId: string, traceId: string, filter: Counted<LinkFilter>): Promise<number>
  /** Ordered by time, correlation_type, observation_id, value_digest. */
  traceCorrelations(
    projectId: string,
    traceId: string,
    page: TraceCorrelationPage,
  ): Promise<CorrelationRow[]>
  countTraceCorrelations(
    projectId: string,
    traceId: string,
    filter: Counted<TraceCorrelationFilter>,
  ): Promise<number>
  /** Ordered by time, trace_id, observation_id, value_digest. */
  searchCorrelations(projectId: string, page: CorrelationSearchPage): Promise<CorrelationRow[]>
  countCorrelations(projectId: string, search: Counted<CorrelationSearch>): Promise<number>
  /** True when any record of the trace is stored, of whatever kind. */
  traceExists(projectId: string, traceId: string): Promise<boolean>
}

/** The kinds of records; each has a table of its name. */
export type RecordKind = keyof IngestRecords

type Counted<Filter> = Filter & { limit: number }
type Order = 'asc' | 'desc'

/** A record as it is read: text and maps instead of bytes and pairs. */
type Read<Draft, Texts extends keyof Draft, Maps extends keyof Draft> = Omit<
  Draft,
  'project_id' | Texts | Maps
> &
  Record<Texts, string> &
  Record<Maps, Record<string, string>>

export type EventRow = Read<EventDraft, 'body', 'attributes'>
export type LinkRow = Read<LinkDraft, never, 'attributes'>
export type CorrelationRow = Read<CorrelationDraft, never, 'metadata'> & {
  /** Stands for the value, which may be long, in positions: 32 hex digits. */
  value_digest: string
}

export type EventFilter = TimeWindow & { observation_id?: string; name?: string }
export type EventPage = EventFilter & {
  /** The last row of the page before. */
  after?: Pick<EventRow, 'time' | 'observation_id' | 'event_id'>
  order: Order
  limit: number
  /** Texts and attributes of a page are no larger than this, unless its first row alone is. */
  bytes_max: number
}

/** A page of events; `more` when others follow, be it that the page was full of rows or bytes. */
export type EventRows = { rows: EventRow[]; more: boolean }

export type LinkFilter = TimeWindow & {
  /** Only links of this trace to others (`from`), or of others to it (`to`). */
  direction?: 'from' | 'to'
  /** The observation of the trace that links, or is linked. */
  observation_id?: string
}
export type LinkPage = LinkFilter & {
  after?: Pick<LinkRow, 'time' | 'trace_id' | 'observation_id' | 'link_id'>
  order: Order
  limit: number
}

export type TraceCorrelationFilter = { observation_id?: string; correlation_type?: string }
export type TraceCorrelationPage = TraceCorrelationFilter & {
  after?: Pick<CorrelationRow, 'time' | 'correlation_type' | 'observation_id' | 'value_digest'>
  order: Order
  limit: number
}

/** Which values: exactly this one, or all that begin so (`''`: all of the type). */
export type CorrelationSearch = Required<TimeWindow> & { correlation_type: string } & (
    | { value: string; prefix?: undefined }
    | { prefix: string; value?: undefined }
  )
export type CorrelationSearchPage = CorrelationSearch & {
  after?: Pick<CorrelationRow, 'time' | 'trace_id' | 'observation_id' | 'value_digest'>
  order: Order
  limit: number
}
