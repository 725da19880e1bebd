import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, constants, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { childEnv } from './child-env.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { unprivilegedUser } from './unprivileged-user.ts'

const install = 'apt-get install -y --no-install-recommends pgbouncer'
const installTimeoutMs = 240_000

/** Why a test of poolers was skipped, and what to do. */
export const noPgBouncer = `no PgBouncer; install it with "${install}", or set TEST_PGBOUNCER to its path`

/** A running PgBouncer. */
export type PgBouncer = AsyncDisposable & {
  /** Address of the database behind it. */
  url: string
  /** Its version, for the names of tests. */
  version: string
}

type Options = {
  /** Address of the server, with the password of each login that connects. */
  server_url: string
  mode: 'transaction' | 'session'
  /** Connections to the server for each login and database. */
  pool_size?: number
  /** Further logins, with their passwords. */
  logins?: Readonly<Record<string, string>>
}

/** Starts PgBouncer before a server, with the settings of the guide. */
export async function startPgBouncer(path: string, options: Options): Promise<PgBouncer> {
  const { server_url, mode, pool_size = 3, logins = {} } = options
  const server = new URL(server_url)
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-pgbouncer-'))
  await chmod(directory, 0o755)
  const port = await freePort()
  const users = { [server.username]: decodeURIComponent(server.password), ...logins }
  const lines = Object.entries(users).map(([name, password]) => `"${name}" "${password}"\n`)
  await writeFile(join(directory, 'users'), lines.join(''))
  await writeFile(
    join(directory, 'ini'),
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(directory, 'users')}
pool_mode = ${mode}
default_pool_size = ${pool_size}
max_client_conn = 200
`,
  )
  const child = spawn(path, [join(directory, 'ini')], {
    ...unprivilegedUser(),
    env: childEnv({}),
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const url = new URL(server_url)
  url.host = `127.0.0.1:${port}`
  const dispose = async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit')
    await rm(directory, { recursive: true })
  }
  try {
    await eventually('PgBouncer answers', () => answers(url.href))
  } catch (error) {
    await dispose()
    throw error
  }
  const { stdout } = await promisify(execFile)(path, ['--version'])
  const version = stdout.split('\n')[0] ?? ''
  return { url: url.href, version, [Symbol.asyncDispose]: dispose }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  return client
    .connect()
    .then(() => client.query('select 1'))
    .then(
      () => true,
      () => false,
    )
    .finally(() => client.end().catch(() => undefined))
}

/**
 * Returns the path of PgBouncer: TEST_PGBOUNCER, else the first one on the PATH or in /usr/sbin.
 * With TEST_INSTALL=1, as CI sets it, root installs a missing one, and does not start its service.
 */
export async function pgBouncerPath(): Promise<string | undefined> {
  const given = process.env['TEST_PGBOUNCER']
  if (given !== undefined) return given
  const found = await findPgBouncer()
  if (found !== undefined || !mayInstall()) return found
  await installOnce().catch(() => undefined)
  return findPgBouncer()
}

function mayInstall(): boolean {
  return process.env['TEST_INSTALL'] === '1' && process.getuid?.() === 0
}

async function findPgBouncer(): Promise<string | undefined> {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  for (const folder of [...folders, '/usr/sbin']) {
    const path = join(folder, 'pgbouncer')
    const isProgram = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isProgram) return path
  }
  return undefined
}

/** Processes install one after another. In run level 1, Debian starts no service. */
async function installOnce(): Promise<void> {
  const quick = '-o Acquire::Retries=1 -o Acquire::http::Timeout=15'
  const script = `command -v pgbouncer || { apt-get ${quick} update && ${install} ${quick}; }`
  await promisify(execFile)('flock', ['/tmp/looptrace-pgbouncer.lock', 'sh', '-c', script], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    timeout: installTimeoutMs,
    maxBuffer: 16 * 1024 * 1024,
  })
}
