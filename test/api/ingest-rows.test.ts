import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import type { Observation } from '../../src/model/observation.ts'
import { ColumnarError } from '../../src/platform/columnar/index.ts'
import { type IngestBench, openIngestBench } from '../support/ingest.ts'
import { type MemoryStore, memoryStore } from '../support/memory-store.ts'
import { testPostgres } from '../support/postgres.ts'
import {
  eventRow,
  type FrameRequest,
  firstFormatRow,
  observationRow,
  rowFrame,
} from '../support/row-frames.ts'

const url = await testPostgres()

/** Everything that one test uses. */
type Scene = { store: MemoryStore; bench: IngestBench; project_id: string }

async function send(
  { bench, project_id }: Scene,
  requests: readonly FrameRequest[],
  about: { id?: string; row_format?: number; subject?: string } = {},
): Promise<void> {
  const { id = randomUUID(), subject = project_id, ...more } = about
  const data = rowFrame({ project_id, message_id: id, requests, ...more })
  await bench.queue.publish({ id, subject: `ingest.${subject}`, data })
}

/** Observations with these ids, each in its own trace. */
function rowsOf({ project_id }: Scene, ids: readonly string[], given: Partial<Observation> = {}) {
  return ids.map((observation_id) =>
    observationRow({ project_id, observation_id, task_id: 't', ...given }),
  )
}

function eventOf({ project_id }: Scene, event_id: string) {
  return eventRow({
    project_id,
    trace_id: randomUUID(),
    observation_id: 'a',
    event_id,
    time: 1_790_000_000_000_000_000n,
    name: 'n',
    level: '',
    source: 'otlp',
    body: 'b',
    attributes: [],
  })
}

const brief = (entries: readonly LedgerEntry[]) =>
  entries.map(({ ingest_request_id, message_id, side, items, stored, rejected, records }) => ({
    request: ingest_request_id,
    message: message_id,
    side,
    items,
    stored,
    rejected,
    observations: records.observations,
    events: records.events,
  }))

const refusal = new ColumnarError({ code: 407, type: 'DECIMAL_OVERFLOW', message: 'too large' })

function refusing(store: MemoryStore, id: string, error: Error = refusal): void {
  store.at = (moment, rows) => {
    if (moment === 'before insert' && rows.some((row) => row.observation_id === id)) throw error
  }
}

async function scene(store = memoryStore()): Promise<Scene & AsyncDisposable> {
  const bench = await openIngestBench({ store, url })
  const dispose = () => bench[Symbol.asyncDispose]()
  return { store, bench, project_id: randomUUID(), [Symbol.asyncDispose]: dispose }
}

const taskOf = ({ bench, project_id }: Scene) =>
  bench.db
    .selectFrom('tasks')
    .select(['task_id', 'calls'])
    .where('project_id', '=', project_id)
    .execute()

test('rows of every kind are stored unchanged, and settled by request', async () => {
  await using here = await scene()
  const [one, two] = [randomUUID(), randomUUID()]
  await send(
    here,
    [
      { ingest_request_id: one, rows: [...rowsOf(here, ['a', 'b']), eventOf(here, 'e1')] },
      { ingest_request_id: two, rows: rowsOf(here, ['c']), rejected: { invalid_trace_id: 2 } },
    ],
    { id: 'm' },
  )
  const worker = await here.bench.startWorker()
  await here.bench.settled()
  expect(here.store.rows().map((row) => [row.observation_id, row.message_id])).toEqual([
    ['a', 'm'],
    ['b', 'm'],
    ['c', 'm'],
  ])
  expect(here.store.others).toEqual(new Map([['events', 1]]))
  expect(await taskOf(here)).toEqual([{ task_id: 't', calls: 3 }])
  const none = { observations: 0, events: 0 }
  expect(brief(here.store.entries())).toEqual([
    {
      ...{ request: one, message: 'm', side: 'settled', items: 2, stored: 2, rejected: {} },
      ...{ observations: 2, events: 1 },
    },
    {
      ...{ request: two, message: 'm', side: 'settled', items: 1, stored: 1, rejected: {} },
      ...{ observations: 1, events: 0 },
    },
    {
      ...{ request: two, message: '', side: 'accepted', items: 2, stored: 0, ...none },
      rejected: { invalid_trace_id: 2 },
    },
  ])
  expect(await worker.metric('looptrace_ingest_rows_stored_total{kind="events"}')).toBe(1)
  const labels = `{project="${here.project_id}",path="otlp",outcome="stored",reason=""}`
  expect(await worker.metric(`looptrace_ledger_items_total${labels}`)).toBe(3)
})

