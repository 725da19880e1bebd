import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { parseProjectId } from '../../src/model/project-id.ts'
import {
  type ColumnarOptions,
  type ColumnarServer,
  ColumnarUnavailable,
  openColumnar,
} from '../../src/platform/columnar/index.ts'
import { columnarOptions, migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { openQueryApi, type QueryApi } from '../support/query-api.ts'
import { type TcpGate, tcpGate } from '../support/tcp-gate.ts'

let database: Awaited<ReturnType<typeof testClickHouse>>
const opened: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  database = await testClickHouse('own')
  await (await migratedClickHouse(database)).close()
})
afterAll(async () => {
  for (const close of opened.toReversed()) await close()
})

/** Probes of a hung server end soon; `patient` ones never end before a busy machine answers. */
const quick = { suspect_ms: 50, silent_probes_max: 3, rest_ms: 50, probe_ms_max: 1_000 }
const patient = { ...quick, probe_ms_max: 60_000 }

async function openBehindGate(options: Partial<ColumnarOptions>) {
  const gate = await tcpGate(database.url)
  const columnar = openColumnar({ ...columnarOptions(database), url: gate.url, ...options })
  opened.push(
    async () => gate[Symbol.asyncDispose](),
    () => columnar.close(),
  )
  return { gate, columnar }
}

const select = (columnar: ColumnarServer) => columnar.query('SELECT 1 AS one')

/** Starts a read that gets no answer, and waits until reads are refused. */
async function untilRefused(columnar: ColumnarServer): Promise<void> {
  const leaving = new AbortController()
  const hung = columnar.query('SELECT 2 AS two', {}, { signal: leaving.signal })
  hung.catch(() => undefined)
  await eventually('reads are refused', () => isRefused(columnar), { timeout_ms: 60_000 })
  leaving.abort()
}

/** Returns whether a read is refused; a read that is not refused is left. */
async function isRefused(columnar: ColumnarServer): Promise<boolean> {
  const leaving = new AbortController()
  const refused = columnar.query('SELECT 3 AS three', {}, { signal: leaving.signal }).then(
    () => false,
    (error: unknown) => error instanceof ColumnarUnavailable && !error.isSent,
  )
  const left = new Promise<false>((resolve) => setImmediate(resolve, false))
  const result = await Promise.race([refused, left])
  leaving.abort()
  return result
}

const untilAnswered = (columnar: ColumnarServer) =>
  eventually('reads are answered', () => select(columnar).catch(() => undefined), {
    timeout_ms: 60_000,
  })

describe('a hung server', () => {
  test('costs one time-out: further reads fail at once, until it answers, each time', async () => {
    const { gate, columnar } = await openBehindGate({ breaker: quick })
    const other = await openBehindGate({ breaker: quick })
    for (const how of ['stall', 'mute'] as const) {
      await select(columnar)
      gate[how]()
      if (how === 'mute') gate.stall()
      await untilRefused(columnar)
      expect(await columnar.ping()).toBe(false)
      // Another process, which the server answers, goes on.
      expect(await select(other.columnar)).toEqual([{ one: 1 }])
      gate.open()
      expect(await untilAnswered(columnar)).toEqual([{ one: 1 }])
      expect(await columnar.ping()).toBe(true)
    }
  })

  test('is asked by one probe at a time, however many reads are refused', async () => {
    const { gate, columnar } = await openBehindGate({ breaker: quick })
    gate.stall()
    await untilRefused(columnar)
    const before = gate.connections
    const refused = await Promise.all(Array.from({ length: 500 }, () => isRefused(columnar)))
    expect(refused.every(Boolean)).toBe(true)
    expect(gate.connections - before).toBeLessThan(10)
    gate.open()
    await untilAnswered(columnar)
  })

  test('still gets inserts, whose senders have a wait of their own', async () => {
    const { gate, columnar } = await openBehindGate({ breaker: quick })
    gate.stall()
    await untilRefused(columnar)
    const inserted = columnar.insertRowBinary('observations', ['message_id'], new Uint8Array())
    gate.open()
    await inserted
  })
})

