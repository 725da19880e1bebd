import { expect } from 'vitest'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { accountOf, expectFaithfulRows, type Recorded, recordedOf } from './bookkeeping.ts'
import { isTaken, type SentParcel } from './ingest-load.ts'
import { type ParcelRecords, recordKey } from './ingest-parcels.ts'
import type { LedgerPath, LedgerSums, LedgerWindow } from './ledger-sums.ts'
import type { ClientCall } from './load.ts'
import { printCounts } from './print-counts.ts'
import { expectRollUps, type Reader } from './roll-ups.ts'

/** The clients' view of a run: their requests and the answers. */
export type Sent = {
  run: string
  parcels: readonly SentParcel[]
  /** Completions through the proxy; none by default. */
  calls?: readonly ClientCall[]
  /** When the first was sent and when the last had ended. */
  window: LedgerWindow
}

/** The stores' and the ledger's data of a run. */
export type Held = {
  recorded: Recorded
  records: ParcelRecords
  ledger: Record<LedgerPath, LedgerSums>
}

/** The account of one path, in items as its clients count them. */
export type PathAccount = {
  sent: number
  told_accepted: number
  told_rejected: number
  /** Items of parcels without an accepting answer; only the stores know their outcome. */
  untold: number
  stored: number
  /** Rows beyond one per item that a reader sees. */
  duplicates: number
  /** Accepted items that no reader sees. */
  lost: number
  ledger_accepted: number
  ledger_stored: number
  ledger_rejected: number
  ledger_pending: number
  ledger_lost: number
}

/** Reads the tables' data of a run after everything has settled. */
export async function storedOf(
  columnar: ColumnarServer,
  { run }: Sent,
): Promise<Omit<Held, 'ledger'>> {
  const [recorded, events, links, traces] = await Promise.all([
    recordedOf(columnar, `${run}-`),
    keysIn(columnar, run, eventsSql),
    keysIn(columnar, run, linksSql),
    keysIn(columnar, run, tracesSql),
  ])
  const ofParcels = recorded.rows.filter(({ task_id }) => !isOfCall(run, task_id))
  const observations = ofParcels.map((row) => recordKey(row.trace_id, row.observation_id))
  return { recorded, records: { observations, events, links, traces } }
}

/** Rows as readers see them: one per record identity, the later write. */
const eventsSql = `select toString(trace_id) as trace_id, observation_id as id from events final
  where attributes['run'] = {run: String}`
const linksSql = `select toString(trace_id) as trace_id, toString(linked_trace_id) as id
  from links final where attributes['run'] = {run: String}`
const tracesSql = `select toString(trace_id) as trace_id, '' as id from traces final
  where metadata['run'] = {run: String}`

async function keysIn(columnar: ColumnarServer, run: string, sql: string): Promise<string[]> {
  const rows = await columnar.query<{ trace_id: string; id: string }>(sql, { run })
  return rows.map(({ trace_id, id }) => recordKey(trace_id, id))
}

/** Prefix of the load's task names. */
function isOfCall(run: string, task_id: string): boolean {
  return task_id.startsWith(`${run}-task-`)
}

/**
 * Compares the clients' answers with the stores and the ledger, prints the account, and expects
 * that nothing is lost, duplicated or invented:
 * - every accepted record is stored, readers see it once, and nothing else is stored;
 * - the ledger balances, with nothing pending and nothing lost;
 * - for canonical batches, whose key makes repeats one request, the ledger counts each item once:
 *   the accepted items, and those of unanswered batches that are stored;
 * - for OTLP, where each repeat is a separate request, it counts the accepted items, and at most
 *   one more for each repeat that got no answer or a retryable one (its spans may have been
 *   durable);
 * - for completions, it counts exactly those that are recorded.
 */
