import { setImmediate } from 'node:timers/promises'
import { newId } from '../../../../kernel/ids.ts'
import { problem } from '../../../../kernel/problem.ts'
import type { IngestRecords } from '../../../../model/ingest-records.ts'
import type { IngestRequest } from '../../enqueue/index.ts'
import { OtlpDecodeError, type OtlpGroup, type OtlpRequest } from '../contract.ts'
import type { OtlpEncoding, OtlpSignal } from '../decode/answers.ts'
import { spansOfCalls } from '../litellm/call-span.ts'
import { decodeLiteLlm } from '../litellm/decode-calls.ts'
import type { Mapped, MappedRequest } from '../mapping/mapper-contract.ts'
import type { OtlpDependencies } from './contract.ts'
import type { OtlpMeters } from './meters.ts'

/** One export request, authenticated and decompressed. */
type ExportRequest = MappedRequest & {
  signal: OtlpSignal
  encoding: OtlpEncoding
  body: Buffer
}

/** The result of an export request. */
type ExportResult = {
  /** Rejected items, and the fault of the first one; 0 and empty without any. */
  rejected: number
  message: string
  /** The id of the receipt; empty when the request was empty. */
  ingest_request_id: string
}

/**
 * Processes an export request; resolves once every item is durable or rejected. Rejects with
 * `invalid_request` for an undecodable request, and with the errors of the queue.
 */
export type Pipeline = (request: ExportRequest) => Promise<ExportResult>

/** Longer bodies are mapped in slices, so that other requests run in between. */
const slicedFromBytes = 1024 * 1024
/** Items of a slice; with the largest usual spans it takes some milliseconds. */
const sliceItems = 256

/** Makes the pipeline that both transports share. */
export function createPipeline(
  { decoders, mapper, capture, enqueuer }: PipelineParts,
  meters: OtlpMeters,
): Pipeline {
  async function run<Item extends { trace_id: string }>(
    request: ExportRequest,
    { decode, map, item_kinds }: ItemKind<Item>,
  ): Promise<ExportResult> {
    const found = decodeBody(decode, request.body)
    meters.warned(found.warnings)
    if (found.items === 0) return nothing
    const mapped = await mapInSlices(request, found, map)
    const asked = capture?.(mapped.records, request.project_id, item_kinds)
    const kept = asked instanceof Promise ? await asked : asked
    const ingest_request_id = newId()
    const refused = sumOf(Object.fromEntries(found.rejected), mapped.rejected)
    const ingest: IngestRequest = {
      project_id: request.project_id,
      path: 'otlp',
      ingest_request_id,
      received_at_ms: request.received_at_ms,
      items: found.items,
      rejected: sumOf(refused, Object.entries(kept?.rejected ?? {})),
      masked: kept?.masked ?? 0,
      records: kept?.records ?? mapped.records,
      // A log record becomes exactly one event or observation.
      ...(item_kinds.includes('events') && { every_record_is_an_item: true }),
    }
    await enqueuer.enqueue(ingest, {
      on_refused: (kind, _index, reason) => {
        if (item_kinds.some((item_kind) => item_kind === kind))
          refused[reason] = (refused[reason] ?? 0) + 1
      },
    })
    meters.took(request.signal, found.items, refused)
    return { ...describeRejection(refused, found), ingest_request_id }
  }
  return (request) => {
    const decoder = decoders[request.encoding]
    switch (request.signal) {
      case 'traces':
        return run(request, {
          decode: decoder.traces,
          map: mapper.traces,
          item_kinds: ['observations'],
        })
      case 'logs':
        return run(request, {
          decode: decoder.logs,
          map: mapper.logs,
          item_kinds: ['events', 'observations'],
        })
      case 'litellm':
        return run(request, {
          decode: decodeLiteLlm,
          map: (calls, origin) => mapper.traces(spansOfCalls(calls, origin.project_id), origin),
          item_kinds: ['observations'],
        })
      case 'metrics':
        return run(request, {
          decode: decoder.metrics,
          map: mapper.metrics,
          item_kinds: ['events'],
        })
    }
  }
}

type PipelineParts = Pick<OtlpDependencies, 'decoders' | 'mapper' | 'capture' | 'enqueuer'>

/** How items of one signal are decoded and mapped, and the kinds of record that they become. */
type ItemKind<Item> = {
  item_kinds: readonly ('observations' | 'events')[]
  decode: (body: Buffer) => OtlpRequest<Item>
  map: (request: OtlpRequest<Item>, origin: MappedRequest) => Mapped
}

const nothing: ExportResult = { rejected: 0, message: '', ingest_request_id: '' }

