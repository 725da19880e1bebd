import { hash } from 'node:crypto'
import { derivedId } from '../../../kernel/ids.ts'
import { isModelCall, type Observation } from '../../../model/observation.ts'

/** A row of a trace, as far as it matters which calls are the same. */
export type CallRow = Pick<
  Observation,
  | 'observation_id'
  | 'parent_observation_id'
  | 'type'
  | 'status'
  | 'source'
  | 'start_time'
  | 'end_time'
  | 'model'
  | 'model_requested'
  | 'response_id'
  | 'usage_source'
  | 'cost_usd'
> & { content_state?: Observation['content_state'] }

/**
 * Finds the rows of one trace that describe a model call which another row counts, and returns the
 * id of that row for each of them. The same call can arrive as the proxy's record, as a span of the
 * client's library and as a span of a framework around it:
 * - A call is the same as the nearest call around it if no tool and no agent is between, both ended
 *   alike, and they name one model or one response of the provider. Of several calls inside, one is
 *   the same: the one with its response, else the last. So each retry counts, and a fallback to
 *   another model.
 * - The proxy's record and a span are the same call if they name one response and overlap in time. So
 *   are the record that began a background response and that of its retrieval.
 * - Two spans below one parent are the same call if they name one response and one lasts within the
 *   other: the client of a provider and an instrumentation of it may both report, side by side.
 *
 * The row that counts is one with the usage of the provider and a cost, if there is one; among those,
 * one with content; among those, the proxy's record, else the innermost. The order of the rows does not
 * matter.
 */
export function findSameCalls(rows: readonly CallRow[]): Map<CallRow, string> {
  const calls = rows.filter(isModelCall).toSorted(compareRows)
  const groups = new Groups(calls)
  for (const [outer, inner] of nestedCalls(rows, calls)) groups.join(outer, inner)
  for (const [record, span] of answeredCalls(calls)) groups.join(record, span)
  for (const [outer, inner] of enclosedCalls(calls)) groups.join(outer, inner)
  const same = new Map<CallRow, string>()
  for (const group of groups.all()) {
    const [counts] = group.toSorted(compareRanks)
    for (const row of group) {
      if (row !== counts && counts !== undefined) same.set(row, counts.observation_id)
    }
  }
  return same
}

/**
 * Returns whether a call may turn out to be the same as one around it that is not here: its ancestors,
 * up to the first call, tool or agent, lead to one that is missing.
 */
export function hasOpenCall(rows: readonly CallRow[]): boolean {
  const byId = new Map(rows.map((row) => [row.observation_id, row]))
  const passed = new Set<CallRow>()
  const isOpen = (call: CallRow) => {
    for (let at = call; !passed.has(at); ) {
      passed.add(at)
      const { parent_observation_id } = at
      const parent = byId.get(parent_observation_id)
      if (parent === undefined) return parent_observation_id !== ''
      if (borders.has(parent.type) || isModelCall(parent)) return false
      at = parent
    }
    return false
  }
  return rows.some((row) => isModelCall(row) && isOpen(row))
}

/** Types of observations that begin work of their own: a call inside is not the one around. */
const borders: ReadonlySet<string> = new Set(['tool', 'agent'])

/** Yields each call with the one inside it that is the same. */
function* nestedCalls(
  rows: readonly CallRow[],
  calls: readonly CallRow[],
): Generator<[CallRow, CallRow]> {
  const callAround = callsAround(rows)
  const inside = new Map<CallRow, CallRow[]>()
  for (const call of calls) {
    const outer = callAround(call)
    if (outer === undefined || !isAlike(outer, call)) continue
    const known = inside.get(outer)
    if (known === undefined) inside.set(outer, [call])
    else known.push(call)
  }
  for (const [outer, inner] of inside) {
    const answered = inner.filter(({ response_id }) => isOneResponse(outer, response_id))
    const same = (answered.length > 0 ? answered : inner).at(-1)
    if (same !== undefined) yield [outer, same]
  }
}

/** Returns the search for the nearest call around a row; each row is passed once. */
function callsAround(rows: readonly CallRow[]): (row: CallRow) => CallRow | undefined {
  const byId = new Map<string, CallRow>()
  for (const row of rows.toSorted(compareRows)) {
    if (!byId.has(row.observation_id)) byId.set(row.observation_id, row)
  }
  const found = new Map<CallRow, CallRow | undefined>()
  return (row) => {
    const passed: CallRow[] = []
    let outer: CallRow | undefined
    for (let at: CallRow | undefined = row; at !== undefined; ) {
      if (found.has(at)) {
        outer = found.get(at)
        break
      }
      // Until it is known: a cycle ends here.
      found.set(at, undefined)
      passed.push(at)
      const parent: CallRow | undefined = byId.get(at.parent_observation_id)
      if (parent === undefined || borders.has(parent.type)) break
      if (isModelCall(parent)) {
        outer = parent
        break
      }
      at = parent
    }
    for (const one of passed) found.set(one, outer)
    return outer
  }
}

function isAlike(outer: CallRow, inner: CallRow): boolean {
  if (outer === inner || outer.status !== inner.status || outer.type !== inner.type) return false
  if (outer.response_id !== '' && inner.response_id !== '') {
    return outer.response_id === inner.response_id
  }
  const models = modelsOf(outer)
  return modelsOf(inner).some((model) => models.includes(model))
}

