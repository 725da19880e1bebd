import type { IngestRecords } from '../../../model/ingest-records.ts'
import { type Censored, censorOf } from './censor-records.ts'
import type { CapturePolicy } from './contract.ts'

/** The records of a request that a policy keeps. */
export type Captured = {
  records: IngestRecords
  /** Number of items that are not kept, by reason: `capture_off`, `sampled`, `content_not_kept`. */
  rejected: Record<string, number>
  /** Number of kept items of which something was masked or left out. */
  masked: number
}

type Kind = keyof IngestRecords
const kinds = ['traces', 'observations', 'events', 'links', 'correlations'] as const

/**
 * Applies a project's policy to the records of a request, without changing its arguments.
 * `item_kinds` are the kinds of records that count as items sent by the client: observations for
 * proxied calls and OTLP traces, `events` for OTLP logs, every kind for a canonical batch. Records
 * of other kinds are not counted. With the default policy the records are returned unchanged. See
 * `censorOf` for what `metadata_only` leaves out; a record that has only content is dropped.
 *
 * Ids that identify records (`trace_id`, `observation_id`, `event_id`, `link_id`) are never masked.
 * Ids that clients choose (of tasks, users and conversations) are masked, and ids that differ only
 * in the masked part are then the same.
 */
export function applyCapture(
  policy: CapturePolicy,
  records: IngestRecords,
  item_kinds: readonly Kind[] = ['observations'],
): Captured {
  if (policy.keeps_all) return { records, rejected: {}, masked: 0 }
  const items = countOf(records, item_kinds)
  if (policy.content === 'off') {
    return { records: noRecords(), rejected: counted('capture_off', items), masked: 0 }
  }
  const sampled = sampleRecords(policy, records)
  const rejected = counted('sampled', items - countOf(sampled, item_kinds))
  const censor = censorOf(policy)
  if (censor === undefined) return { records: sampled, rejected, masked: 0 }
  const censored = {
    traces: censor.traces(sampled.traces),
    observations: censor.observations(sampled.observations),
    events: censor.events(sampled.events),
    links: censor.links(sampled.links),
    correlations: censor.correlations(sampled.correlations),
  }
  const left_out = item_kinds.reduce((sum, kind) => sum + censored[kind].left_out, 0)
  return {
    records: recordsOf(censored),
    rejected: { ...rejected, ...counted('content_not_kept', left_out) },
    masked: countMasked(censored, item_kinds),
  }
}

function noRecords(): IngestRecords {
  return { traces: [], observations: [], events: [], links: [], correlations: [] }
}

function counted(reason: string, items: number): Record<string, number> {
  return items === 0 ? {} : { [reason]: items }
}

function countOf(records: IngestRecords, item_kinds: readonly Kind[]): number {
  return item_kinds.reduce((sum, kind) => sum + records[kind].length, 0)
}

function sampleRecords({ sample_rate }: CapturePolicy, records: IngestRecords): IngestRecords {
  if (sample_rate >= 1) return records
  const isKept = ({ trace_id }: { trace_id: string }) => isSampled(trace_id, sample_rate)
  return {
    traces: records.traces.filter(isKept),
    observations: records.observations.filter(isKept),
    events: records.events.filter(isKept),
    links: records.links.filter(isKept),
    correlations: records.correlations.filter(isKept),
  }
}

type CensoredRecords = { [K in Kind]: Censored<IngestRecords[K][number]> }

function recordsOf(censored: CensoredRecords): IngestRecords {
  return {
    traces: censored.traces.records,
    observations: censored.observations.records,
    events: censored.events.records,
    links: censored.links.records,
    correlations: censored.correlations.records,
  }
}

type ObservationKey = { trace_id: string; observation_id?: string }

/** Counts the changed items, and observations of which an uncounted event or link changed. */
function countMasked(censored: CensoredRecords, item_kinds: readonly Kind[]): number {
  const changedKeys = new Set<string>()
  let masked = 0
  for (const kind of kinds) {
    const { records, changed } = censored[kind]
    if (item_kinds.includes(kind)) masked += changed.size
    else for (const at of changed) changedKeys.add(keyOf(records[at]))
  }
  if (changedKeys.size === 0 || !item_kinds.includes('observations')) return masked
  const { records, changed } = censored.observations
  records.forEach((record, at) => {
    if (!changed.has(at) && changedKeys.has(keyOf(record))) masked += 1
  })
  return masked
}

function keyOf(record: ObservationKey | undefined): string {
  return `${record?.trace_id} ${record?.observation_id ?? ''}`
}

/**
 * Maps a trace id to a point in [0, 1). It depends on the id alone, so every edge and request makes
 * the same decision, and a trace is kept as a whole or not at all. FNV-1a with the finalizer of
 * MurmurHash3, to spread ids that differ in only a few digits.
 */
function samplePoint(trace_id: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < trace_id.length; at += 1) {
    hash = Math.imul(hash ^ trace_id.charCodeAt(at), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000
}

/** Whether a trace is kept. Traces with errors are sampled like the others. */
function isSampled(trace_id: string, sample_rate: number): boolean {
  return sample_rate >= 1 || samplePoint(trace_id) < sample_rate
}

/** Returns why a trace is not kept; undefined when it is. Cheaper than mapping the trace first. */
export function refusalOf(
  { content, sample_rate }: CapturePolicy,
  trace_id: string,
): 'capture_off' | 'sampled' | undefined {
  if (content === 'off') return 'capture_off'
  return isSampled(trace_id, sample_rate) ? undefined : 'sampled'
}
