import { chmod, chown, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processes } from '../support/processes.ts'
import { type RoleEnd, runRole, startService } from '../support/service.ts'

/** A start that cannot succeed reports why in one sentence, with advice, and ends at once. */
let directory: string
const parts = new AsyncDisposableStack()

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-refused-'))
  await chmod(directory, 0o711)
  parts.defer(() => rm(directory, { recursive: true }))
})
afterAll(() => parts.disposeAsync())

const freePorts = { LOOPTRACE_HTTP_PORT: '0', LOOPTRACE_MANAGEMENT_PORT: '0' }

/** Permission bits restrict root without capabilities like any other user. */
const asAnyAccount =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : []

function start(data: string, env: Record<string, string> = {}): Promise<RoleEnd> {
  const settings = { LOOPTRACE_DATA_DIRECTORY: data, ...freePorts, ...env }
  return runRole('all', settings, { prefix: asAnyAccount })
}

/** One line on standard error with the error and advice; no stack. */
function expectRefusal({ status, output, stderr }: RoleEnd, message: RegExp): void {
  expect(stderr).toMatch(/^looptrace all: [^\n]+\.\n$/)
  expect(stderr).toMatch(message)
  expect(status).toBe(1)
  expect(output).not.toMatch(/\n\s+at /)
}

/** The same, before any server of a store was started. */
function expectEarlyRefusal(end: RoleEnd, message: RegExp): void {
  expectRefusal(end, message)
  expect(end.output).toBe(end.stderr)
}

const advice = 'Set LOOPTRACE_DATA_DIRECTORY to another folder'

describe('the data folder', () => {
  test('below a file', async () => {
    const file = join(directory, 'a-file')
    await writeFile(file, '')
    const end = await start(join(file, 'data'))
    expectEarlyRefusal(end, new RegExp(`${file} is a file, not a folder\\. ${advice}`))
  })

  test('with a file in its place', async () => {
    const file = join(directory, 'in-its-place')
    await writeFile(file, '')
    expectEarlyRefusal(
      await start(file),
      new RegExp(`${file} is a file, not a folder\\. ${advice}`),
    )
  })

  test('of another user', async () => {
    const folder = join(directory, 'theirs')
    await mkdir(folder)
    if (process.getuid?.() === 0) await chown(folder, 65_534, 65_534)
    await chmod(folder, 0o555)
    const end = await start(folder)
    expectEarlyRefusal(end, new RegExp(`${folder} cannot be written by this account.*${advice}`))
    expectEarlyRefusal(await start(join(folder, 'data')), /cannot be written by this account/)
  })

  test('with files of another user in it', async () => {
    const folder = join(directory, 'mixed')
    await mkdir(join(folder, 'postgres'), { recursive: true })
    await chmod(join(folder, 'postgres'), 0o555)
    if (process.getuid?.() === 0) await chown(join(folder, 'postgres'), 65_534, 65_534)
    const end = await start(folder)
    expectRefusal(end, new RegExp(`${folder}/postgres.* cannot be written by this account`))
  })

  test('at a dangling link', async () => {
    const link = join(directory, 'link')
    await symlink(join(directory, 'nowhere', 'at-all'), link)
    expectEarlyRefusal(await start(join(link, 'data')), new RegExp(`${link}.*${advice}`))
    expectEarlyRefusal(await start(link), new RegExp(`${link}.*${advice}`))
  })

  test.runIf(process.platform === 'linux')('where the system allows no folder', async () => {
    expectEarlyRefusal(
      await start('/proc/looptrace/data'),
      new RegExp(`/proc/looptrace.*${advice}`),
    )
  })

  test('on a disk with too little room', async () => {
    const env = { LOOPTRACE_DATA_FREE_BYTES_MIN: `${2 ** 50}` }
    const end = await start(join(directory, 'full'), env)
    expectEarlyRefusal(end, /has \d+ MiB free.*expected at least 1073741824 MiB.*Free some space/)
    expect(await readdir(join(directory, 'full'))).toEqual([])
  })
})

test('a setting that names a missing file', async () => {
  const end = await runRole('proxy', {
    LOOPTRACE_POSTGRES_URL: 'postgres://me@127.0.0.1:9/db',
    LOOPTRACE_NATS_URL: 'nats://127.0.0.1:9',
    LOOPTRACE_NATS_CREDENTIALS_FILE: join(directory, 'no.creds'),
  })
  expect(end.status).toBe(1)
  expect(end.stderr).toBe(
    `looptrace proxy: ENOENT: no such file or directory, open '${directory}/no.creds'\n`,
  )
})

test('a PostgreSQL that accepts connections and never answers', async () => {
  const silent = createServer()
  silent.on('connection', (socket) => parts.defer(() => void socket.destroy()))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  parts.defer(() => void silent.close())
  const { port } = silent.address() as AddressInfo
  const { status, stderr } = await start(join(directory, 'silent'), {
    LOOPTRACE_POSTGRES_URL: `postgres://me@127.0.0.1:${port}/db`,
    LOOPTRACE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
  })
  expect(stderr).toBe(
    'looptrace all: PostgreSQL (LOOPTRACE_POSTGRES_URL) is unavailable: Connection terminated due to connection timeout\n',
  )
  expect(status).toBe(1)
})

describe('a port', () => {
  test.each(['HTTP', 'MANAGEMENT'])('that is in use, of %s', async (name) => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const data = join(directory, `port-${name}`)
    const end = await start(data, { [`LOOPTRACE_${name}_PORT`]: `${port}` })
    other.close()
    expectEarlyRefusal(
      end,
      new RegExp(`127.0.0.1:${port} is in use by another process\\. .*LOOPTRACE_${name}_PORT`),
    )
    expect(await readdir(data)).not.toContain('postgres')
  })
})

describe('a server of a store that exits while it starts', () => {
  let data: string
  beforeAll(async () => {
    data = join(directory, 'broken')
    const service = await startService('all', {
      LOOPTRACE_DATA_DIRECTORY: data,
      LOOPTRACE_DEMO: 'false',
    })
    await service.stop()
  })
  const again = () => runRole('all', { LOOPTRACE_DATA_DIRECTORY: data, ...freePorts })

  test('PostgreSQL', async () => {
    const file = join(data, 'postgres/cluster/postgresql.conf')
    await rm(file)
    await writeFile(file, 'no_such_setting = 1\n', { mode: 0o644 })
    expectRefusal(await again(), /PostgreSQL in .*broken\/postgres.* FATAL: .*LOOPTRACE_LOG_LEVEL/)
    await writeFile(file, '')
  })

  test('ClickHouse', async () => {
    await writeFile(join(data, 'clickhouse/engine/metadata/looptrace.sql'), 'no statement')
    expectRefusal(await again(), /ClickHouse in .*broken\/clickhouse did not start/)
    const left = (await processes()).filter(({ command }) => command.includes(data))
    expect(left).toEqual([])
  })
})
