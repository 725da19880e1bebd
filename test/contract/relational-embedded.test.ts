import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { isRunning } from '../../src/platform/relational/embedded/server-process.ts'
import {
  asStoreProblem,
  type EmbeddedPostgres,
  openRelational,
  type Relational,
  sql,
  startEmbeddedPostgres,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { eventually } from '../support/eventually.ts'

/** The servers of these tests have no schema and no role of the service. */
const withoutSchema = { kind: 'owner', reason: 'no schema' } as const

const logger = createLogger({ role: 'test', level: 'silent' })
const cleanUps: (() => Promise<unknown>)[] = []
let directory: string

beforeAll(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'looptrace-embedded-')), 'postgres')
})

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

afterAll(() => rm(join(directory, '..'), { recursive: true }))

test('it starts in an empty folder, and after a killed start', async () => {
  await mkdir(`${directory}/new-0badc0de/base`, { recursive: true })
  const server = await start()
  const { pool } = open(server)
  await pool.query('create table kept (n int primary key)')
  await pool.query('insert into kept values (1)')
  expect((await readdir(directory)).sort()).toEqual(['cluster', 'password', 'service.lock'])
  expect((await stat(`${directory}/password`)).mode & 0o777).toBe(0o600)
  const settings = await pool.query(
    `select current_setting('fsync') as fsync, current_setting('listen_addresses') as listens,
       current_setting('server_encoding') as encoding, current_database() as name`,
  )
  expect(settings.rows).toEqual([
    { fsync: 'on', listens: '127.0.0.1', encoding: 'UTF8', name: 'looptrace' },
  ])
})

test('only the password grants access, also if a group may read the folder', async () => {
  await chmod(`${directory}/cluster`, 0o770)
  const url = new URL((await start()).url)
  for (const password of ['', 'postgres', 'looptrace']) {
    url.password = password
    await expect(open({ url: url.href }).ping()).rejects.toThrow(/password/)
  }
})

test('killed with -9 it restarts on its port, with all committed data', async () => {
  const restarts: { pid: number; restarts: number }[] = []
  const server = await start((restart) => restarts.push(restart))
  const { pool, ping } = open(server)
  const transaction = await pool.connect()
  await transaction.query('begin')
  await transaction.query('insert into kept values (3)')
  await pool.query('insert into kept values (2)')
  const running = pool.query('select pg_sleep(30)').catch((error: unknown) => error)
  const killed = server.pid
  process.kill(killed, 'SIGKILL')
  expect(asStoreProblem(await running)).toMatchObject({ code: 'store_unavailable' })
  await eventually('the server is back', () => server.restarts === 1)
  const late = await transaction.query('commit').catch((error: unknown) => error)
  expect(asStoreProblem(late)).toMatchObject({ code: 'store_unavailable' })
  transaction.release(true)
  await ping()
  expect((await pool.query('select n from kept order by n')).rows).toEqual([{ n: 1 }, { n: 2 }])
  expect(server.pid).not.toBe(killed)
  expect(restarts).toEqual([{ pid: server.pid, restarts: 1 }])
})

test('a stopped server is store_unavailable for every statement', async () => {
  const server = await start()
  const store = open(server)
  await store.ping()
  await server.stop()
  for (let query = 0; query < 3; query += 1) {
    const error = await store.ping().catch((error: unknown) => error)
    expect(asStoreProblem(error)).toMatchObject({ code: 'store_unavailable', retry_after_s: 1 })
    const statement = sql`select 1`.execute(store.db)
    await expect(statement).rejects.toMatchObject({ code: 'store_unavailable', retry_after_s: 1 })
  }
})

test('a server that dies in a transaction is store_unavailable; a faulty statement is not', async () => {
  const server = await start()
  const { db } = open(server)
  const faulty = sql`select nothing`.execute(db)
  await expect(faulty).rejects.toMatchObject({ code: '42703' })
  const transaction = db.transaction().execute(async (trx) => {
    await sql`select 1`.execute(trx)
    process.kill(server.pid, 'SIGKILL')
    await sql`select pg_sleep(30)`.execute(trx)
  })
  await expect(transaction).rejects.toMatchObject({ code: 'store_unavailable' })
})

