import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type EventPage,
  openClickHouseRecordStore,
  openClickHouseStore,
  type RecordKind,
  type RecordStore,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type ColumnarServer, openColumnar } from '../../src/platform/columnar/index.ts'
import {
  columnarOptions,
  mergeParts,
  migratedClickHouse,
  setMerges,
  testClickHouse,
} from '../support/clickhouse.ts'
import { observationOf } from '../support/observations.ts'
import {
  correlationOf,
  eventOf,
  linkOf,
  rowsOf,
  second,
  start,
  traceOf,
} from '../support/records.ts'

let columnar: ColumnarServer
let store: RecordStore

beforeAll(async () => {
  columnar = await migratedClickHouse(await testClickHouse('own'))
  // Versions must exist side by side until a test is done with them.
  for (const table of ['traces', 'observations', 'events', 'links', 'correlations']) {
    await setMerges(columnar, table, 'STOP')
  }
  store = openClickHouseRecordStore({ columnar })
})
afterAll(() => columnar?.close())

const insert = <Kind extends RecordKind>(
  kind: Kind,
  drafts: Parameters<typeof rowsOf<Kind>>[1],
  message_id?: string,
) => store.insertRows(kind, rowsOf(kind, drafts, message_id), { token: newId() })

const wholePage: EventPage = { order: 'asc', limit: 100, bytes_max: 1_000_000 }

const wholeList = { order: 'asc', limit: 10 } as const

describe('events', () => {
  test('are returned as they were written, in order, each once and in its latest version', async () => {
    const project_id = newId()
    const trace_id = newId()
    const first = eventOf({
      project_id,
      trace_id,
      time: start + 1n,
      name: 'gen_ai.user.message',
      level: 'warning',
      body: Buffer.from('{"said":"é🦊\\n"}'),
      attributes: ['a', '1', '__proto__', Buffer.from('2')],
    })
    const second_one = eventOf({ project_id, trace_id, time: start + 2n, observation_id: '' })
    await insert('events', [second_one, first])
    await insert('events', [{ ...second_one, name: 'later' }], 'm2')
    await insert('events', [{ ...first }], 'm3')
    const { rows, more } = await store.traceEvents(project_id, trace_id, wholePage)
    expect(more).toBe(false)
    const { project_id: _, attributes: __, ...fields } = first
    expect(rows).toMatchObject([
      { ...fields, body: '{"said":"é🦊\\n"}' },
      { observation_id: '', name: 'later', time: start + 2n },
    ])
    expect(Object.entries(rows[0]?.attributes ?? {})).toEqual([
      ['a', '1'],
      ['__proto__', '2'],
    ])
    expect(await store.countTraceEvents(project_id, trace_id, { limit: 10 })).toBe(2)
  })

  test('are filtered by the latest version', async () => {
    const project_id = newId()
    const trace_id = newId()
    const events = Array.from({ length: 6 }, (_, index) =>
      eventOf({
        project_id,
        trace_id,
        observation_id: `o${index % 2}`,
        time: start + BigInt(index) * second,
        name: index < 3 ? 'early' : 'late',
      }),
    )
    await insert('events', events)
    await insert(
      'events',
      events.slice(0, 1).map((event) => ({ ...event, name: 'late' })),
    )
    const ids = async (filter: Partial<EventPage>) => {
      const page = { ...wholePage, ...filter }
      const { rows } = await store.traceEvents(project_id, trace_id, page)
      const { order: _, bytes_max: __, ...counted } = page
      expect(await store.countTraceEvents(project_id, trace_id, counted)).toBe(rows.length)
      return rows.map(({ time }) => Number((time - start) / second))
    }
    expect(await ids({ name: 'early' })).toEqual([1, 2])
    expect(await ids({ name: 'late' })).toEqual([0, 3, 4, 5])
    expect(await ids({ observation_id: 'o1' })).toEqual([1, 3, 5])
    expect(await ids({ from: start + second, to: start + 3n * second })).toEqual([1, 2])
    expect(await ids({ name: 'late', observation_id: 'o1', order: 'desc' })).toEqual([5, 3])
    expect(await ids({ name: 'none' })).toEqual([])
    expect(await store.countTraceEvents(project_id, trace_id, { limit: 4 })).toBe(4)
  })

  test.each(['asc', 'desc'] as const)('page %s while others are inserted', async (order) => {
    const project_id = newId()
    const trace_id = newId()
    const events = Array.from({ length: 11 }, (_, index) =>
      eventOf({
        project_id,
        trace_id,
        // Three share each instant, so that ids have to order them.
        time: start + BigInt(Math.floor(index / 3)) * second,
        event_id: String(index).padStart(2, '0'),
      }),
    )
    await insert('events', events)
    const seen: string[] = []
    let page: EventPage = { ...wholePage, order, limit: 2 }
    for (let pages = 0; pages < 8; pages++) {
      const { rows, more } = await store.traceEvents(project_id, trace_id, page)
      seen.push(...rows.map(({ event_id }) => event_id))
      const last = rows.at(-1)
      if (!more || last === undefined) break
      page = { ...page, after: last }
      // Sent again, and new ones at both ends of the list.
      await insert('events', events)
      const side = order === 'asc' ? -1n : 1n
      await insert('events', [
        eventOf({ project_id, trace_id, time: start + side * BigInt(pages + 100) * second }),
      ])
    }
    const ids = events.map(({ event_id }) => event_id)
    expect(seen).toEqual(order === 'asc' ? ids : ids.toReversed())
  })

  test('a page ends before it would be too large, and has at least one row', async () => {
    const project_id = newId()
    const trace_id = newId()
    const sizes = [10, 5000, 20_000, 100, 100]
    const events = sizes.map((size, index) =>
      eventOf({ project_id, trace_id, event_id: String(index), body: 'x'.repeat(size) }),
    )
    await insert('events', events)
    const pages: string[][] = []
    let page: EventPage = { ...wholePage, bytes_max: 10_000 }
    for (let n = 0; n < 6; n++) {
      const { rows, more } = await store.traceEvents(project_id, trace_id, page)
      pages.push(rows.map(({ event_id }) => event_id))
      const last = rows.at(-1)
      if (!more || last === undefined) break
      page = { ...page, after: last }
    }
    expect(pages).toEqual([['0', '1'], ['2'], ['3', '4']])
  })
})