function isOneResponse({ response_id }: CallRow, other: string): boolean {
  return response_id !== '' && response_id === other
}

/** Returns the names of a call's model, without the provider that some libraries put before them. */
function modelsOf({ model, model_requested }: CallRow): string[] {
  const names = [model, model_requested].filter((name) => name !== '')
  return names.map((name) => name.slice(name.lastIndexOf('/') + 1).toLowerCase())
}

/** Yields the records of the proxy with the spans that name the same response of the provider. */
function* answeredCalls(calls: readonly CallRow[]): Generator<[CallRow, CallRow]> {
  const named = calls.filter(({ response_id }) => response_id !== '')
  for (const same of Map.groupBy(named, ({ response_id }) => response_id).values()) {
    const records = same.filter(isRecord)
    for (const span of same) {
      if (isRecord(span)) continue
      const overlapping = records.filter((record) => overlap(record, span))
      const record = overlapping.find((one) => one.start_time >= span.start_time)
      const nearest = record ?? overlapping.at(-1)
      if (nearest !== undefined) yield [nearest, span]
    }
  }
}

/** Returns whether a row is the proxy's record of a call, and not of a response retrieved later. */
function isRecord(row: CallRow): boolean {
  return row.source === 'proxy' && !isRetrieved(row)
}

/**
 * Returns the ids of the record of a response that clients retrieve. Every exchange that retrieves one
 * has the same, so that the last state of the response is recorded once.
 */
export function retrievedCallIds(
  project_id: string,
  response_id: string,
): Pick<Observation, 'trace_id' | 'observation_id'> {
  return {
    trace_id: derivedId(project_id, `retrieved ${response_id}`),
    observation_id: observationIdFor(response_id),
  }
}

/** Returns whether a row is the record of a retrieved response, and not of the call that began it. */
export function isRetrieved({
  source,
  response_id,
  observation_id,
}: Pick<Observation, 'source' | 'response_id' | 'observation_id'>): boolean {
  return (
    source === 'proxy' && response_id !== '' && observation_id === observationIdFor(response_id)
  )
}

function observationIdFor(response_id: string): string {
  return hash('sha256', `retrieved ${response_id}`, 'hex').slice(0, 16)
}

/**
 * Yields each span with the one below the same parent that names the same response and lasts within it.
 * With several such spans none is yielded: a server that names every response alike must not make one
 * call of many.
 */
function* enclosedCalls(calls: readonly CallRow[]): Generator<[CallRow, CallRow]> {
  const spans = calls.filter(
    ({ source, response_id, parent_observation_id }) =>
      source !== 'proxy' && response_id !== '' && parent_observation_id !== '',
  )
  const placeOf = (call: CallRow) => `${call.parent_observation_id} ${call.response_id}`
  for (const same of Map.groupBy(spans, placeOf).values()) {
    const [first, second, ...more] = same
    if (first === undefined || second === undefined || more.length > 0) continue
    if (!isAlike(first, second)) continue
    if (lastsWithin(second, first)) yield [first, second]
    else if (lastsWithin(first, second)) yield [second, first]
  }
}

/** One process measures both, with one clock. */
function lastsWithin(inner: CallRow, outer: CallRow): boolean {
  return inner.start_time >= outer.start_time && inner.end_time <= outer.end_time
}

/** Clocks of two machines may differ by this much. */
const clocks_ns = 5_000_000_000n

/** A server that names every response alike must not make one call of many. */
function overlap(a: CallRow, b: CallRow): boolean {
  return a.start_time <= b.end_time + clocks_ns && b.start_time <= a.end_time + clocks_ns
}

/** Joins calls to groups of the same call. A group has at most one record of the proxy. */
class Groups {
  readonly #groupOf = new Map<CallRow, CallRow[]>()

  constructor(calls: readonly CallRow[]) {
    for (const call of calls) this.#groupOf.set(call, [call])
  }

  join(a: CallRow, b: CallRow): void {
    const [into, from] = [this.#groupOf.get(a), this.#groupOf.get(b)]
    if (into === undefined || from === undefined || into === from) return
    const records = [...into, ...from].filter(isRecord)
    if (records.length > 1) return
    into.push(...from)
    for (const call of from) this.#groupOf.set(call, into)
  }

  all(): ReadonlySet<CallRow[]> {
    return new Set(this.#groupOf.values())
  }
}

/** Orders rows by start, then id: those that are sent in any order come in one. */
function compareRows(a: CallRow, b: CallRow): number {
  if (a.start_time !== b.start_time) return a.start_time < b.start_time ? -1 : 1
  if (a.observation_id !== b.observation_id) return a.observation_id < b.observation_id ? -1 : 1
  return 0
}

/** The row that counts comes first. */
function compareRanks(a: CallRow, b: CallRow): number {
  return rankOf(b) - rankOf(a) || compareRows(b, a)
}

function rankOf(row: CallRow): number {
  const { usage_source, cost_usd, content_state } = row
  const hasContent = content_state === 'full' || content_state === 'truncated'
  const facts = [
    ...[usage_source === 'provider', cost_usd !== null],
    ...[hasContent, isRecord(row)],
  ]
  return facts.reduce((rank, fact) => 2 * rank + (fact ? 1 : 0), 0)
}
