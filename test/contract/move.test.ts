import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  copyQueueFile,
  MoveDiffers,
  type MoveProgress,
  moveFiles,
  moveMessages,
  moveRows,
  openMoveProgress,
  openRowsStore,
  type RowsStore,
} from '../../src/capabilities/move/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { openDirectoryBlobs } from '../../src/platform/blobs/directory-blobs.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { openSqliteQueue, type Queue } from '../../src/platform/queue/index.ts'
import {
  copyDatabase,
  openRelational,
  type Relational,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { insertMany } from '../support/many-observations.ts'
import { testPostgres } from '../support/postgres.ts'
import { consumeOptions, keepingLogger, message } from '../support/queues.ts'
import { budget } from '../support/suite/budget.ts'

const never = new AbortController().signal
const logger = createLogger({ role: 'test', level: 'fatal' })

/** A process that is killed. */
class Killed extends Error {}

describe('rows', () => {
  let source: ColumnarServer
  let relational: Relational<unknown>
  const opened: ColumnarServer[] = []

  beforeAll(async () => {
    relational = openRelational({
      scope: allTenants,
      url: await testPostgres('empty'),
      pool_max: 2,
      connect_timeout_ms: 10_000,
      statement_timeout_ms: 30_000,
      logger,
    })
    source = await open()
    await fill(source)
  })
  afterAll(async () => {
    await Promise.all(opened.map((columnar) => columnar.close()))
    await relational.close()
  })

  async function open(): Promise<ColumnarServer> {
    const columnar = await migratedClickHouse(await testClickHouse('own'))
    opened.push(columnar)
    return columnar
  }

  const limits = { batch_rows_max: 9, batch_bytes_max: 20_000, signal: never, report: () => {} }

  async function openProgress(): Promise<MoveProgress> {
    const progress = openMoveProgress(relational.pool)
    await relational.pool.query('drop table if exists data_moves, data_move_divisions')
    await progress.begin({ id: 'a', position: '1' })
    return progress
  }

  test('a move that is killed at each of its steps stores each row once', async () => {
    const columnar = await open()
    const progress = await openProgress()
    const target = openRowsStore(columnar)
    const stride = budget({ test: 4, soak: 1 })
    let kills = 0
    let done: Awaited<ReturnType<typeof moveRows>> | undefined
    while (done === undefined) {
      const steps = killAfter((1 + (kills % 3)) * stride)
      done = await moveRows({
        ...limits,
        source: openRowsStore(source),
        target: { ...target, insertRows: steps.wrap(target.insertRows) },
        progress: { ...progress, write: steps.wrap(progress.write) },
      }).catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error
        kills += 1
        return undefined
      })
    }
    expect(kills).toBeGreaterThan(10 / stride)
    for (const { table, rows } of done) {
      expect([table, await readTable(columnar, table)]).toEqual([
        table,
        await readTable(source, table),
      ])
      // Also without FINAL: a repeated batch was recognised, and not stored again.
      const [stored] = await columnar.query<{ n: string }>(`SELECT count() AS n FROM ${table}`)
      expect([table, Number(stored?.n)]).toEqual([table, rows])
    }
    expect(Object.fromEntries(done.map(({ table, rows }) => [table, rows]))).toMatchObject({
      observations: 63,
      correlations: hostile.length,
      events: 2,
    })
  })

  test('rows that something else wrote into the target are reported', async () => {
    const columnar = await open()
    await insertMany(columnar, { project_id: newId(), rows: 3 })
    const move = { source: openRowsStore(source), target: openRowsStore(columnar) }
    const moving = moveRows({ ...limits, ...move, progress: await openProgress() })
    await expect(moving).rejects.toThrow(MoveDiffers)
  })

  test('a value that changed on the way is reported', async () => {
    const columnar = await open()
    const target = openRowsStore(columnar)
    const insertRows: RowsStore['insertRows'] = (table, rows) => {
      const text = Buffer.from(rows)
      const at = text.indexOf('name 7')
      if (at >= 0) text[at] = 0x4e
      return target.insertRows(table, text)
    }
    const move = { source: openRowsStore(source), target: { ...target, insertRows } }
    const moving = moveRows({ ...limits, ...move, progress: await openProgress() })
    await expect(moving).rejects.toThrow(/observations, 20260921: ClickHouse has 60 rows/)
  })
})

