import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScriptInput } from '../../src/capabilities/demo/index.ts'
import {
  type ColumnarServer,
  openColumnar,
  startEmbeddedClickHouse,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { eagerDetection, type FirstLogin, providerSettings } from './cluster.ts'
import { copyPrepared } from './prepared-data.ts'
import { type ProviderProcess, startProviderProcess } from './provider.ts'
import { type RestartableService, restartableService } from './restartable-service.ts'
import { startService } from './service.ts'

/** Role `all` as a process on embedded servers, with a scripted provider beside it. */
export type SingleMachine = AsyncDisposable & {
  directory: string
  provider: ProviderProcess
  service: RestartableService
  login: FirstLogin
  /** Pids of the servers that the service started and supervises, from their pid files. */
  postgresPid(): Promise<number>
  clickHousePid(): Promise<number>
  /** Current address of PostgreSQL, with its password. */
  postgresUrl(): Promise<string>
}

export type SingleMachineOptions = {
  env?: Record<string, string>
  script?: ScriptInput
  /** A first start, on an empty folder; by default a start on a copy of prepared data. */
  first?: boolean
}

/** Starts it in a temporary folder; the end of the scope stops it and removes the folder. */
export async function startSingleMachine(
  options: SingleMachineOptions = {},
): Promise<SingleMachine> {
  await using parts = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-single-'))
  // Under root, PostgreSQL runs as another user, who needs access to this folder.
  await chmod(directory, 0o711)
  parts.defer(() => rm(directory, { recursive: true }))
  const { script, env = {}, first = false } = options
  if (!first) await copyPrepared('single', directory, prepareData)
  const provider = await startProviderProcess({ ...(script && { script }) })
  parts.defer(() => provider.stop())
  const service = restartableService('all', {
    LOOPTRACE_DATA_DIRECTORY: directory,
    LOOPTRACE_DEMO: '0',
    ...eagerDetection,
    ...providerSettings(provider),
    ...env,
  })
  parts.defer(async () => {
    await service.stop()
  })
  await service.start()
  const all = parts.move()
  return {
    directory,
    provider,
    service,
    login: JSON.parse(await readFile(join(directory, 'first-login.json'), 'utf8')),
    postgresPid: () => pidIn(join(directory, postmasterFile)),
    postgresUrl: () => postgresUrlOf(directory),
    clickHousePid: () => pidIn(join(directory, 'clickhouse/server.pid')),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Starts role `all` on an empty folder, and stops it. */
async function prepareData(directory: string): Promise<void> {
  const settings = { LOOPTRACE_DATA_DIRECTORY: directory, LOOPTRACE_DEMO: '0' }
  const service = await startService('all', settings)
  if ((await service.stop()) !== 0) throw new Error(`it did not stop:\n${service.output()}`)
}

/** The observations of a data directory that no service uses. */
export async function columnarAtRest(directory: string): Promise<ColumnarServer & AsyncDisposable> {
  const logger = createLogger({ role: 'test', level: 'fatal' })
  const server = await startEmbeddedClickHouse({ directory: join(directory, 'clickhouse'), logger })
  const columnar = openTestColumnar(server)
  return {
    ...columnar,
    [Symbol.asyncDispose]: async () => {
      await columnar.close()
      await server.stop()
    },
  }
}

/** A connection to a test's ClickHouse, to read its tables. */
export function openTestColumnar(server: {
  url: string
  username: string
  password: string
}): ColumnarServer {
  const { url, username, password } = server
  return openColumnar({
    url,
    username,
    password,
    database: 'looptrace',
    request_timeout_ms: 30_000,
    connections_max: 2,
    compression: false,
    logger: createLogger({ role: 'test', level: 'fatal' }),
  })
}

const postmasterFile = 'postgres/cluster/postmaster.pid'

/** The port is in the fourth line of its pid file. */
async function postgresUrlOf(directory: string): Promise<string> {
  const password = await readFile(join(directory, 'postgres/password'), 'utf8')
  const lines = (await readFile(join(directory, postmasterFile), 'utf8')).split('\n')
  return `postgres://looptrace:${password.trim()}@127.0.0.1:${lines[3]}/looptrace`
}

/** ClickHouse's pid file is JSON, PostgreSQL's has the pid in its first line. */
async function pidIn(file: string): Promise<number> {
  const text = await readFile(file, 'utf8')
  const pid = text.startsWith('{') ? JSON.parse(text).pid : Number(text.split('\n')[0])
  if (!Number.isInteger(pid) || pid <= 1) throw new Error(`${file}: no pid in ${text}`)
  return pid
}