describe('links', () => {
  test('are read from both ends, each once', async () => {
    const project_id = newId()
    const trace_id = newId()
    const other = newId()
    const out = linkOf({
      project_id,
      trace_id,
      linked_trace_id: other,
      linked_observation_id: 'x',
      attributes: ['why', 'batch'],
    })
    const back = linkOf({
      project_id,
      trace_id: other,
      linked_trace_id: trace_id,
      time: start + 1n,
    })
    const self = linkOf({ project_id, trace_id, linked_trace_id: trace_id, time: start + 2n })
    const links = [out, back, self, linkOf({ project_id })]
    await insert('links', links)
    await insert('links', links)
    const read = (about = {}) =>
      store.traceLinks(project_id, trace_id, { order: 'asc', limit: 10, ...about })
    const times = async (about = {}) => (await read(about)).map(({ time }) => Number(time - start))
    const { project_id: _, ...fields } = out
    expect((await read())[0]).toEqual({ ...fields, attributes: { why: 'batch' } })
    expect(await times()).toEqual([0, 1, 2])
    expect(await times({ order: 'desc', limit: 2 })).toEqual([2, 1])
    expect(await times({ direction: 'from' })).toEqual([0, 2])
    expect(await times({ direction: 'to' })).toEqual([1, 2])
    expect(await times({ from: start + 1n, to: start + 2n })).toEqual([1])
    expect(await times({ observation_id: out.observation_id })).toEqual([0, 2])
    const [last] = await read({ limit: 1 })
    expect(await times({ after: last })).toEqual([1, 2])
    expect(await store.countTraceLinks(project_id, trace_id, { limit: 10 })).toBe(3)
    expect(await store.countTraceLinks(project_id, trace_id, { limit: 2 })).toBe(2)
    const only = { direction: 'to', limit: 10 } as const
    expect(await store.countTraceLinks(project_id, trace_id, only)).toBe(2)
  })
})