/** Texts that separators, escapes and JSON could change. */
const hostile = ['', 'tab\tline\n', "quote'\\", '{x:String}', 'ü', 'null', '\u0000']

async function fill(columnar: ColumnarServer): Promise<void> {
  await insertMany(columnar, { project_id: newId(), rows: 30 })
  const project_id = newId()
  await insertMany(columnar, { project_id, rows: 31 })
  // Another version of the same rows, and a row that was deleted.
  await insertMany(columnar, { project_id, rows: 31 })
  await columnar.command(
    `DELETE FROM observations WHERE project_id = {p:UUID} AND observation_id = '30'`,
    { p: project_id },
  )
  const large = `INSERT INTO observations (project_id, trace_id, observation_id, start_time, input, cost_usd,
      attributes, tool_calls)
    SELECT {p:UUID}, generateUUIDv4(), toString(number), toDateTime64('1999-01-01', 9) + number * 86400 * 9000,
      repeat('x', 50000), number / 3, map('k', 'v\\t'), [('id', unhex('FF00'), '{}')] FROM numbers(3)`
  await columnar.command(large, { p: project_id })
  for (const text of hostile) {
    await columnar.command(
      `INSERT INTO correlations (project_id, trace_id, correlation_type, correlation_value, time)
       SELECT {p:UUID}, generateUUIDv4(), 'ticket', {text:String}, now64(9)`,
      { p: project_id, text },
    )
  }
  await columnar.command(
    `INSERT INTO events (project_id, trace_id, event_id, time, body)
     SELECT {p:UUID}, generateUUIDv4(), unhex('FFFE'), now64(9), unhex(hex(number)) FROM numbers(2)`,
    { p: project_id },
  )
}

async function readTable(columnar: ColumnarServer, table: string): Promise<string[]> {
  const columns = await columnar.query<{ name: string }>(
    `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}`,
    { table },
  )
  const names = columns.map(({ name }) => name).join(', ')
  const rows = await columnar.query<{ row: string }>(
    `SELECT hex(formatRow('RowBinary', ${names})) AS row FROM ${table} FINAL ORDER BY row`,
  )
  return rows.map(({ row }) => row)
}

/** Lets some calls of the wrapped functions pass. The next one is made or not made, and throws. */
function killAfter(calls: number) {
  let left = calls
  const wrap =
    <A extends unknown[]>(work: (...args: A) => Promise<void>) =>
    async (...args: A): Promise<void> => {
      left -= 1
      if (left < 0) throw new Killed()
      await work(...args)
      if (left === 0) throw new Killed()
    }
  return { wrap }
}

