import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import {
  ColumnarError,
  type ColumnarServer,
  ColumnarUnavailable,
  compileRowBinary,
  openColumnar,
} from '../../src/platform/columnar/index.ts'
import { columnarOptions, testClickHouse } from '../support/clickhouse.ts'
import type { TestDatabase } from '../support/clickhouse-broker.ts'
import { eventually } from '../support/eventually.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

let database: TestDatabase
let columnar: ColumnarServer

beforeAll(async () => {
  database = await testClickHouse('empty')
  columnar = openColumnar(columnarOptions(database))
  await columnar.createDatabase()
})
afterAll(() => columnar?.close())

const patience = { timeout_ms: 30_000, interval_ms: 10 }

/** Takes minutes unless it is stopped. */
const endless = 'SELECT sum(cityHash64(number)) AS sum FROM numbers(1000000000000)'

describe('statements', () => {
  test('a parameter can be any text, list and number, and no SQL', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 })
    const given = fc.record({
      text,
      texts: fc.array(text, { maxLength: 5 }),
      signed: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      unsigned: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      absent: fc.option(text),
    })
    const select = `SELECT {text:String} AS text, {texts:Array(String)} AS texts,
      {signed:Int64} AS signed, {unsigned:UInt64} AS unsigned, {absent:Nullable(String)} AS absent`
    await fc.assert(
      fc.asyncProperty(given, async (params) => {
        const { signed, unsigned } = params
        expect(await columnar.query(select, params)).toEqual([
          { ...params, signed: String(signed), unsigned: String(unsigned) },
        ])
      }),
      { numRuns: fuzzRuns(25) },
    )
  })

  test('in parallel they keep their parameters and settings apart', async () => {
    const asked = Array.from({ length: 60 }, (_, index) => String(1_000 + index))
    const answers = await Promise.all(
      asked.map((n) =>
        columnar.query(
          "SELECT {n:String} AS n, toString(getSetting('max_block_size')) AS size",
          { n },
          { settings: { max_block_size: n } },
        ),
      ),
    )
    expect(answers).toEqual(asked.map((n) => [{ n, size: n }]))
    const missing = columnar.query('SELECT {n:String} AS n')
    await expect(missing).rejects.toMatchObject({ code: 456 })
  })

  test('run in the database of the connection, which is created once', async () => {
    await columnar.createDatabase()
    expect(await columnar.query('SELECT currentDatabase() AS name')).toEqual([
      { name: database.database },
    ])
  })

  test('a slow one delays no other', async () => {
    const leave = new AbortController()
    const slow = columnar.query(endless, {}, { signal: leave.signal })
    expect(await columnar.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
    leave.abort(new Error('had enough'))
    await expect(slow).rejects.toThrow('had enough')
  })
})

describe('failures', () => {
  test('of a statement carry the code and the name of the engine', async () => {
    const failure = await columnar.query('SELECT nonsense').catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ColumnarError)
    expect(failure).toMatchObject({ code: 47, type: 'UNKNOWN_IDENTIFIER' })
    const noTable = columnar.command('INSERT INTO nowhere VALUES (1)')
    await expect(noTable).rejects.toMatchObject({ code: 60, type: 'UNKNOWN_TABLE' })
  })

  test('of time, address and password report that the store is unavailable', async () => {
    const slow = columnar.query(endless, {}, { timeout_ms: 200 })
    await expect(slow).rejects.toBeInstanceOf(ColumnarUnavailable)
    for (const wrong of [{ url: 'http://127.0.0.1:1' }, { password: 'wrong' }]) {
      const other = openColumnar(columnarOptions({ ...database, ...wrong }))
      await expect(other.query('SELECT 1')).rejects.toBeInstanceOf(ColumnarUnavailable)
      expect(await other.ping()).toBe(false)
      await other.close()
    }
    expect(await columnar.ping()).toBe(true)
  })

  test('leaving a read ends it in the engine', async () => {
    const leave = new AbortController()
    const marked = `${endless} SETTINGS max_block_size = 4242`
    const left = columnar.query(marked, {}, { signal: leave.signal }).catch(() => 'left')
    const running = async () => {
      const sql = "SELECT query FROM system.processes WHERE query LIKE '%= 4242 %' LIMIT 10"
      return (await columnar.query<{ query: string }>(sql)).filter(({ query }) =>
        query.startsWith('SELECT sum'),
      ).length
    }
    await eventually('it runs', async () => (await running()) === 1, patience)
    leave.abort()
    expect(await left).toBe('left')
    await eventually('it ended', async () => (await running()) === 0, patience)
  })
})

