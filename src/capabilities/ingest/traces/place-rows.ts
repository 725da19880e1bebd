import { type LinkedCall, nearestGivers } from '../../records/call-task/index.ts'
import { type Owner, resolveOwners } from '../../records/ownership/index.ts'
import { type CallRow, findSameCalls, isRetrieved } from '../../records/same-call/index.ts'
import type { StoredHead } from '../../storage/index.ts'
import { type TraceBits, withCallBits } from './note-bits.ts'
import type { ForeignRecord } from './recent-responses.ts'

/** A stored row with another owner, or that another row counts, from now on. */
export type PlacedChange = {
  row: StoredHead
  to: Owner & Pick<StoredHead, 'counted_with'>
}

/** The changes of the rows of traces, and the bits of each trace. */
export type Placed = { changes: PlacedChange[]; settled: Map<string, TraceBits> }

/**
 * Finds for the rows of whole traces of one project to whom they belong, and which row counts a call;
 * pure. `foreign`: records of the proxy in other traces that name the response of a span. The record
 * counts the call, and belongs to the owner of the span, as if it were its child. `linked`: the links
 * of the calls. A call without a parent belongs to the owner of the call that it continues.
 */
export function placeRows(
  rows: readonly StoredHead[],
  foreign: readonly ForeignRecord[],
  linked: readonly LinkedCall[] = [],
): Placed {
  const byTrace = Map.groupBy(rows, ({ trace_id }) => trace_id)
  const records = Map.groupBy(foreign, ({ span_trace_id }) => span_trace_id)
  const countedWith = new Map<StoredHead, string>()
  const links = new Map<StoredHead, StoredHead>()
  for (const [trace_id, own] of byTrace) {
    const isRetrieval = own.some(isRetrieved)
    const others = (records.get(trace_id) ?? []).map((one) => toCallRow(one, isRetrieval))
    const known = new Set<CallRow>(own)
    for (const [row, counts] of findSameCalls([...own, ...others])) {
      if (!known.has(row)) continue
      countedWith.set(row as StoredHead, counts)
      linkRecord(links, byTrace, { span: row as StoredHead, counts, others })
    }
  }
  linkCalls(links, byTrace, linked)
  const owners = new Map(
    resolveOwners(rows, links).changes.map(({ row, owner }) => [row, owner] as const),
  )
  const changes = rows.flatMap((row): PlacedChange[] => {
    const owner = owners.get(row)
    const counted_with = countedWith.get(row) ?? ''
    if (owner === undefined && counted_with === row.counted_with) return []
    return [{ row, to: { ...ownerOf(owner ?? row), counted_with } }]
  })
  const settled = [...byTrace].map(([id, own]) => {
    const has_merged = own.some((row) => countedWith.has(row))
    return [id, bitsOf(own, { owners, has_merged })] as const
  })
  return { changes, settled: new Map(settled) }
}

type Linking = { span: StoredHead; counts: string; others: readonly ForeignCall[] }

/**
 * A record that names its parent has its owner from there. A retrieved response belongs to the owner of
 * the record that began it.
 */
function linkRecord(
  links: Map<StoredHead, StoredHead>,
  byTrace: ReadonlyMap<string, readonly StoredHead[]>,
  { span, counts, others }: Linking,
): void {
  const record = others.find(({ observation_id }) => observation_id === counts)
  const row = byTrace.get(record?.trace_id ?? '')?.find((one) => one.observation_id === counts)
  if (row === undefined) return
  const [of, from] = isRetrieved(span) ? [span, row] : [row, span]
  if (of.parent_observation_id !== '') return
  // Of several spans the first counts, in any order of the rows.
  const known = links.get(of)
  if (known === undefined || isBefore(from, known)) links.set(of, from)
}

function isBefore(one: StoredHead, other: StoredHead): boolean {
  if (one.start_time !== other.start_time) return one.start_time < other.start_time
  const keyOf = ({ trace_id, observation_id }: StoredHead) => `${trace_id} ${observation_id}`
  return keyOf(one) < keyOf(other)
}

function linkCalls(
  links: Map<StoredHead, StoredHead>,
  byTrace: ReadonlyMap<string, readonly StoredHead[]>,
  linked: readonly LinkedCall[],
): void {
  const rowOf = ({ trace_id, observation_id }: LinkedCall) =>
    byTrace.get(trace_id)?.find((row) => row.observation_id === observation_id)
  for (const [call, giver] of nearestGivers(linked)) {
    const [row, before] = [rowOf(call), rowOf(giver)]
    if (row === undefined || before === undefined || links.has(row)) continue
    if (row.parent_observation_id === '') links.set(row, before)
  }
}

type ForeignCall = CallRow & { trace_id: string }

function toCallRow({ has_usage, ...record }: ForeignRecord, isRetrieval: boolean): ForeignCall {
  const row = {
    ...record,
    parent_observation_id: '',
    type: 'generation',
    status: 'ok',
    source: 'proxy',
    model: '',
    model_requested: '',
  } as const
  // A retrieved response counts only before a record without the usage of the provider.
  if (isRetrieved(row)) return { ...row, usage_source: 'provider', cost_usd: null }
  // The record that began a response counts before its retrieval only if it has the usage.
  if (isRetrieval && !has_usage)
    return { ...row, usage_source: 'none', cost_usd: null, content_state: 'full' }
  return {
    ...row,
    // The record counts even before a span with usage, cost and content.
    usage_source: 'provider',
    cost_usd: '',
    content_state: 'full',
  }
}

type PlacedRows = { owners: ReadonlyMap<StoredHead, Owner>; has_merged: boolean }

/** The bits of a trace as its rows are now. */
function bitsOf(rows: readonly StoredHead[], { owners, has_merged }: PlacedRows): TraceBits {
  const { gives, wants } = resolveOwners(rows.map((row) => ({ ...row, ...owners.get(row) })))
  return withCallBits(rows, { gives, wants, has_merged })
}

function ownerOf(owner: Owner): Owner {
  const { task_id, task_name, task_implicit, user_id, release } = owner
  const { conversation_id, conversation_external_id } = owner
  const talk = { conversation_id, conversation_external_id }
  return { task_id, task_name, task_implicit, user_id, release, ...talk }
}