describe('metadata', () => {
  // The policy of a partition calls the function.
  const schema = `
    create function looptrace_is_installation() returns boolean language sql as 'select true';
    create table a (id bigint generated always as identity primary key, twice bigint generated always as (id * 2) stored, doc jsonb);
    create table z (id uuid primary key, name text unique, at timestamptz(3), bytes bytea, money numeric(20, 9), list text[]);
    create table b (id uuid primary key, z uuid not null references z, a bigint references a);
    create table parts (at bigint not null, text text) partition by range (at);`

  async function openPair(): Promise<[string, string]> {
    const [source_url, target_url] = [await testPostgres('empty'), await testPostgres('empty')]
    await run(source_url, schema)
    await run(target_url, schema)
    await run(
      source_url,
      `create table parts_1 partition of parts for values from (0) to (10);
       insert into parts values (1, E'tab\\tline\\n'), (2, null), (3, '\\N');
       insert into a (doc) select jsonb_build_object('n', n) from generate_series(1, 500) n;
       insert into z select gen_random_uuid(), E'\\\\' || n, now(), decode('00ff', 'hex'), 0.000000001, array['a,b', null] from generate_series(1, 500) n;
       insert into b select gen_random_uuid(), z.id, 3 from z;`,
    )
    return [source_url, target_url]
  }

  async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
    const relational = openRelational({ scope: allTenants, url, ...pool, logger })
    const { rows } = await relational.pool.query(text)
    await relational.close()
    return rows ?? []
  }

  const pool = { pool_max: 1, connect_timeout_ms: 10_000, statement_timeout_ms: 30_000 }
  const done = async () => {}

  test('all rows are copied, and identity columns continue', async () => {
    const [source_url, target_url] = await openPair()
    const tables = await copyDatabase({ source_url, target_url, excluded: [], complete: done })
    expect(tables).toEqual([
      { table: 'a', rows: 500 },
      { table: 'parts', rows: 3 },
      { table: 'z', rows: 500 },
      { table: 'b', rows: 500 },
    ])
    for (const table of ['a', 'b', 'z', 'parts']) {
      const text = `select t::text as row from ${table} t order by 1`
      expect(await run(target_url, text)).toEqual(await run(source_url, text))
    }
    const next = `insert into a (doc) values ('{}') returning id`
    expect(await run(target_url, next)).toEqual([{ id: 501 }])
  })

  test('a copy that fails at its end leaves the target empty, and can be repeated', async () => {
    const [source_url, target_url] = await openPair()
    const fail = () => Promise.reject(new Killed())
    const copy = { source_url, target_url, excluded: [] }
    await expect(copyDatabase({ ...copy, complete: fail })).rejects.toThrow(Killed)
    expect(await run(target_url, 'select count(*) as n from z')).toEqual([{ n: 0 }])
    await copyDatabase({ ...copy, complete: done })
    await expect(copyDatabase({ ...copy, complete: done })).rejects.toThrow(
      'the PostgreSQL database is not empty: table a has rows',
    )
  })
})

describe('messages and files', () => {
  let directory = ''
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'looptrace-move-'))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  const openQueue = (path: string) =>
    openSqliteQueue({
      path: join(directory, path),
      bytes_max: 100_000_000,
      logger: keepingLogger(),
    })

  test('messages and dead letters reach the new queue, and stay in the old one', async () => {
    const old = await openQueue('old.sqlite')
    await old.publish(message('poison'))
    const consumer = await old.consume(consumeOptions, async ([one]) => one?.bury('bad'))
    await untilDead(old)
    await consumer.stop()
    await old.publish(message('one'))
    await old.publish(message('two'))
    await old.close()
    expect(await copyQueueFile(join(directory, 'none.sqlite'), join(directory, 'x.sqlite'))).toBe(
      false,
    )
    await copyQueueFile(join(directory, 'old.sqlite'), join(directory, 'copy/queue.sqlite'))
    const [copy, queue] = [await openQueue('copy/queue.sqlite'), await openQueue('new.sqlite')]
    expect(await moveMessages({ copy, queue, logger: keepingLogger() }, never)).toBe(3)
    await using both = new AsyncDisposableStack()
    const [after, kept] = [await openQueue('new.sqlite'), await openQueue('old.sqlite')]
    both.defer(() => after.close())
    both.defer(() => kept.close())
    expect(await after.stats()).toMatchObject({ pending: 3, dead: 0 })
    expect(await kept.stats()).toMatchObject({ pending: 2, dead: 1 })
  })

  async function untilDead(queue: Queue): Promise<void> {
    await eventually('a dead letter', async () => (await queue.stats()).dead === 1)
  }

  test('files are copied once', async () => {
    const source = openDirectoryBlobs({ directory: join(directory, 'from') })
    const target = openDirectoryBlobs({ directory: join(directory, 'to') })
    await source.put('p/one.parquet', [Buffer.from('one')])
    await source.put('p/two.parquet', [Buffer.from('two')])
    const puts: string[] = []
    const counting = {
      ...target,
      put: (...args: Parameters<typeof target.put>) => {
        puts.push(args[0])
        return target.put(...args)
      },
    }
    const sum = { files: 2, bytes: 6 }
    expect(await moveFiles({ source, target: counting }, never)).toEqual(sum)
    expect(await moveFiles({ source, target: counting }, never)).toEqual(sum)
    expect(puts).toEqual(['p/one.parquet', 'p/two.parquet'])
    expect((await target.stat('p/two.parquet'))?.bytes).toBe(3)
  })
})
