import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type LedgerQuery,
  type LedgerStore,
  type LedgerSums,
  openClickHouseLedgerStore,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { ingestPaths } from '../../src/model/ingest-records.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import { type ColumnarServer, openColumnar } from '../../src/platform/columnar/index.ts'
import {
  columnarOptions,
  mergeParts,
  migratedClickHouse,
  setMerges,
  testClickHouse,
} from '../support/clickhouse.ts'
import { entryOf, start } from '../support/records.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

let columnar: ColumnarServer
let store: LedgerStore
/** The same, with a clock that a test sets; each reading takes a millisecond. */
let timed: LedgerStore

beforeAll(async () => {
  columnar = await migratedClickHouse(await testClickHouse('own'))
  // Versions must exist side by side until a test is done with them.
  await setMerges(columnar, 'ingest_ledger', 'STOP')
  store = openClickHouseLedgerStore({ columnar })
  timed = openClickHouseLedgerStore({ columnar, lag_ms_max: 0, clock: { now_ms: () => now_ms++ } })
})
afterAll(() => columnar?.close())

let now_ms = 0
const hour_ms = 3_600_000

const start_ms = Number(start / 1_000_000n)
const day_ms = 86_400_000
const query: LedgerQuery = {
  from_ms: start_ms,
  to_ms: start_ms + day_ms,
  lost_before_ms: undefined,
}
/** After every entry that a test writes. */
const later = { ...query, lost_before_ms: Date.now() + day_ms }

const insert = (...entries: LedgerEntry[]) => store.insertEntries(entries, { token: newId() })

describe('sums', () => {
  test('the newest settled side counts, and each message once', async () => {
    const ids = { project_id: newId(), ingest_request_id: newId() }
    const accepted = entryOf({ ...ids, masked: 4 })
    await insert(accepted, accepted)
    expect(await store.sums(ids.project_id, query)).toEqual([
      { ...nothing, path: 'otlp', requests: 1, accepted: 10, pending: 10, masked: 4 },
    ])
    const refused = { stored: 7, rejected: { refused_by_store: 3 } }
    const first = entryOf({ ...ids, side: 'settled', ...refused })
    const replayed = entryOf({ ...ids, side: 'settled', settled_at_ms: start_ms + 9000, masked: 4 })
    await insert(first)
    expect(await store.sums(ids.project_id, query)).toMatchObject([
      { accepted: 10, stored: 7, pending: 0, rejected: { refused_by_store: 3 }, lost: {} },
    ])
    await insert(replayed)
    await insert(first, accepted)
    const end = [{ ...nothing, path: 'otlp', requests: 1, accepted: 10, stored: 10, masked: 4 }]
    expect(await store.sums(ids.project_id, query)).toEqual(end)
    expect(await store.sums(ids.project_id, later)).toEqual(end)
    await setMerges(columnar, 'ingest_ledger', 'START')
    await mergeParts(columnar, 'ingest_ledger')
    await setMerges(columnar, 'ingest_ledger', 'STOP')
    expect(await store.sums(ids.project_id, query)).toEqual(end)
  })

  test('items that the edge refused or lost need no settled side', async () => {
    const project_id = newId()
    const rejected = { sampled: 3, invalid_trace_id: 1 }
    await insert(
      entryOf({ project_id, message_id: '', items: 4, rejected }),
      entryOf({ project_id, message_id: '', items: 2, lost: { spool_full: 2 }, path: 'api' }),
    )
    const sums = await store.sums(project_id, later)
    expect(sums.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { ...nothing, path: 'api', requests: 1, accepted: 2, lost: { spool_full: 2 } },
      { ...nothing, path: 'otlp', requests: 1, accepted: 4, rejected },
    ])
  })

  test('unsettled items are lost once no message can hold them', async () => {
    const project_id = newId()
    await insert(entryOf({ project_id }))
    await insert(entryOf({ project_id, side: 'settled' }))
    expect(await store.sums(project_id, { ...query, lost_before_ms: start_ms })).toMatchObject([
      { accepted: 20, stored: 10, pending: 10, lost: {} },
    ])
    expect(await store.sums(project_id, later)).toMatchObject([
      { accepted: 20, stored: 10, pending: 0, lost: { not_settled: 10 } },
    ])
  })

  test('a settled side that does not add up leaves items unexplained', async () => {
    const project_id = newId()
    await insert(
      entryOf({ project_id, side: 'settled', stored: 6, rejected: { a: 1 }, lost: { a: 1 } }),
      entryOf({ project_id, side: 'settled', path: 'api', items: 1, stored: 2 }),
    )
    const sums = await store.sums(project_id, later)
    expect(sums.find(({ path }) => path === 'otlp')).toMatchObject({
      accepted: 10,
      stored: 6,
      rejected: { a: 1 },
      lost: { a: 1, not_explained: 2 },
    })
    expect(sums.find(({ path }) => path === 'api')).toMatchObject({ accepted: 2, stored: 2 })
  })

  test('of a window, a path and a reason', async () => {
    const project_id = newId()
    await insert(
      entryOf({ project_id, message_id: '', items: 1, rejected: { sampled: 1 } }),
      entryOf({ project_id, path: 'api', received_at_ms: start_ms + hour_ms }),
      entryOf({ project_id, path: 'proxy', received_at_ms: start_ms + 2 * hour_ms }),
      entryOf({ project_id, path: 'proxy', received_at_ms: start_ms - 1 }),
      entryOf({ project_id, path: 'proxy', received_at_ms: start_ms + day_ms }),
    )
    const paths = async (about: Partial<LedgerQuery>) =>
      (await store.sums(project_id, { ...query, ...about })).map(({ path }) => path).toSorted()
    expect(await paths({})).toEqual(['api', 'otlp', 'proxy'])
    expect(await paths({ to_ms: start_ms + hour_ms })).toEqual(['otlp'])
    expect(await paths({ from_ms: start_ms + 1, to_ms: start_ms + 2 * hour_ms })).toEqual(['api'])
    expect(await paths({ path: 'proxy' })).toEqual(['proxy'])
    expect(await paths({ reason: 'sampled' })).toEqual(['otlp'])
    expect(await paths({ ...later, reason: 'not_settled' })).toEqual(['api', 'proxy'])
    expect(await paths({ reason: 'none' })).toEqual([])
  })

  test('are exact for any deliveries, in any order and number', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { minLength: 1, maxLength: 12 }), async (messages) => {
        const project_id = newId()
        const entries = messages.flatMap((message, index) => entriesOf(message, project_id, index))
        // Each batch is one insert: versions within and across parts.
        for (const batch of batchesOf(entries)) await insert(...batch)
        const expected = expectedOf(messages)
        expect(totalsOf(await store.sums(project_id, query))).toEqual({ ...expected, lost: 0 })
        expect(totalsOf(await store.sums(project_id, later))).toEqual({
          ...expected,
          lost: expected.pending,
          pending: 0,
        })
      }),
      { numRuns: fuzzRuns(15) },
    )
  })
})

