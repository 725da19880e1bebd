import type { IngestRecords } from '../../../model/ingest-records.ts'
import { type Censored, censorOf } from './censor-records.ts'
import type { CapturePolicy } from './contract.ts'

/** What is left of the records of a request. */
export type Captured = {
  records: IngestRecords
  /** Items that are not kept, by reason: `capture_off`, `sampled`, `content_not_kept`. */
  rejected: Record<string, number>
  /** Items that are kept and had something masked or left out. */
  masked: number
}

type Kind = keyof IngestRecords

const kinds = ['traces', 'observations', 'events', 'links', 'correlations'] as const

/**
 * Applies a project's policy to the records of a request of that project; nothing that it is given
 * is changed. `item_kinds` says which records are the items that the client sent (all others ride
 * along and are not counted): observations for proxied calls and OTLP traces, `events` for OTLP
 * logs, every kind for a canonical batch. With the default policy the records pass as they are.
 * What `metadata_only` leaves out is told at `censorOf`; a record that is nothing but content is left
 * out whole.
 *
 * Ids that make the identity of records (`trace_id`, `observation_id`, `event_id`, `link_id`) are
 * never masked; what a client names itself (tasks, users, conversations) is, and is then no longer
 * told apart by what was masked.
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
  const sampled = sampledOf(policy, records)
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
    masked: maskedItems(censored, item_kinds),
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

function sampledOf({ sample_rate }: CapturePolicy, records: IngestRecords): IngestRecords {
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

type Place = { trace_id: string; observation_id?: string }

/** Items that changed, and observations of which an event or link that rides along did. */
function maskedItems(censored: CensoredRecords, item_kinds: readonly Kind[]): number {
  const riders = new Set<string>()
  let masked = 0
  for (const kind of kinds) {
    const { records, changed } = censored[kind]
    if (item_kinds.includes(kind)) masked += changed.size
    else for (const at of changed) riders.add(placeOf(records[at]))
  }
  if (riders.size === 0 || !item_kinds.includes('observations')) return masked
  const { records, changed } = censored.observations
  records.forEach((record, at) => {
    if (!changed.has(at) && riders.has(placeOf(record))) masked += 1
  })
  return masked
}

function placeOf(record: Place | undefined): string {
  return `${record?.trace_id} ${record?.observation_id ?? ''}`
}

/**
 * The place of a trace in [0, 1), by its id alone: every edge and every request decides the same
 * for a trace, which is so kept whole or not at all. FNV-1a, and the finalizer of MurmurHash3 to
 * spread ids that differ in a few digits only.
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

/** Why nothing of a trace is kept; undefined when something is. Cheaper than to map it first. */
export function refusalOf(
  { content, sample_rate }: CapturePolicy,
  trace_id: string,
): 'capture_off' | 'sampled' | undefined {
  if (content === 'off') return 'capture_off'
  return isSampled(trace_id, sample_rate) ? undefined : 'sampled'
}