function decodeBody<Item>(decode: ItemKind<Item>['decode'], body: Buffer): OtlpRequest<Item> {
  try {
    return decode(body)
  } catch (cause) {
    if (!(cause instanceof OtlpDecodeError)) throw cause
    throw problem('invalid_request', { detail: cause.message, cause })
  }
}

async function mapInSlices<Item extends { trace_id: string }>(
  request: ExportRequest,
  found: OtlpRequest<Item>,
  map: ItemKind<Item>['map'],
): Promise<Mapped> {
  if (request.body.length < slicedFromBytes) return map(found, request)
  const all: Mapped = { records: noRecords(), rejected: new Map() }
  for (const slice of splitIntoSlices(found, sliceItems)) {
    await setImmediate()
    const { records, rejected } = map(slice, request)
    append(all.records, records)
    for (const [reason, items] of rejected) {
      all.rejected.set(reason, (all.rejected.get(reason) ?? 0) + items)
    }
  }
  return all
}

function noRecords(): IngestRecords {
  return { traces: [], observations: [], events: [], links: [], correlations: [] }
}

/** Pushes records one by one, because spreading many thousands would overflow the stack. */
function append(all: IngestRecords, more: IngestRecords): void {
  for (const record of more.traces) all.traces.push(record)
  for (const record of more.observations) all.observations.push(record)
  for (const record of more.events) all.events.push(record)
  for (const record of more.links) all.links.push(record)
  for (const record of more.correlations) all.correlations.push(record)
}

type Counts = Readonly<Record<string, number>>

function sumOf(counts: Counts, more: Iterable<readonly [string, number]>): Record<string, number> {
  const sum = { ...counts }
  for (const [reason, items] of more) sum[reason] = (sum[reason] ?? 0) + items
  return sum
}

/**
 * Describes the rejected items for the client. Items that its project's own policy leaves out are
 * not the client's fault, so they are not reported.
 */
function describeRejection<Item>(
  refused: Counts,
  { items, first_rejection }: OtlpRequest<Item>,
): Pick<ExportResult, 'rejected' | 'message'> {
  const reasons = Object.entries(refused)
  const rejected = reasons.reduce((sum, [, count]) => sum + count, 0)
  if (rejected === 0) return { rejected, message: '' }
  const counts = reasons.map(([reason, count]) => `${count} ${reason}`).join(', ')
  const first = first_rejection === '' ? '' : `; the first: ${first_rejection}`
  const hints = reasons.map(([reason]) => hintsByReason[reason] ?? '').join('')
  return { rejected, message: `${rejected} of ${items} rejected: ${counts}${first}${hints}` }
}

/** Advice about items that the mapping refused. */
const hintsByReason: Readonly<Record<string, string>> = {
  unknown_metric:
    '; metrics of Claude Code, Codex and Gemini CLI are taken (claude_code.*, codex.*, gemini_cli.*): send only traces and logs of other programs',
  not_a_genai_event:
    '; log records with GenAI events (gen_ai.*) and those of Claude Code, Codex and Gemini CLI are taken',
  no_trace_id:
    '; a log record needs a trace id, or the attribute session.id or gen_ai.conversation.id',
}

/** A part of a request. Its last group has items of the group `source`. */
type Slice<Item> = {
  groups: OtlpGroup<Item>[]
  items: number
  source: OtlpGroup<Item> | undefined
}

/**
 * Splits a request into slices of about `items_max` items. The items of a trace stay together and
 * in order, because the mapper relates them; so a large trace makes a large slice. Counts of the
 * whole request are not split.
 */
export function splitIntoSlices<Item extends { trace_id: string }>(
  request: OtlpRequest<Item>,
  items_max: number,
): OtlpRequest<Item>[] {
  const slices: Slice<Item>[] = []
  const byTrace = new Map<string, Slice<Item>>()
  let open: Slice<Item> | undefined
  for (const group of request.groups) {
    for (const item of group.items) {
      let slice = item.trace_id === '' ? undefined : byTrace.get(item.trace_id)
      if (slice === undefined) {
        if (open === undefined || open.items >= items_max) {
          open = { groups: [], items: 0, source: undefined }
          slices.push(open)
        }
        slice = open
        byTrace.set(item.trace_id, slice)
      }
      put(slice, group, item)
    }
  }
  return slices.map(({ groups, items }) => ({
    groups,
    items,
    rejected: new Map(),
    first_rejection: '',
    warnings: new Map(),
  }))
}

function put<Item>(slice: Slice<Item>, group: OtlpGroup<Item>, item: Item): void {
  if (slice.source !== group) {
    slice.source = group
    slice.groups.push({ resource: group.resource, scope: group.scope, items: [] })
  }
  slice.groups.at(-1)?.items.push(item)
  slice.items += 1
}