describe('closed hours', () => {
  const closeAll = () => timed.closeHours({ hours_max: 1000 })
  /** In the middle of the window's third hour. */
  const received_at_ms = start_ms + 2.5 * hour_ms
  const hourOf = Math.floor(received_at_ms / hour_ms) * hour_ms
  const dead = { stored: 0, rejected: { refused_by_store: 10 } }

  /** An hour with a settled request, summed. */
  async function closedHour() {
    const project_id = newId()
    const entry = entryOf({ project_id, received_at_ms, side: 'settled', ...dead })
    now_ms = received_at_ms + 60_000
    await timed.insertEntries([entry], { token: newId() })
    now_ms = hourOf + 4 * hour_ms
    await closeAll()
    return { project_id, entry }
  }

  /** A late entry without a note: sums of the hour cannot know of it. */
  async function slipIn(project_id: string) {
    const then_ms = now_ms
    now_ms = received_at_ms
    const entry = entryOf({ project_id, received_at_ms, side: 'settled', path: 'api' })
    await timed.insertEntries([entry], { token: newId() })
    now_ms = then_ms
  }

  test('are answered from their sums, and only as a whole', async () => {
    const { project_id } = await closedHour()
    await slipIn(project_id)
    const sums = { ...nothing, path: 'otlp', requests: 1, accepted: 10 }
    expect(await timed.sums(project_id, later)).toEqual([{ ...sums, rejected: dead.rejected }])
    const part = { ...later, from_ms: hourOf + 1, to_ms: hourOf + hour_ms }
    expect(await timed.sums(project_id, part)).toHaveLength(2)
    expect(await timed.sums(project_id, { ...later, path: 'api' })).toEqual([])
    expect(await timed.sums(newId(), later)).toEqual([])
  })

  test('are read entry by entry for a reason that they have', async () => {
    const { project_id, entry } = await closedHour()
    const other = entryOf({ project_id, received_at_ms, side: 'settled' })
    await timed.insertEntries([other], { token: newId() })
    await closeAll()
    const by = (reason: string) => timed.sums(project_id, { ...later, reason })
    expect(await by('refused_by_store')).toMatchObject([{ requests: 1, accepted: entry.items }])
    expect(await by('sampled')).toEqual([])
  })

  test('a late entry counts at once, and is summed again', async () => {
    const { project_id, entry } = await closedHour()
    now_ms += 14 * day_ms
    const replayed = { ...entry, stored: 10, rejected: {}, settled_at_ms: now_ms }
    await timed.insertEntries([replayed], { token: newId() })
    const sums = [{ ...nothing, path: 'otlp', requests: 1, accepted: 10, stored: 10 }]
    expect(await timed.sums(project_id, later)).toEqual(sums)
    expect(await closeAll()).toBeGreaterThan(0)
    await slipIn(project_id)
    expect(await timed.sums(project_id, later)).toEqual(sums)
  })

  test('with pending items stay open; recent hours are not summed', async () => {
    const project_id = newId()
    now_ms = received_at_ms + 60_000
    await timed.insertEntries([entryOf({ project_id, received_at_ms })], { token: newId() })
    now_ms = hourOf + 4 * hour_ms
    await closeAll()
    expect(await timed.sums(project_id, query)).toMatchObject([{ pending: 10 }])
    const settled = entryOf({ project_id, received_at_ms: now_ms, side: 'settled' })
    await timed.insertEntries([settled], { token: newId() })
    await closeAll()
    await slipIn(project_id)
    expect(await timed.sums(project_id, query)).toHaveLength(2)
  })

  /** Sums over windows without a whole hour. */
  async function entryByEntry(project_id: string) {
    const first_ms = Math.floor(start_ms / hour_ms) * hour_ms - hour_ms / 2
    const windows = [0, 1, 2, 3, 4].map((n) => first_ms + n * hour_ms)
    const sums = windows.map((from_ms) =>
      timed.sums(project_id, { ...query, from_ms, to_ms: from_ms + hour_ms }),
    )
    return (await Promise.all(sums)).flat()
  }

  test('sums are exact whenever hours are summed, and whenever entries arrive', async () => {
    const steps = fc.array(
      fc.record({ take: fc.integer({ min: 1, max: 6 }), close: fc.boolean(), later_h: fc.nat(30) }),
      { minLength: 1, maxLength: 3 },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { maxLength: 8 }), steps, async (messages, given) => {
        const project_id = newId()
        // Hours apart, so that several are summed and each changes separately.
        const entries = messages.flatMap((message, index) =>
          entriesOf(message, project_id, (index % 3) * 61),
        )
        now_ms = start_ms + 60_000
        for (const { take, close, later_h } of given) {
          await timed.insertEntries(entries.splice(0, take), { token: newId() })
          now_ms += later_h * hour_ms
          if (close) await closeAll()
          const sums = await timed.sums(project_id, query)
          expect(totalsOf(sums)).toEqual(totalsOf(await entryByEntry(project_id)))
        }
        await timed.insertEntries(entries, { token: newId() })
        expect(totalsOf(await timed.sums(project_id, query))).toEqual({
          ...expectedOf(messages),
          lost: 0,
        })
      }),
      { numRuns: fuzzRuns(4) },
    )
  })
})

