import type {
  CorrelationDraft,
  EventDraft,
  IngestRecords,
  LinkDraft,
} from '../../model/ingest-records.ts'
import type { OpenWindow, TimeWindow } from './contract.ts'

/**
 * The port to all kinds of records. Writes rows as encoded at the edge; reads events, links and
 * correlations. Answers are exact even while several versions of a record are stored (the latest
 * wins), and no call reads another project. Times are nanoseconds since 1970. Lists have at most
 * 10,000 rows. Rejects with problem('store_unavailable') when the store is unavailable or too slow.
 */
export type RecordStore = {
  /**
   * Appends rows of one kind, of any projects, as `row-format` encodes them. Resolves when they are
   * durable. After a rejection any part may be stored, and it is safe to repeat the call. `token`
   * names the batch, so that the store can skip a repeated one.
   */
  insertRows(kind: RecordKind, rows: readonly Uint8Array[], about: { token: string }): Promise<void>
  /** Returns events ordered by time, observation_id, event_id. */
  traceEvents(projectId: string, traceId: string, page: EventPage): Promise<EventRows>
  /** Counts events up to `limit`; larger counts are capped, as in the other counts. */
  countTraceEvents(
    projectId: string,
    traceId: string,
    filter: Counted<EventFilter>,
  ): Promise<number>
  /** Returns links from and to the trace, ordered by time, trace_id, observation_id, link_id. */
  traceLinks(projectId: string, traceId: string, page: LinkPage): Promise<LinkRow[]>
  countTraceLinks(projectId: string, traceId: string, filter: Counted<LinkFilter>): Promise<number>
  /** Returns correlations ordered by time, correlation_type, observation_id, value_digest. */
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
  /** Returns correlations ordered by time, trace_id, observation_id, value_digest. */
  searchCorrelations(projectId: string, page: CorrelationSearchPage): Promise<CorrelationRow[]>
  countCorrelations(projectId: string, search: Counted<CorrelationSearch>): Promise<number>
  /** Returns true if any record of the trace is stored, of any kind. */
  traceExists(projectId: string, traceId: string): Promise<boolean>
}

/** The kinds of records; each has a table of its name. */
export type RecordKind = keyof IngestRecords

type Counted<Filter> = Filter & { limit: number }

type Order = 'asc' | 'desc'

/** A record as read: with text and maps instead of bytes and pairs. */
type Read<Draft, Texts extends keyof Draft, Maps extends keyof Draft> = Omit<
  Draft,
  'project_id' | Texts | Maps
> &
  Record<Texts, string> &
  Record<Maps, Record<string, string>>

export type EventRow = Read<EventDraft, 'body', 'attributes'>

export type LinkRow = Read<LinkDraft, never, 'attributes'>

export type CorrelationRow = Read<CorrelationDraft, never, 'metadata'> & {
  /** Digest of the value, which may be long, for positions: 32 hex digits. */
  value_digest: string
}

export type EventFilter = OpenWindow & {
  observation_id?: string | undefined
  name?: string | undefined
}

export type EventPage = EventFilter & {
  /** The last row of the page before. */
  after?: Pick<EventRow, 'time' | 'observation_id' | 'event_id'>
  order: Order
  limit: number
  /** Maximum bytes of texts and attributes on a page; its first row may exceed it. */
  bytes_max: number
}

/** A page of events. `more`: further events follow, after a limit of rows or bytes. */
type EventRows = { rows: EventRow[]; more: boolean }

export type LinkFilter = OpenWindow & {
  /** Selects only links from this trace (`from`), or to it (`to`). */
  direction?: 'from' | 'to' | undefined
  /** Selects only links from or to this observation of the trace. */
  observation_id?: string | undefined
}

export type LinkPage = LinkFilter & {
  after?: Pick<LinkRow, 'time' | 'trace_id' | 'observation_id' | 'link_id'>
  order: Order
  limit: number
}

export type TraceCorrelationFilter = {
  observation_id?: string | undefined
  correlation_type?: string | undefined
}

type TraceCorrelationPage = TraceCorrelationFilter & {
  after?: Pick<CorrelationRow, 'time' | 'correlation_type' | 'observation_id' | 'value_digest'>
  order: Order
  limit: number
}

/** A search by type, and by an exact value or a prefix (`''`: all values). */
export type CorrelationSearch = Required<TimeWindow> & { correlation_type: string } & (
    | { value: string; prefix?: undefined }
    | { prefix: string; value?: undefined }
  )

type CorrelationSearchPage = CorrelationSearch & {
  after?: Pick<CorrelationRow, 'time' | 'trace_id' | 'observation_id' | 'value_digest'>
  order: Order
  limit: number
}
