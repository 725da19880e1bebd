import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { descendants, processes } from '../support/processes.ts'
import { beginRole, type StartingRole, startService } from '../support/service.ts'
import { quarterOf } from '../support/suite/budget.ts'

/** SIGTERM ends a start within seconds at any point; the next start completes. */
let directory: string
const parts = new AsyncDisposableStack()

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-stopped-'))
  await chmod(directory, 0o711)
  parts.defer(() => rm(directory, { recursive: true }))
})
afterAll(() => parts.disposeAsync())

const freePorts = { LOOPTRACE_HTTP_PORT: '0', LOOPTRACE_MANAGEMENT_PORT: '0' }
const settings = (data: string) => ({
  LOOPTRACE_DATA_DIRECTORY: join(directory, data),
  LOOPTRACE_LOG_LEVEL: 'debug',
  ...freePorts,
})

/** The service's own limits add up to less; a busy machine needs some time to end processes. */
const end_ms_max = 30_000
const patience = { timeout_ms: 120_000, interval_ms: 2 }

async function expectEnd(role: StartingRole): Promise<void> {
  const started_ms = performance.now()
  role.signal('SIGTERM')
  const status = await Promise.race([role.ended, sleep(end_ms_max).then(() => 'it still runs')])
  if (status !== 0) role.signal('SIGKILL')
  expect([status, role.output()]).toEqual([0, expect.not.stringMatching(/\n\s+at /)])
  console.log(`ended after ${Math.round(performance.now() - started_ms)} ms`)
  await eventually(
    'no process is left',
    async () => !(await processes()).some(({ command }) => command.includes(directory)),
    patience,
  )
}

/** Log lines of a first start, in order. */
const moments = [
  ['it creates the data folder of PostgreSQL', /creating the data folder of PostgreSQL/],
  ['PostgreSQL starts', /starting PostgreSQL/],
  ['it migrates PostgreSQL', /migrating PostgreSQL/],
  ['it migrates ClickHouse', /migrating ClickHouse/],
  ['it listens', /"msg":"listening"/],
  ['it is ready and plays the sample', /"msg":"ready"/],
] as const

describe('SIGTERM', () => {
  test.each(quarterOf(moments))('while %s', async (_name, sign) => {
    const role = beginRole('all', settings('moments'))
    await eventually(String(sign), () => sign.test(role.output()), patience)
    await expectEnd(role)
    await rm(join(directory, 'moments'), { recursive: true })
  })

  test.each(quarterOf([150, 400, 900, 1_600]))('%d ms after the first line', async (wait_ms) => {
    const role = beginRole('all', settings('any'))
    await eventually('a line', () => role.output() !== '', patience)
    await sleep(wait_ms)
    await expectEnd(role)
  })

  test('after all of that the service starts, and has lost nothing', async () => {
    const service = await startService('all', { ...settings('any'), LOOPTRACE_DEMO: 'false' })
    expect((await fetch(`${service.management_url}/readyz`)).status).toBe(200)
    expect(await service.stop()).toBe(0)
  })

  test('while the server of ClickHouse hangs before it is ready', async () => {
    const folder = join(directory, 'stuck/clickhouse')
    await mkdir(folder, { recursive: true })
    // It waits for a writer of this pipe.
    execFileSync('mkfifo', [join(folder, 'server.pid')])
    const role = beginRole('all', settings('stuck'))
    await eventually('its child', async () => (await descendants(role.pid)).length > 1, patience)
    await sleep(3_000)
    await expectEnd(role)
  })

  test('while a store accepts connections and never answers', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const asked = new Promise((resolve) => silent.once('connection', resolve))
    const role = beginRole('all', {
      ...settings('silent'),
      LOOPTRACE_POSTGRES_URL: `postgres://me@127.0.0.1:${port}/db`,
    })
    await asked
    await expectEnd(role)
    silent.close()
  })
})