describe('receipts', () => {
  test('have one entry for each message of the request, in the version that counts', async () => {
    const ids = { project_id: newId(), ingest_request_id: newId() }
    const edge = entryOf({ ...ids, message_id: '', items: 1, rejected: { invalid_trace_id: 1 } })
    const open = entryOf({ ...ids, message_id: 'm1', masked: 2 })
    const settled = entryOf({
      ...ids,
      message_id: 'm2',
      side: 'settled',
      stored: 8,
      rejected: { refused_by_store: 2 },
      error_reason: '2 rows did not fit: é',
      records: { traces: 1, observations: 8, events: 3, links: 2, correlations: 4 },
    })
    const others = [entryOf({ ...ids, message_id: 'm2' }), entryOf(ids)]
    await insert(settled, ...others)
    await insert(edge, open, { ...settled, settled_at_ms: settled.settled_at_ms - 1, stored: 0 })
    await insert(edge, open, entryOf({ project_id: ids.project_id }))
    const receipt = await store.receipt(ids.project_id, ids.ingest_request_id)
    expect(receipt).toEqual([edge, open, settled])
    expect(await store.receipt(newId(), ids.ingest_request_id)).toEqual([])
    expect(await store.receipt(ids.project_id, newId())).toEqual([])
  })
})

describe('limits and isolation', () => {
  test('another project sees nothing', async () => {
    const entry = entryOf({ project_id: newId() })
    await insert(entry)
    expect(await store.sums(entry.project_id, query)).toHaveLength(1)
    expect(await store.sums(newId(), query)).toEqual([])
  })

  test('reasons may have any characters', async () => {
    const project_id = newId()
    const reason = `__proto__'\\\n{x:String} é🦊`
    await insert(entryOf({ project_id, message_id: '', items: 1, rejected: { [reason]: 1 } }))
    const [sums] = await store.sums(project_id, { ...query, reason })
    expect(sums?.rejected).toEqual({ [reason]: 1 })
  })

  test('an empty write is no error', async () => {
    await expect(insert()).resolves.toBeUndefined()
  })

  test('an unavailable store is a retryable problem', async () => {
    const away = openColumnar({
      ...columnarOptions({ ...(await testClickHouse()), url: 'http://127.0.0.1:1' }),
    })
    const lost = openClickHouseLedgerStore({ columnar: away })
    const failure = await lost.sums(newId(), query).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'store_unavailable' })
    await away.close()
  })
})