test('a frame that is delivered twice is counted once', async () => {
  await using here = await scene()
  const request = { ingest_request_id: randomUUID(), rows: rowsOf(here, ['a', 'b']) }
  let fails = true
  here.store.at = (moment) => {
    if (moment === 'before ledger' && fails) {
      fails = false
      throw new Error('killed')
    }
  }
  await send(here, [request])
  await here.bench.startWorker()
  await here.bench.settled()
  expect(here.store.inserted).toBe(4)
  expect(here.store.rows()).toHaveLength(2)
  expect(here.store.entries()).toMatchObject([{ items: 2, stored: 2, attempts: 2 }])
  expect(await taskOf(here)).toEqual([{ task_id: 't', calls: 2 }])
})

test('frames of rows and of exchanges are inserted together', async () => {
  await using here = await scene()
  await send(here, [{ ingest_request_id: randomUUID(), rows: rowsOf(here, ['a']) }])
  const attributes = { 'w3c.traceparent': '00-1-2-01', 'w3c.baggage': 'k=v' }
  const proxied = randomUUID()
  await here.bench.publish(here.project_id, [
    { facts: { task_id: 't', attributes, ingest_request_id: proxied } },
    { facts: { task_id: 't' } },
  ])
  await here.bench.startWorker()
  await here.bench.settled()
  expect(await taskOf(here)).toEqual([{ task_id: 't', calls: 3 }])
  expect(here.store.others).toEqual(new Map([['correlations', 2]]))
  const ofProxy = here.store.entries().filter(({ path }) => path === 'proxy')
  expect(ofProxy).toMatchObject([
    { ingest_request_id: proxied, items: 1, stored: 1, records: { correlations: 2 } },
    { items: 1, stored: 1, records: { correlations: 0 } },
  ])
})

describe('a row that the store refuses', () => {
  test('is counted, its neighbours are stored, its message is dead-lettered', async () => {
    await using here = await scene()
    refusing(here.store, 'bad')
    const [one, two] = [randomUUID(), randomUUID()]
    await send(
      here,
      [
        { ingest_request_id: one, rows: rowsOf(here, ['a', 'bad', 'b']) },
        { ingest_request_id: two, rows: rowsOf(here, ['c']) },
      ],
      { id: 'half-bad' },
    )
    await here.bench.startWorker()
    await here.bench.settled()
    const ids = here.store.rows().map((row) => row.observation_id)
    expect(ids.toSorted()).toEqual(['a', 'b', 'c'])
    expect(here.store.entries()).toMatchObject([
      {
        ...{ items: 3, stored: 2, rejected: { refused_by_store: 1 }, records: { observations: 2 } },
        error_reason: expect.stringContaining('too large'),
      },
      { items: 1, stored: 1, rejected: {} },
    ])
    expect(await here.bench.queue.deadLetters(2)).toMatchObject([{ id: 'half-bad', attempts: 1 }])

    here.store.at = () => undefined
    expect(await here.bench.queue.replayDeadLetter('half-bad')).toBe(true)
    await here.bench.settled()
    expect(here.store.rows()).toHaveLength(4)
    expect(here.store.entries()).toMatchObject([
      { items: 3, stored: 3, rejected: {}, error_reason: '' },
      { items: 1, stored: 1 },
    ])
  })

  test('of another kind than an observation costs no item', async () => {
    await using here = await scene()
    const insertRows = here.store.insertRows
    here.store.insertRows = async (kind, rows, about) => {
      if (kind === 'events') throw refusal
      return insertRows(kind, rows, about)
    }
    const rows = [...rowsOf(here, ['a']), eventOf(here, 'e')]
    await send(here, [{ ingest_request_id: randomUUID(), rows }])
    await here.bench.startWorker()
    await here.bench.settled()
    expect(here.store.entries()).toMatchObject([
      { items: 1, stored: 1, rejected: {}, records: { observations: 1, events: 0 } },
    ])
    expect(await here.bench.queue.deadLetters(2)).toHaveLength(1)
  })
})