test('a pool without a free connection reports store_unavailable', async () => {
  const limits = { pool_max: 1, connect_timeout_ms: 50, statement_timeout_ms: 10_000 }
  const { pool, ping, close } = openRelational({
    scope: withoutSchema,
    url: (await start()).url,
    ...limits,
    logger,
  })
  const busy = await pool.connect()
  const error = await ping().catch((error: unknown) => error)
  expect(asStoreProblem(error)).toMatchObject({ code: 'store_unavailable' })
  busy.release()
  await close()
})

test('the server of a service that was killed with -9 is replaced, its data found', async () => {
  const { service, pid } = await startInOwnProcess()
  service.kill('SIGKILL')
  await once(service, 'exit')
  expect(await isRunning(pid)).toBe(true)
  const server = await start()
  expect(await isRunning(pid)).toBe(false)
  expect((await open(server).pool.query('select n from kept order by n')).rows).toHaveLength(2)
})

test('a folder that another process supervises is left alone', async () => {
  const { pid } = await startInOwnProcess()
  await expect(start()).rejects.toThrow(
    `${directory}: another process runs a server on this folder`,
  )
  expect(await isRunning(pid)).toBe(true)
})

test('a service that just exits stops its server', async () => {
  const { service, pid } = await startInOwnProcess()
  service.stdin?.end()
  expect(await once(service, 'exit')).toEqual([3, null])
  await eventually('the server ends', async () => !(await isRunning(pid)))
})

test('a pid file that names another program affects neither that program nor the start', async () => {
  await (await start()).stop()
  const stranger = spawn('sleep', ['60'])
  cleanUps.push(async () => stranger.kill('SIGKILL'))
  await writeFile(`${directory}/cluster/postmaster.pid`, `${stranger.pid}\n${directory}/cluster\n`)
  await open(await start()).ping()
  expect(stranger.exitCode ?? stranger.signalCode).toBe(null)
})

test('stop ends the server, may be called twice, and releases the folder', async () => {
  const server = await start()
  const { pid } = server
  await Promise.all([server.stop(), server.stop()])
  expect(await server.stopped).toBe(undefined)
  expect(await isRunning(pid)).toBe(false)
  await expect(readFile(`${directory}/cluster/postmaster.pid`)).rejects.toThrow('ENOENT')
  await open(await start()).ping()
})

test('a server that cannot start reports why', async () => {
  const settings = { shared_buffers: 'lots' }
  await expect(startEmbeddedPostgres({ directory, settings, logger })).rejects.toThrow(
    /ended \(1\) while it started: .*invalid value for parameter "shared_buffers": "lots"/,
  )
  await open(await start()).ping()
})

test('a server that cannot be restarted is given up, and the owner gets the reason', async () => {
  const server = await startEmbeddedPostgres({ directory, failures_max: 2, logger })
  cleanUps.push(() => server.stop())
  await writeFile(`${directory}/cluster/PG_VERSION`, '9.6')
  process.kill(server.pid, 'SIGKILL')
  const error = await server.stopped
  expect(error).toMatchObject({ message: 'postgres failed 2 times in a row' })
  expect(String(error?.cause)).toContain('database files are incompatible with server')
  await writeFile(`${directory}/cluster/PG_VERSION`, '18')
  await open(await start()).ping()
})

async function start(on_restart?: (restart: { pid: number; restarts: number }) => void) {
  const server = await startEmbeddedPostgres({
    directory,
    logger,
    ...(on_restart === undefined ? {} : { on_restart }),
  })
  cleanUps.push(() => server.stop())
  return server
}

function open({ url }: Pick<EmbeddedPostgres, 'url'>): Relational<unknown> {
  const limits = { pool_max: 3, connect_timeout_ms: 10_000, statement_timeout_ms: 10_000 }
  const store = openRelational<unknown>({ scope: withoutSchema, url, ...limits, logger })
  cleanUps.push(store.close)
  return store
}

async function startInOwnProcess(): Promise<{ service: ChildProcess; pid: number }> {
  const script = fileURLToPath(new URL('../support/embedded-postgres-process.ts', import.meta.url))
  const service = spawn(process.execPath, [script, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  cleanUps.push(async () => service.kill('SIGTERM'))
  const [line] = await once(service.stdout.setEncoding('utf8'), 'data')
  return { service, pid: JSON.parse(line).pid }
}