export async function expectBalanced(
  title: string,
  { sent, held, reader }: { sent: Sent; held: Held; reader: Reader },
): Promise<Record<LedgerPath, PathAccount>> {
  const accounts = {
    otlp: parcelAccount('otlp', sent, held),
    api: parcelAccount('api', sent, held),
    proxy: callAccount(sent, held),
  }
  for (const [path, account] of Object.entries(accounts)) {
    if (account.sent > 0) printCounts(`${title}, ${path}`, account)
  }
  expectNothingMadeUp(sent, held)
  expectToldTruth(sent)
  for (const path of ['otlp', 'api'] as const) {
    expect(accounts[path]).toMatchObject({ lost: 0, duplicates: 0 })
    expect(accounts[path]).toMatchObject({ ledger_pending: 0, ledger_lost: 0 })
    expectLedgerInRange(path, sent, held)
  }
  expect(accounts.proxy).toMatchObject({ duplicates: 0, ledger_pending: 0 })
  expect(accounts.proxy.ledger_stored).toBe(accounts.proxy.stored)
  for (const sums of Object.values(held.ledger)) expectSum(sums)
  await expectRollUps(reader, modelCallsOf(held.recorded))
  return accounts
}

function expectSum({ accepted, stored, rejected, pending, lost }: LedgerSums): void {
  expect(stored + rejected + pending + lost).toBe(accepted)
}

/** Roll-ups count model calls; tools are observations of a task but not calls. */
function modelCallsOf({ rows, raw_rows }: Recorded): Recorded {
  return { rows: rows.filter(({ type }) => type === 'generation'), raw_rows }
}

function pathOf({ way }: SentParcel): LedgerPath {
  return way === 'api' ? 'api' : 'otlp'
}

function keysOf(records: ParcelRecords): string[] {
  return Object.entries(records).flatMap(([kind, keys]) => keys.map((key) => `${kind} ${key}`))
}

/** Items of OTLP are spans; items of a batch are records of any kind. */
function itemKeysOf(path: LedgerPath, records: ParcelRecords): string[] {
  const { observations } = records
  return path === 'otlp'
    ? keysOf({ observations, events: [], links: [], traces: [] })
    : keysOf(records)
}

function parcelAccount(path: 'otlp' | 'api', { parcels }: Sent, held: Held): PathAccount {
  const mine = parcels.filter((parcel) => pathOf(parcel) === path)
  const own = new Set(mine.flatMap(({ records }) => keysOf(records)))
  const rows = keysOf(held.records).filter((key) => own.has(key))
  const seen = new Set(rows)
  const taken = mine.filter(isTaken)
  const untold = mine.filter((parcel) => !isTaken(parcel))
  const items = (some: readonly SentParcel[]) => some.reduce((sum, one) => sum + one.items, 0)
  const rejected = taken.reduce((sum, { told }) => sum + (told.at(-1)?.rejected ?? 0), 0)
  // Events and links of a span are not items, but they must not be lost either.
  const lost = taken.flatMap(({ records }) => keysOf(records)).filter((key) => !seen.has(key))
  const storedItems = mine
    .flatMap(({ records }) => itemKeysOf(path, records))
    .filter((key) => seen.has(key))
  return {
    sent: items(mine),
    told_accepted: items(taken) - rejected,
    told_rejected: rejected,
    untold: items(untold),
    stored: storedItems.length,
    duplicates: rows.length - seen.size,
    lost: lost.length,
    ...ledgerAccount(held.ledger[path]),
  }
}

function callAccount({ run, calls = [] }: Sent, { recorded, ledger }: Held): PathAccount {
  const rows = recorded.rows.filter(({ task_id }) => isOfCall(run, task_id))
  const account = accountOf(calls, { rows, raw_rows: recorded.raw_rows })
  expectFaithfulRows(calls, { rows, raw_rows: recorded.raw_rows })
  return {
    sent: account.sent,
    told_accepted: account.seen_complete,
    told_rejected: 0,
    untold: account.seen_otherwise,
    stored: account.recorded,
    duplicates: account.duplicates,
    lost: account.lost,
    ...ledgerAccount(ledger.proxy),
  }
}

