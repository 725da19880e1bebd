import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type ColumnarServer,
  ColumnarUnavailable,
  type EmbeddedClickHouse,
  openColumnar,
  startEmbeddedClickHouse,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { commandLine, isAlive } from '../support/alive.ts'
import { columnarOptions } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'

let directory: string
let parts: AsyncDisposableStack
const logger = createLogger({ role: 'test', level: 'silent' })
const patience = { timeout_ms: 30_000, interval_ms: 20 }

beforeEach(async () => {
  parts = new AsyncDisposableStack()
  directory = await mkdtemp(join(tmpdir(), 'looptrace-embedded-clickhouse-'))
  parts.defer(() => rm(directory, { recursive: true, force: true }))
})
afterEach(() => parts.disposeAsync())

test('a killed server restarts on its port with its data, and stop ends it', async () => {
  const restarts: number[] = []
  const server = await started({ on_restart: (count) => restarts.push(count) })
  const columnar = opened(server)
  await columnar.command('CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a')
  await columnar.command('INSERT INTO t SELECT 7')
  const first = killed(server)
  await eventually('it is back', () => columnar.ping(), patience)
  expect(restarts).toEqual([1])
  expect(server.pid()).not.toBe(first)
  expect(await columnar.query('SELECT a FROM t')).toEqual([{ a: 7 }])
  const second = server.pid()
  await server.stop()
  expect(await isAlive(second)).toBe(false)
  expect(await columnar.ping()).toBe(false)
  expect(server.pid()).toBeUndefined()
})

test('the password is random, in a file that only its owner can read, and in no command line', async () => {
  const server = await started()
  const path = join(directory, 'password')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readFile(path, 'utf8')).toBe(server.password)
  expect(server.password.length).toBeGreaterThanOrEqual(32)
  const shown = await commandLine(server.pid() ?? 0)
  expect(shown).toContain('server.ts')
  expect(shown).not.toContain(server.password)
})

test('a server ends with its parent, even when the parent is killed', async () => {
  const { parent, pid } = await inProcess()
  parent.kill('SIGKILL')
  await eventually('the child ended', async () => !(await isAlive(pid)), patience)
  const server = await started()
  expect(await opened(server).ping()).toBe(true)
})

test('a hanging orphan is ended, and its data taken over', async () => {
  const { parent, pid } = await inProcess()
  process.kill(pid, 'SIGSTOP')
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  const server = await started()
  expect(await isAlive(pid)).toBe(false)
  expect(await opened(server).ping()).toBe(true)
})

test('a pid that another program has now is left alone', async () => {
  const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  parts.defer(() => void bystander.kill('SIGKILL'))
  const holder = { pid: bystander.pid, parent_pid: 4_000_000 }
  await writeFile(join(directory, 'server.pid'), JSON.stringify(holder))
  expect(await opened(await started()).ping()).toBe(true)
  expect(await isAlive(bystander.pid)).toBe(true)
})

test('two services do not share a directory, and the first one continues', async () => {
  const server = await started()
  const { pid } = { pid: server.pid() }
  const second = startEmbeddedClickHouse({ directory, logger })
  await expect(second).rejects.toThrow(`process ${pid} serves this data folder`)
  expect(server.pid()).toBe(pid)
  expect(await opened(server).ping()).toBe(true)
})

test('stop lets a running statement end', async () => {
  const server = await started()
  const columnar = opened(server)
  await columnar.ping()
  const slow = columnar.query('SELECT sleep(2) AS slept')
  await eventually(
    'it runs',
    async () => {
      const sql = "SELECT query FROM system.processes WHERE query LIKE '%slept%'"
      return (await columnar.query(sql)).length > 1
    },
    patience,
  )
  await server.stop()
  expect(await slow).toEqual([{ slept: 0 }])
})

test('an orphan does not wait for an endless statement', async () => {
  const { parent, pid, url } = await inProcess()
  const password = await readFile(join(directory, 'password'), 'utf8')
  const columnar = opened({ url, username: 'looptrace', password })
  const endless = 'SELECT sum(cityHash64(number)) AS endless FROM numbers(1000000000000)'
  const cut = columnar.query(endless).catch((error: unknown) => error)
  await eventually(
    'it runs',
    async () => {
      const sql = "SELECT query FROM system.processes WHERE query LIKE '%AS endless%'"
      return (await columnar.query(sql)).length > 1
    },
    patience,
  )
  parent.kill('SIGKILL')
  await eventually('the child ended', async () => !(await isAlive(pid)), patience)
  expect(await cut).toBeInstanceOf(ColumnarUnavailable)
})

test('it runs as a separate process too', async () => {
  const path = fileURLToPath(
    new URL('../../src/platform/columnar/embedded/server.ts', import.meta.url),
  )
  const child = spawn(process.execPath, [path, '--directory', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  parts.defer(() => void child.kill('SIGKILL'))
  const { port } = await firstLine<{ port: number }>(child)
  const password = await readFile(join(directory, 'password'), 'utf8')
  const url = `http://127.0.0.1:${port}`
  const columnar = opened({ url, username: 'looptrace', password })
  expect(await columnar.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

type Login = Pick<EmbeddedClickHouse, 'url' | 'username' | 'password'>

function opened({ url, username, password }: Login): ColumnarServer {
  const columnar = openColumnar(columnarOptions({ url, username, password, database: 'default' }))
  parts.defer(() => columnar.close())
  return columnar
}

async function started(about: { on_restart?: (count: number) => void } = {}) {
  const server = await startEmbeddedClickHouse({ directory, logger, ...about })
  parts.defer(() => server.stop())
  return server
}

function killed(server: EmbeddedClickHouse): number {
  const pid = server.pid()
  if (pid === undefined) throw new Error('the server does not run')
  process.kill(pid, 'SIGKILL')
  return pid
}

/** A service in another process, with its server. */
async function inProcess(): Promise<{ parent: ChildProcess; pid: number; url: string }> {
  const path = fileURLToPath(new URL('../support/embedded-clickhouse-process.ts', import.meta.url))
  const parent = spawn(process.execPath, [path, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  parts.defer(() => void parent.kill('SIGKILL'))
  const { pid, url } = await firstLine<{ pid: number; url: string }>(parent)
  return { parent, pid, url }
}

async function firstLine<T>(child: ChildProcess): Promise<T> {
  if (!child.stdout) throw new Error('the child has no standard output')
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line)
  throw new Error('the child said nothing')
}