describe('correlations', () => {
  test('of a trace, in order, each once and in its latest version', async () => {
    const project_id = newId()
    const trace_id = newId()
    const all = [
      correlationOf({ project_id, trace_id, correlation_type: 'a', correlation_value: 'z' }),
      correlationOf({ project_id, trace_id, correlation_type: 'b', correlation_value: 'a' }),
      correlationOf({ project_id, trace_id, correlation_type: 'b', observation_id: 'o' }),
    ]
    await insert('correlations', all)
    await insert(
      'correlations',
      all.map((row) => ({ ...row, time: start + second, metadata: ['v', '2'] })),
      'm2',
    )
    const rows = await store.traceCorrelations(project_id, trace_id, wholeList)
    expect(rows).toMatchObject(
      all.map(({ project_id: _, ...row }) => ({
        ...row,
        time: start + second,
        metadata: { v: '2' },
      })),
    )
    const after = rows[0]
    expect(
      after &&
        (await store.traceCorrelations(project_id, trace_id, { ...wholeList, after, limit: 1 })),
    ).toEqual(rows.slice(1, 2))
    const count = (about = {}) =>
      store.countTraceCorrelations(project_id, trace_id, { limit: 10, ...about })
    expect(await count()).toBe(3)
    expect(await count({ correlation_type: 'b' })).toBe(2)
    expect(await count({ observation_id: 'o' })).toBe(1)
    expect(await count({ limit: 2 })).toBe(2)
  })

  test('are found by value and by prefix, in the window of their latest version', async () => {
    const project_id = newId()
    const at = (value: string, seconds: bigint) =>
      correlationOf({ project_id, correlation_value: value, time: start + seconds * second })
    const rows = [at('o-1', 0n), at('o-1', 1n), at('o-12', 2n), at('o%', 3n), at('O-1', 4n)]
    await insert('correlations', rows)
    await insert('correlations', rows)
    await insert(
      'correlations',
      rows.slice(0, 1).map((row) => ({ ...row, time: start + 9n * second })),
    )
    await insert('correlations', [{ ...at('o-1', 5n), correlation_type: 'ticket' }])
    const window = { from: start, to: start + 100n * second }
    const find = async (which: { value: string } | { prefix: string }, about = {}) => {
      const search = { correlation_type: 'order', ...window, ...which, ...about }
      const page = { order: 'asc', limit: 10, ...search } as const
      const found = await store.searchCorrelations(project_id, page)
      expect(await store.countCorrelations(project_id, { ...search, limit: 10 })).toBe(found.length)
      return found.map(({ time }) => Number((time - start) / second))
    }
    expect(await find({ value: 'o-1' })).toEqual([1, 9])
    expect(await find({ prefix: 'o-1' })).toEqual([1, 2, 9])
    expect(await find({ prefix: 'o%' })).toEqual([3])
    expect(await find({ prefix: '' })).toEqual([1, 2, 3, 4, 9])
    expect(await find({ value: 'o-1' }, { to: start + 9n * second })).toEqual([1])
    expect(await find({ value: 'o-1' }, { from: start + 2n * second })).toEqual([9])
    expect(await find({ value: 'none' })).toEqual([])
    await setMerges(columnar, 'correlations', 'START')
    await mergeParts(columnar, 'correlations')
    expect(await find({ value: 'o-1' }, { to: start + 9n * second })).toEqual([1])
  })

  test('page from latest to first while others are inserted', async () => {
    const project_id = newId()
    const rows = Array.from({ length: 7 }, (_, index) =>
      correlationOf({
        project_id,
        trace_id: `00000000-0000-4000-8000-00000000000${index}`,
        correlation_value: `o-${index}`,
        time: start + BigInt(Math.floor(index / 2)) * second,
      }),
    )
    await insert('correlations', rows)
    const search = { correlation_type: 'order', prefix: 'o', from: start, to: start + 99n * second }
    const seen: string[] = []
    let after: Awaited<ReturnType<typeof store.searchCorrelations>>[number] | undefined
    for (let pages = 0; pages < 9; pages++) {
      const page = { ...search, order: 'desc', limit: 2, ...(after && { after }) } as const
      const found = await store.searchCorrelations(project_id, page)
      seen.push(...found.map(({ correlation_value }) => correlation_value))
      after = found.at(-1)
      if (found.length < 2) break
      const later = { correlation_value: `o-x${pages}`, time: start + 50n * second }
      await insert('correlations', [...rows, correlationOf({ project_id, ...later })])
    }
    expect(seen).toEqual(['o-6', 'o-5', 'o-4', 'o-3', 'o-2', 'o-1', 'o-0'])
  })
})

