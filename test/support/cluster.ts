import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScriptInput } from '../../src/capabilities/demo/index.ts'
import {
  type EmbeddedClickHouse,
  startEmbeddedClickHouse,
} from '../../src/platform/columnar/index.ts'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { type NatsServer, startNatsServer } from './nats.ts'
import { copyPrepared } from './prepared-data.ts'
import { type ProviderProcess, startProviderProcess } from './provider.ts'
import { type RestartableService, restartableService } from './restartable-service.ts'
import { runRole } from './service.ts'

/** The first login, as `migrate` prints it once. */
export type FirstLogin = {
  organization_id: string
  project_id: string
  admin_email: string
  admin_password: string
  project_key: string
}

/** The service as in a cluster: each role, each store and the provider is a process. */
export type Cluster = AsyncDisposable & {
  /** Folder of all files: stores, queue, the proxy's spool. */
  directory: string
  login: FirstLogin
  provider: ProviderProcess
  proxy: RestartableService
  api: RestartableService
  worker: RestartableService
  nats: NatsServer
  postgres: StoreServer<EmbeddedPostgres>
  clickhouse: StoreServer<EmbeddedClickHouse>
  /** The output of all roles so far. */
  output(): string
  /** The environment that roles start with. */
  env: Readonly<Record<string, string>>
  /** Start time of the servers, the migration and the roles. */
  start_up_ms: Record<'servers' | 'migrate' | 'roles', number>
  stop(): Promise<void>
}

/** A store's server that can be stopped and started again with the same port and files. */
type StoreServer<T extends { stop(): Promise<void> }> = {
  /** The current server; its pid is the process to kill, and a supervisor restarts it. */
  server(): T
  /** Stops it until `start`. */
  stop(): Promise<void>
  start(): Promise<void>
}

export type ClusterOptions = {
  /** Settings of every role, which override those of the cluster. */
  env?: Record<string, string>
  script?: ScriptInput
  /** Settings of the PostgreSQL server. */
  postgres_settings?: Readonly<Record<string, string>>
  /** Fills the empty stores before `migrate` runs, and returns the first login in them. */
  fill?: (settings: Record<string, string>) => Promise<FirstLogin>
}

/**
 * Starts PostgreSQL, ClickHouse, nats-server with JetStream and a scripted provider, and then
 * `proxy`, `api` and `worker`: all on free loopback ports, in one temporary folder. The stores are
 * copies of migrated ones, unless the test fills them or has its own keys. `stop` ends the
 * processes and removes the folder.
 */