describe('reads', () => {
  test('report what was read for them, which is more than they return', async () => {
    const sql = 'SELECT sum(number) AS sum FROM numbers({n:UInt64})'
    const { rows, rows_read, bytes_read } = await columnar.read(sql, { n: 100_000 })
    expect([rows, rows_read, bytes_read]).toEqual([[{ sum: '4999950000' }], 100_000, 800_000])
    expect(await columnar.read('SELECT 1 AS one WHERE 0')).toMatchObject({ rows: [] })
  })

  test('change nothing', async () => {
    const create = columnar.read('CREATE TABLE never (x UInt8) ENGINE = Memory')
    await expect(create).rejects.toMatchObject({ name: 'ColumnarError' })
    expect(await columnar.query('EXISTS TABLE never')).toEqual([{ result: 0 }])
  })

  test('are stopped by their name, and those over a limit name it', async () => {
    const query_id = 'a read of the test'
    const reading = columnar.read(endless, {}, { query_id }).catch((error: unknown) => error)
    const ended = await eventually(
      'the read is killed',
      async () => {
        await columnar.kill(query_id)
        return Promise.race([reading, sleep(50)])
      },
      patience,
    )
    expect(ended).toMatchObject({ name: 'ColumnarUnavailable', code: 394 })
    const settings = { max_rows_to_read: 10, read_overflow_mode: 'throw' }
    const tooMuch = columnar.read('SELECT sum(number) FROM numbers(100)', {}, { settings })
    await expect(tooMuch).rejects.toMatchObject({ name: 'ColumnarError', code: 158 })
    await columnar.kill('no such statement')
  })
})

/** Takes a minute and hardly any processor time. */
const sleeping = 'SELECT sum(sleepEachRow(0.01)) FROM numbers(6000) SETTINGS max_block_size = 10'

test('reads are found by name while they run, also when no more can run', async () => {
  const own = openColumnar({ ...columnarOptions(database), connections_max: 12 })
  const leave = new AbortController()
  // More than the embedded engine runs in parallel.
  const reads = Array.from({ length: 12 }, (_, at) => `read ${at} of many`)
  const running = reads.map((query_id) =>
    own.read(sleeping, {}, { query_id, signal: leave.signal }).catch(() => 'left'),
  )
  const elapsedOf = () => Promise.all(reads.map((query_id) => own.findElapsedMs(query_id)))
  const first = await eventually('eight run', async () => {
    const elapsed = await elapsedOf()
    return elapsed.filter((ms) => ms !== undefined).length === 8 && elapsed
  })
  const waiting = reads.filter((_, at) => first[at] === undefined)
  await sleep(200)
  const later = await elapsedOf()
  const grown = later.flatMap((ms, at) => (first[at] === undefined ? [] : (ms ?? 0) - first[at]))
  expect(Math.min(...grown)).toBeGreaterThanOrEqual(200)
  expect(await own.findElapsedMs('no such statement')).toBeUndefined()
  leave.abort(new Error('enough'))
  expect(new Set(await Promise.all(running))).toEqual(new Set(['left']))
  await eventually(
    'all are gone, and those that waited do not run',
    async () => {
      for (const query_id of waiting) expect(await own.findElapsedMs(query_id)).toBeUndefined()
      return (await elapsedOf()).every((ms) => ms === undefined)
    },
    patience,
  )
  await own.close()
})