const nothing = {
  requests: 0,
  accepted: 0,
  stored: 0,
  pending: 0,
  masked: 0,
  rejected: {},
  lost: {},
}

/**
 * A request in one message, its settlements in order of time, and how often each entry was
 * delivered.
 */
type Message = {
  path: LedgerEntry['path']
  items: number
  /** Items that the edge refused. */
  edge: number
  accepted_came: number
  /** Stored items of each settlement, modulo the items; the last one counts. */
  settled: number[]
  came: number
}

const anyMessage: fc.Arbitrary<Message> = fc.record({
  path: fc.constantFrom(...ingestPaths),
  items: fc.integer({ min: 1, max: 1000 }),
  edge: fc.integer({ min: 0, max: 5 }),
  accepted_came: fc.integer({ min: 1, max: 3 }),
  settled: fc.array(fc.nat(), { maxLength: 3 }),
  came: fc.integer({ min: 1, max: 3 }),
})

function entriesOf(message: Message, project_id: string, index: number): LedgerEntry[] {
  const { path, items, edge, settled } = message
  const received_at_ms = start_ms + index * 60_000
  const ids = { project_id, ingest_request_id: newId(), path, received_at_ms }
  const accepted = entryOf({ ...ids, items })
  const refused = entryOf({ ...ids, message_id: '', items: edge, rejected: { sampled: edge } })
  const settlements = settled.map((draw, at) => {
    const stored = draw % (items + 1)
    const rejected = { [`reason_${at}`]: items - stored }
    const settled_at_ms = received_at_ms + 1 + at
    return entryOf({ ...ids, side: 'settled', items, stored, rejected, settled_at_ms })
  })
  const repeated = (entry: LedgerEntry, times: number) => Array(times).fill(entry) as LedgerEntry[]
  return [
    ...settlements.toReversed().flatMap((entry) => repeated(entry, message.came)),
    ...repeated(accepted, message.accepted_came),
    ...(edge > 0 ? repeated(refused, message.came) : []),
  ]
}

const itemsStored = ({ settled, items }: Message) => (settled.at(-1) ?? 0) % (items + 1)

function expectedOf(messages: readonly Message[]) {
  const open = messages.filter(({ settled }) => settled.length === 0)
  return {
    requests: messages.length,
    accepted: sum(messages, ({ items, edge }) => items + edge),
    stored: sum(messages, itemsStored),
    rejected:
      sum(messages, ({ items, edge }) => items + edge) -
      sum(messages, itemsStored) -
      sum(open, ({ items }) => items),
    pending: sum(open, ({ items }) => items),
  }
}

function totalsOf(sums: readonly LedgerSums[]) {
  for (const one of sums) {
    const refused = total(one.rejected) + total(one.lost)
    expect(one.accepted).toBe(one.stored + refused + one.pending)
  }
  return {
    requests: sum(sums, ({ requests }) => requests),
    accepted: sum(sums, ({ accepted }) => accepted),
    stored: sum(sums, ({ stored }) => stored),
    rejected: sum(sums, ({ rejected }) => total(rejected)),
    pending: sum(sums, ({ pending }) => pending),
    lost: sum(sums, ({ lost }) => total(lost)),
  }
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((all, item) => all + of(item), 0)
}

/** Three inserts, distributed in turn. */
function batchesOf(entries: readonly LedgerEntry[]): LedgerEntry[][] {
  return [0, 1, 2].map((turn) => entries.filter((_, index) => index % 3 === turn))
}

function total(counts: Readonly<Record<string, number>>): number {
  return sum(Object.values(counts), (count) => count)
}