export async function startCluster({
  env = {},
  script,
  postgres_settings = {},
  fill,
}: ClusterOptions = {}): Promise<Cluster> {
  await using parts = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-cluster-'))
  // Under root, PostgreSQL runs as another user, who needs access to this folder.
  await chmod(directory, 0o711)
  parts.defer(() => rm(directory, { recursive: true }))

  // `migrate` stores what depends on these keys.
  const ownKeys = ['LOOPTRACE_SECRET_KEY', 'LOOPTRACE_OPERATOR_KEY'].some((name) => name in env)
  const isPrepared = fill === undefined && !ownKeys
  if (isPrepared) await copyPrepared('cluster', directory, prepareStores)
  const started_ms = performance.now()
  const servers = await startServers(directory, { script, postgres_settings }, parts)
  const servers_ms = performance.now()
  const settings = { ...settingsFor(servers, directory), ...env }
  const filled = await fill?.(settings)
  const login = isPrepared
    ? JSON.parse(await readFile(join(directory, loginFile), 'utf8'))
    : await migrate(settings, filled)
  const migrated_ms = performance.now()

  const roles = {
    proxy: restartableService('proxy', settings),
    api: restartableService('api', settings),
    worker: restartableService('worker', settings),
  }
  for (const role of Object.values(roles)) parts.defer(async () => void (await role.stop()))
  await Promise.all(Object.values(roles).map((role) => role.start()))
  const ready_ms = performance.now()

  const all = parts.move()
  const stop = () => all.disposeAsync()
  return {
    directory,
    login,
    ...servers,
    ...roles,
    env: settings,
    output: () =>
      Object.values(roles)
        .map((role) => role.output())
        .join('\n'),
    start_up_ms: {
      servers: servers_ms - started_ms,
      migrate: migrated_ms - servers_ms,
      roles: ready_ms - migrated_ms,
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const loginFile = 'first-login.json'

/** Fills a folder with migrated stores and the first login in them. */
async function prepareStores(directory: string): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const servers = await startServers(directory, {}, parts)
  const login = await migrate(settingsFor(servers, directory))
  await writeFile(join(directory, loginFile), JSON.stringify(login))
  await servers.nats.stop()
  await rm(join(directory, 'nats'), { recursive: true })
}

async function migrate(
  settings: Record<string, string>,
  filled?: FirstLogin | undefined,
): Promise<FirstLogin> {
  const migrated = await runRole('migrate', settings)
  return filled ?? firstLoginIn(migrated)
}

/** Options of the servers around the roles. */
type ServerOptions = {
  script?: ScriptInput | undefined
  postgres_settings?: Readonly<Record<string, string>>
}

type Servers = Pick<Cluster, 'provider' | 'nats' | 'postgres' | 'clickhouse'>

async function startServers(
  directory: string,
  { script, postgres_settings = {} }: ServerOptions,
  parts: AsyncDisposableStack,
): Promise<Servers> {
  const logger = createLogger({ role: 'test-cluster', level: 'fatal' })
  const starting = {
    provider: startProviderProcess({ ...(script && { script }) }),
    nats: startNatsServer({ directory: join(directory, 'nats') }),
    postgres: storeServer((port) =>
      startEmbeddedPostgres({
        directory: join(directory, 'postgres'),
        ...port,
        settings: postgres_settings,
        logger,
      }),
    ),
    clickhouse: storeServer((port) =>
      startEmbeddedClickHouse({ directory: join(directory, 'clickhouse'), ...port, logger }),
    ),
  }
  for (const server of Object.values(starting)) {
    parts.defer(async () => {
      const started = await server.catch(() => undefined)
      await started?.stop()
    })
  }
  const [provider, nats, postgres, clickhouse] = await Promise.all([
    starting.provider,
    starting.nats,
    starting.postgres,
    starting.clickhouse,
  ])
  return { provider, nats, postgres, clickhouse }
}

async function storeServer<T extends { url: string; stop(): Promise<void> }>(
  start: (at: { port?: number }) => Promise<T>,
): Promise<StoreServer<T>> {
  let server = await start({})
  const port = Number(new URL(server.url).port)
  return {
    server: () => server,
    stop: () => server.stop(),
    start: async () => {
      server = await start({ port })
    },
  }
}

function settingsFor(servers: Servers, directory: string): Record<string, string> {
  const { provider, nats } = servers
  const clickhouse = servers.clickhouse.server()
  return {
    LOOPTRACE_POSTGRES_URL: servers.postgres.server().url,
    LOOPTRACE_CLICKHOUSE_URL: clickhouse.url,
    LOOPTRACE_CLICKHOUSE_USERNAME: clickhouse.username,
    LOOPTRACE_CLICKHOUSE_PASSWORD: clickhouse.password,
    LOOPTRACE_NATS_URL: nats.url,
    LOOPTRACE_SECRET_KEY: 'a secret key of the tests, long enough',
    LOOPTRACE_DATA_DIRECTORY: join(directory, 'proxy'),
    LOOPTRACE_GRACE_PERIOD_MS: '5000',
    ...eagerDetection,
    ...providerSettings(provider),
  }
}

/** Tests wait for verdicts, so detection need not leave time to other work. */
export const eagerDetection = { LOOPTRACE_DETECTION_BUSY_PERCENT: '100' }

/** Settings that point the three providers of a proxy to a scripted provider. */
export function providerSettings({
  base_urls,
}: Pick<ProviderProcess, 'base_urls'>): Record<string, string> {
  return {
    LOOPTRACE_OPENAI_BASE_URL: base_urls.openai,
    LOOPTRACE_ANTHROPIC_BASE_URL: base_urls.anthropic,
    LOOPTRACE_GEMINI_BASE_URL: base_urls.gemini,
  }
}

function firstLoginIn({ status, output }: { status: number | null; output: string }): FirstLogin {
  const line = output.split('\n').find((text) => text.startsWith('{"first_login"'))
  if (status !== 0 || line === undefined) throw new Error(`role migrate failed:\n${output}`)
  return JSON.parse(line).first_login
}