function ledgerAccount({ accepted, stored, rejected, pending, lost }: LedgerSums) {
  return {
    ledger_accepted: accepted,
    ledger_stored: stored,
    ledger_rejected: rejected,
    ledger_pending: pending,
    ledger_lost: lost,
  }
}

function expectNothingMadeUp({ run, parcels }: Sent, { recorded, records }: Held): void {
  const sent = new Set(parcels.flatMap((parcel) => keysOf(parcel.records)))
  expect(keysOf(records).filter((key) => !sent.has(key))).toEqual([])
  const markers = new Map(
    parcels.flatMap(({ marker, records: { observations } }) =>
      observations.map((key) => [key, marker] as const),
    ),
  )
  for (const row of recorded.rows) {
    if (isOfCall(run, row.task_id)) continue
    const marker = markers.get(recordKey(row.trace_id, row.observation_id)) ?? ''
    expect(row.name).toBe(marker)
    if (row.type === 'generation') expect(row.input).toContain(marker)
  }
}

/** Expects that no answer is wrong and that only invalid items are rejected. */
function expectToldTruth({ parcels }: Sent): void {
  for (const { told, bad } of parcels) {
    expect(told.filter(({ outcome }) => outcome === 'wrong')).toEqual([])
    const last = told.at(-1)
    if (last?.outcome === 'taken') expect(last.rejected).toBe(bad)
  }
}

type Range = { min: number; max: number }

/** Bounds of accepted and rejected items in the ledger; see `expectBalanced`. */
function expectLedgerInRange(path: 'otlp' | 'api', { parcels }: Sent, held: Held): void {
  const accepted: Range = { min: 0, max: 0 }
  const rejected: Range = { min: 0, max: 0 }
  const requests: Range = { min: 0, max: 0 }
  for (const parcel of parcels) {
    if (pathOf(parcel) !== path) continue
    const sure = isTaken(parcel) ? 1 : 0
    const tries = path === 'otlp' ? parcel.told.length : 1
    for (const [range, count] of [
      [accepted, parcel.items],
      [rejected, parcel.bad],
      [requests, 1],
    ] as const) {
      range.min += sure * count
      range.max += tries * count
    }
  }
  const ledger = held.ledger[path]
  expectIn(`${path}: accepted`, ledger.accepted, accepted)
  expectIn(`${path}: rejected`, ledger.rejected, rejected)
  expectIn(`${path}: requests`, ledger.requests, requests)
  expectIn(`${path}: stored`, ledger.stored, {
    min: accepted.min - rejected.min,
    max: accepted.max - rejected.max,
  })
  if (path === 'otlp') return
  const own = new Set(parcels.flatMap((one) => (pathOf(one) === path ? keysOf(one.records) : [])))
  expect(ledger.stored).toBe(keysOf(held.records).filter((key) => own.has(key)).length)
}

function expectIn(what: string, value: number, { min, max }: Range): void {
  expect(value, `${what}: expected ${min} to ${max}`).toBeGreaterThanOrEqual(min)
  expect(value, `${what}: expected ${min} to ${max}`).toBeLessThanOrEqual(max)
}

const receipts_max = 100

/** Expects that every accepted request has a receipt with the same counts; checks a sample. */
export async function expectReceipts(
  { api_url, project_key }: Reader,
  { parcels }: Sent,
): Promise<void> {
  const taken = parcels.filter(isTaken)
  const step = Math.max(1, Math.floor(taken.length / receipts_max))
  for (let at = 0; at < taken.length; at += step) {
    const parcel = taken[at]
    const last = parcel?.told.at(-1)
    if (parcel === undefined || last === undefined) continue
    const url = `${api_url}/api/v2/observability/ingest/${last.ingest_request_id}`
    const answer = await fetch(url, { headers: { 'x-api-key': project_key } })
    const { observations, events, links } = parcel.records
    expect(await answer.json()).toMatchObject({
      ingest_request_id: last.ingest_request_id,
      status: observations.length > 0 ? 'succeeded' : 'failed',
      result_payload: {
        observations: observations.length,
        events: events.length,
        links: links.length,
        rejected: parcel.bad,
      },
    })
  }
}