describe('limits and isolation', () => {
  const drafts = {
    traces: traceOf,
    observations: (ids: { project_id: string; trace_id: string }) => ({
      ...observationOf(ids),
      attributes: [],
      metadata: [],
    }),
    events: eventOf,
    links: linkOf,
    correlations: correlationOf,
  }

  test.each(['traces', 'observations', 'events', 'links', 'correlations'] as const)(
    '%s make their trace known, in its project only',
    async (kind) => {
      const ids = { project_id: newId(), trace_id: newId() }
      expect(await store.traceExists(ids.project_id, ids.trace_id)).toBe(false)
      await insert(kind, [drafts[kind](ids)])
      expect(await store.traceExists(ids.project_id, ids.trace_id)).toBe(true)
      expect(await store.traceExists(newId(), ids.trace_id)).toBe(false)
      expect(await store.traceExists(ids.project_id, newId())).toBe(false)
    },
  )

  test('no statement returns rows of another project', async () => {
    const ids = { project_id: newId(), trace_id: newId() }
    await insert('events', [eventOf(ids)])
    await insert('links', [linkOf(ids)])
    await insert('correlations', [correlationOf(ids)])
    const search = { correlation_type: 'order', prefix: '', from: start, to: start + second }
    const lists = async (project: string) => [
      (await store.traceEvents(project, ids.trace_id, wholePage)).rows.length,
      await store.countTraceEvents(project, ids.trace_id, { limit: 9 }),
      (await store.traceLinks(project, ids.trace_id, { order: 'asc', limit: 9 })).length,
      await store.countTraceLinks(project, ids.trace_id, { limit: 9 }),
      (await store.traceCorrelations(project, ids.trace_id, wholeList)).length,
      await store.countTraceCorrelations(project, ids.trace_id, { limit: 9 }),
      (await store.searchCorrelations(project, { ...search, order: 'asc', limit: 9 })).length,
      await store.countCorrelations(project, { ...search, limit: 9 }),
    ]
    expect(await lists(ids.project_id)).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
    expect(await lists(newId())).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  })

  test('an empty write is no error', async () => {
    await expect(store.insertRows('events', [], { token: 't' })).resolves.toBeUndefined()
  })

  test('an unavailable store is a retryable problem', async () => {
    const away = openColumnar({
      ...columnarOptions({ ...(await testClickHouse()), url: 'http://127.0.0.1:1' }),
    })
    const lost = openClickHouseRecordStore({ columnar: away })
    const rows = rowsOf('events', [eventOf({ project_id: newId() })])
    const failures = await Promise.all([
      lost.insertRows('events', rows, { token: 't' }).catch((error: unknown) => error),
      lost.traceExists(newId(), newId()).catch((error: unknown) => error),
    ])
    for (const failure of failures) expect(failure).toMatchObject({ code: 'store_unavailable' })
    await away.close()
  })
})

describe('events with content of observations', () => {
  const sent = (project_id: string, trace_id: string, at: number, given: object = {}) =>
    eventOf({
      ...{
        project_id,
        trace_id,
        observation_id: 'o1',
        event_id: `${at}`,
        time: start + BigInt(at),
      },
      ...{ name: 'gen_ai.user.message', body: `said ${at}` },
      ...given,
    })
  const wanted = { limit: 100, bytes_max: 1_000_000 }

  test('are those of the conventions with a body, in order, each in its latest version', async () => {
    const [project_id, trace_id, other] = [newId(), newId(), newId()]
    await insert('events', [
      sent(project_id, trace_id, 3, { name: 'gen_ai.choice' }),
      sent(project_id, trace_id, 1),
      sent(project_id, trace_id, 2, { body: '' }),
      sent(project_id, trace_id, 4, { name: 'exception' }),
      sent(project_id, trace_id, 5, { observation_id: 'o2' }),
      sent(project_id, other, 6),
      sent(newId(), trace_id, 7),
    ])
    await insert('events', [sent(project_id, trace_id, 1, { body: 'said anew' })], 'm2')
    const observations = openClickHouseStore({ columnar })
    const places = [{ trace_id, observation_id: 'o1' }]
    const found = await observations.genAiEvents(project_id, { ...wanted, places })
    expect(found).toEqual([
      { trace_id, observation_id: 'o1', name: 'gen_ai.user.message', body: 'said anew' },
      { trace_id, observation_id: 'o1', name: 'gen_ai.choice', body: 'said 3' },
    ])
    expect(await observations.genAiEvents(project_id, { ...wanted, places: [] })).toEqual([])
    const names = ['gen_ai.user.message', 'gen_ai.choice', 'exception']
    const counted = await observations.eventCounts(project_id, { places, names })
    expect(counted).toEqual([{ trace_id, observation_id: 'o1', events: 3 }])
    const choices = await observations.eventCounts(project_id, { places, names: ['gen_ai.choice'] })
    expect(choices).toMatchObject([{ events: 1 }])
    expect(await observations.eventCounts(newId(), { places, names })).toEqual([])
    expect(await observations.eventCounts(project_id, { places: [], names })).toEqual([])
  })

  test('are cut at the limits of rows and bytes', async () => {
    const [project_id, trace_id] = [newId(), newId()]
    const events = Array.from({ length: 5 }, (_, at) => sent(project_id, trace_id, at))
    await insert('events', events)
    const observations = openClickHouseStore({ columnar })
    const places = [{ trace_id, observation_id: 'o1' }]
    const read = async (given: object) =>
      (await observations.genAiEvents(project_id, { ...wanted, places, ...given })).length
    expect(await read({ limit: 2 })).toBe(2)
    const size_bytes = 'said 0'.length + 8
    expect(await read({ bytes_max: 3 * size_bytes })).toBe(3)
    const many = Array.from({ length: 1_001 }, () => ({ trace_id, observation_id: 'o1' }))
    await expect(read({ places: many })).rejects.toThrow('got 1001 observations')
  })
})
