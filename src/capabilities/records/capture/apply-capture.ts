import type { IngestRecords } from '../../../model/ingest-records.ts'
import { type Censored, censorOf } from './censor-records.ts'
import type { CapturePolicy } from './contract.ts'
import { isSampled } from './sampling.ts'

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