describe('a server that answers', () => {
  const slow = (seconds: number) =>
    `SELECT sum(sleepEachRow(0.1)) AS slept FROM numbers(${seconds * 10}) SETTINGS max_block_size = 1`

  test('is not hung because of a slow read', async () => {
    const { gate, columnar } = await openBehindGate({ breaker: patient })
    const leaving = new AbortController()
    const reads = Array.from({ length: 6 }, () =>
      columnar.read(slow(60), {}, { signal: leaving.signal }).catch(() => undefined),
    )
    // Each suspicion is a new connection, beside those of the reads.
    await eventually('the server was asked', () => gate.connections > reads.length)
    await untilAnswered(columnar)
    leaving.abort()
    await Promise.all(reads)
    expect(await isRefused(columnar)).toBe(false)
  })

  test('serves others while a tenant fills all connections and statements with slow reads', async () => {
    const { gate, columnar } = await openBehindGate({ breaker: patient, connections_max: 4 })
    const leaving = new AbortController()
    const attack = Array.from({ length: 16 }, () =>
      columnar
        .ofProject(parseProjectId(newId()))
        .read(
          'SELECT sum(sleepEachRow(0.1)) AS slept FROM numbers(600)',
          {},
          { signal: leaving.signal, settings: { max_block_size: 1 } },
        )
        .catch((error: unknown) => error),
    )
    await eventually('the server was asked', () => gate.connections > 4)
    const others = Array.from({ length: 8 }, () => select(columnar))
    others.push(...Array.from({ length: 8 }, () => select(columnar)))
    const asked = gate.connections
    await eventually('it was asked again', () => {
      others.push(select(columnar))
      return gate.connections > asked + 3
    })
    leaving.abort()
    for (const error of await Promise.all(attack)) {
      if (error instanceof ColumnarUnavailable) expect(error.isSent).toBe(true)
    }
    expect(new Set((await Promise.all(others)).map((rows) => JSON.stringify(rows)))).toEqual(
      new Set(['[{"one":1}]']),
    )
  })

  test('closes the connection without an answer: reads say so, and are not refused', async () => {
    const { gate, columnar } = await openBehindGate({ breaker: quick })
    gate.close()
    for (let read = 0; read < 5; read += 1) {
      const failed = select(columnar)
      await expect(failed).rejects.toMatchObject({ name: 'ColumnarUnavailable', isSent: true })
    }
    gate.open()
    expect(await select(columnar)).toEqual([{ one: 1 }])
  })
})

describe('queries of people', () => {
  const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }
  const counted = { entity: 'observations', window, measures: [{ fn: 'count', as: 'n' }] }

  async function openApi(order: ('clickhouse' | 'postgres')[]): Promise<[QueryApi, TcpGate]> {
    const { gate, columnar } = await openBehindGate({ breaker: quick })
    gate.stall()
    await untilRefused(columnar)
    const chooseStore = async () => ({ candidates: [], order, fallback: true })
    const api = await openQueryApi({ columnar, chooseStore })
    opened.push(async () => api[Symbol.asyncDispose]())
    return [api, gate]
  }

  test('fail at once with the store and when to try again, then are answered', async () => {
    const [api, gate] = await openApi(['clickhouse'])
    const connections = gate.connections
    for (const path of ['query', 'query/aggregate', 'query/explain']) {
      const reply = await api.call(
        path,
        path === 'query' ? { ...counted, measures: undefined } : counted,
      )
      expect(reply.body).toMatchObject({
        status: 503,
        code: 'store_unavailable',
        store: 'clickhouse',
      })
      expect(reply.headers.get('retry-after')).toBe('1')
    }
    // Nothing is left to be killed in a server that never got it.
    expect(api.logged().filter((line) => line.includes('Cancelling'))).toEqual([])
    expect(gate.connections - connections).toBeLessThan(10)
    gate.open()
    await untilAnswered(api.columnar)
    expect(await api.call('query/aggregate', counted)).toMatchObject({ status: 200 })
  })

  test('are answered by the other store at once', async () => {
    const [api] = await openApi(['clickhouse', 'postgres'])
    const { status, body } = await api.call('query/aggregate', counted)
    expect([status, body.served_by]).toEqual([200, 'postgres'])
  })
})