describe('inserts', () => {
  const encode = compileRowBinary<{ id: number; text: string }>([
    { name: 'id', type: 'UInt64' },
    { name: 'text', type: 'String' },
  ])

  test('store all rows or none, once for each token', async () => {
    await columnar.command(`CREATE TABLE twice (id UInt64, text String, seven UInt8 DEFAULT 7)
      ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 100`)
    const rows = encode(Array.from({ length: 5_000 }, (_, id) => ({ id, text: `${id};\0'\n` })))
    const insert = (token?: string, bytes = rows) =>
      columnar.insertRowBinary('twice', ['id', 'text'], bytes, {
        ...(token !== undefined && { deduplication_token: token }),
      })
    await insert("it's a token")
    await insert("it's a token")
    const count = async () => {
      const [row] = await columnar.query<{ rows: string }>(
        'SELECT count() AS rows FROM twice WHERE seven = 7 AND text = concat(toString(id), {end:String})',
        { end: ";\0'\n" },
      )
      return Number(row?.rows)
    }
    expect(await count()).toBe(5_000)
    await insert('another')
    expect(await count()).toBe(10_000)
    // Cut in the middle of a row: nothing of it may be stored.
    await expect(insert('cut', rows.subarray(0, -3))).rejects.toBeInstanceOf(ColumnarError)
    expect(await count()).toBe(10_000)
  })

  test('close waits for running statements', async () => {
    const own = openColumnar(columnarOptions(database))
    const slow = own.query('SELECT sleep(2) AS closing')
    await eventually(
      'it runs',
      async () => {
        const sql = "SELECT query FROM system.processes WHERE query LIKE '%AS closing%' LIMIT 10"
        return (await columnar.query(sql)).length > 1
      },
      patience,
    )
    await own.close()
    expect(await slow).toEqual([{ closing: 0 }])
  })
})

describe('the embedded server and the unmodified client', () => {
  test('insert, query, command, exec, ping and their headers', async () => {
    const client = createClient({ ...database, log: { level: ClickHouseLogLevel.OFF } })
    expect(await client.ping()).toEqual({ success: true })
    expect(await client.ping({ select: true })).toEqual({ success: true })
    await client.command({
      query: 'CREATE TABLE c (a UInt8, b String) ENGINE = MergeTree ORDER BY a',
    })
    const values = [
      { a: 1, b: "x;\n'" },
      { a: 2, b: 'ü' },
    ]
    await client.insert({ table: 'c', values, format: 'JSONEachRow' })
    const result = await client.query({ query: 'SELECT * FROM c ORDER BY a', query_id: 'mine' })
    expect(result.query_id).toBe('mine')
    expect(result.response_headers['x-clickhouse-query-id']).toBe('mine')
    const { data } = await result.json()
    expect(data).toEqual(values)
    const { stream, summary } = await client.exec({
      query: 'SELECT a FROM c ORDER BY a FORMAT CSV',
    })
    let text = ''
    for await (const chunk of stream) text += chunk
    expect(text).toBe('1\n2\n')
    expect(summary).toMatchObject({ read_rows: '2' })
    await client.close()
  })

  test('KILL QUERY uses the query_id of the client', async () => {
    const client = createClient({ ...database, log: { level: ClickHouseLogLevel.OFF } })
    const query_id = 'to be killed'
    const killed = client.query({ query: endless, query_id }).catch((error: unknown) => error)
    const failure = await eventually(
      'it is killed',
      async () => {
        const query = 'KILL QUERY WHERE query_id = {id:String} ASYNC'
        await client.command({ query, query_params: { id: query_id } })
        return Promise.race([killed, undefined])
      },
      patience,
    )
    expect(failure).toMatchObject({ code: '394' })
    await client.close()
  })

  test('a request without or with wrong credentials runs nothing', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${database.url}/?query=SELECT+42`, { method: 'POST', headers })
    const { username, password } = database
    const own = { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password }
    expect(await (await ask(own)).text()).toBe('42\n')
    for (const headers of [
      {},
      { ...own, 'X-ClickHouse-Key': '' },
      { Authorization: 'Basic eA==' },
    ]) {
      const answer = await ask(headers)
      expect(answer.status).toBe(403)
      expect(answer.headers.get('x-clickhouse-exception-code')).toBe('516')
    }
    expect(await (await fetch(`${database.url}/ping`)).text()).toBe('Ok.\n')
  })

  test('an error has its status and its code', async () => {
    const { username, password } = database
    const ask = (query: string, more = '') =>
      fetch(`${database.url}/?${more}`, {
        method: 'POST',
        body: query,
        headers: { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password },
      })
    const codes = async (answer: Response) => [
      answer.status,
      answer.headers.get('x-clickhouse-exception-code'),
    ]
    expect(await codes(await ask('SELEC'))).toEqual([400, '62'])
    expect(await codes(await ask('SELECT * FROM nowhere'))).toEqual([404, '60'])
    expect(await codes(await ask('SELECT 1', 'no_such_setting=1'))).toEqual([404, '115'])
    expect(await codes(await ask('SELECT 1', 'database=nowhere'))).toEqual([404, '81'])
    expect(await codes(await ask('SELECT 1', 'session_id=a'))).toEqual([500, '48'])
    expect(await codes(await ask('SELECT \0'))).toEqual([400, '62'])
  })
})