test('a frame of row format 1, which an earlier release wrote, is stored and rolled up', async () => {
  await using here = await scene()
  const { project_id } = here
  const rows = ['a', 'b'].map((observation_id) =>
    firstFormatRow({ project_id, observation_id, task_id: 't', cost_usd: '0.25' }),
  )
  await send(here, [{ ingest_request_id: randomUUID(), rows }], { row_format: 1 })
  await here.bench.startWorker()
  await here.bench.settled()
  const stored = here.store.rows().map((row) => [row.observation_id, row.cost_usd, row.message_id])
  expect(stored).toEqual([
    ['a', '0.250000000', expect.any(String)],
    ['b', '0.250000000', expect.any(String)],
  ])
  expect(here.store.rows()).toMatchObject([{ usage_details: {} }, { price_partial: [] }])
})

describe('a frame that cannot be read', () => {
  test('of an unknown row format: its items are rejected, it can be replayed', async () => {
    await using here = await scene()
    const request = { ingest_request_id: randomUUID(), rows: rowsOf(here, ['a', 'b']) }
    await send(here, [request], { row_format: 9 })
    await here.bench.startWorker()
    await here.bench.settled()
    expect(here.store.rows()).toEqual([])
    expect(here.store.entries()).toMatchObject([
      { items: 2, stored: 0, rejected: { dead_letter: 2 }, records: { observations: 0 } },
    ])
    expect(await here.bench.queue.deadLetters(2)).toMatchObject([
      { reason: 'row format 9, expected 2' },
    ])
  })

  test('on the subject of another project: nothing of it is stored', async () => {
    await using here = await scene()
    const request = { ingest_request_id: randomUUID(), rows: rowsOf(here, ['a']) }
    await send(here, [request], { subject: randomUUID() })
    await here.bench.startWorker()
    await here.bench.settled()
    expect(here.store.rows()).toEqual([])
    expect(await here.bench.queue.deadLetters(2)).toHaveLength(1)
  })

  test('with a row of another project: the row is skipped', async () => {
    await using here = await scene()
    const stranger = observationRow({ project_id: randomUUID(), observation_id: 'x' })
    const rows = [...rowsOf(here, ['a']), stranger]
    await send(here, [{ ingest_request_id: randomUUID(), rows }])
    await here.bench.startWorker()
    await here.bench.settled()
    expect(here.store.rows().map((row) => row.observation_id)).toEqual(['a'])
    expect(here.store.entries()).toMatchObject([
      { items: 2, stored: 1, rejected: { dead_letter: 1 } },
    ])
  })
})

test('plain spans create no task; one with its own task does', async () => {
  await using here = await scene()
  const trace_id = randomUUID()
  const span = { trace_id, task_id: trace_id, task_implicit: true, type: 'span' } as const
  const named = { type: 'span', task_id: 'named', task_implicit: false } as const
  await send(here, [
    { ingest_request_id: randomUUID(), rows: rowsOf(here, ['a', 'b'], span) },
    { ingest_request_id: randomUUID(), rows: rowsOf(here, ['c'], named) },
  ])
  await here.bench.startWorker()
  await here.bench.settled()
  expect(await taskOf(here)).toEqual([{ task_id: 'named', calls: 0 }])
})

test('requests are settled before their message is acknowledged, and again if that failed', async () => {
  const reported: (readonly LedgerEntry[])[] = []
  const store = memoryStore()
  await using bench = await openIngestBench({
    store,
    url,
    settleRequests: async (entries) => {
      expect((await bench.queue.stats()).pending).toBe(1)
      reported.push(entries)
      if (reported.length === 1) throw new Error('away')
    },
  })
  const here = { store, bench, project_id: randomUUID() }
  const ingest_request_id = randomUUID()
  const rows = rowsOf(here, ['a'])
  await send(here, [{ ingest_request_id, rows, path: 'api' }])
  await bench.startWorker()
  await bench.settled()
  expect(reported).toHaveLength(2)
  expect(reported[1]).toMatchObject([{ ingest_request_id, side: 'settled', stored: 1 }])
})
