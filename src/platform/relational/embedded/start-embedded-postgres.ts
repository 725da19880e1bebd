import { realpath } from 'node:fs/promises'
import { createServer } from 'node:net'
import pg from 'pg'
import { backOff } from '../../../kernel/back-off.ts'
import { sleep } from '../../../kernel/time.ts'
import { FolderInUse, lockFolder, makeFolder } from '../../folders/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import { embeddedRole, prepareDataFolder } from './data-folder.ts'
import { EmbeddedPostgresRefused, findPostgresBinaries } from './postgres-binaries.ts'
import { serverIdentity } from './server-identity.ts'
import {
  type RunningServer,
  type ServerPlan,
  ServerStartFailed,
  startServer,
} from './server-process.ts'

/** Options of an embedded PostgreSQL. */
export type EmbeddedPostgresOptions = {
  /** Folder for its data and password; created if missing. */
  directory: string
  /** Port on 127.0.0.1; by default a free port, chosen at each start of this process. */
  port?: number
  /** Maximum time to recover and accept connections; 120 s by default. */
  start_timeout_ms?: number
  /** Maximum consecutive early deaths or failed starts; 20 by default. */
  failures_max?: number
  /** Settings of PostgreSQL that override the defaults here. */
  settings?: Readonly<Record<string, string>>
  /** Called after a restart of the server, which keeps its port. */
  on_restart?: RestartListener
  /** Aborts a start in progress, which then rejects. Does not stop a running server. */
  signal?: AbortSignal
  logger: Logger
}

/** A running, supervised, embedded PostgreSQL. */
export type EmbeddedPostgres = {
  /** With the password; for `openRelational` and `migrateRelational`. */
  url: string
  /** Pid of the server. Changes with a restart. */
  readonly pid: number
  /** Number of restarts. */
  readonly restarts: number
  /** Resolves to undefined after `stop`, or to an error when restarts keep failing. */
  stopped: Promise<Error | undefined>
  /** Closes connections, flushes data and stops the server. May be called twice. */
  stop(): Promise<void>
}

/**
 * Starts PostgreSQL as a child process on loopback and keeps it running: creates its data folder if
 * missing, stops the server of a killed run on it, and restarts a server that dies. Throws
 * EmbeddedPostgresRefused when a requirement is missing on this machine, otherwise
 * ServerStartFailed with the end of the server's log.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  await makeFolder(options.directory)
  const directory = await realpath(options.directory)
  const unlock = lock(directory)
  try {
    return await startLocked({ ...options, directory }, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

function lock(directory: string): () => void {
  try {
    return lockFolder(directory)
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    const reason = `${directory}: another process runs a server on this folder`
    throw new EmbeddedPostgresRefused(reason, { cause: error })
  }
}

async function startLocked(
  options: EmbeddedPostgresOptions,
  unlock: () => void,
): Promise<EmbeddedPostgres> {
  const { directory, logger, signal } = options
  const binaries = await findPostgresBinaries()
  const identity = await serverIdentity([directory, binaries.postgres])
  const { cluster, password } = await prepareDataFolder(directory, {
    binaries,
    identity,
    logger,
    signal,
  })
  const { start_timeout_ms = 120_000, failures_max = 20, settings = {} } = options
  const limits = { start_timeout_ms, failures_max }
  const basePlan = { binaries, identity, cluster, settings, ...limits, logger }
  const { plan, first } = await startOnPort(basePlan, options)
  const url = (database: string) =>
    `postgres://${embeddedRole}:${password}@127.0.0.1:${plan.port}/${database}`
  await makeDatabase(url('postgres')).catch(async (error: unknown) => {
    await first.stop()
    throw error
  })
  const server = supervise(plan, first, options.on_restart)
  const stopped = server.stopped.finally(unlock)
  return {
    url: url(embeddedRole),
    get pid() {
      return server.pid()
    },
    get restarts() {
      return server.restarts()
    },
    stopped,
    stop: async () => {
      await server.stop()
      await stopped
    },
  }
}

const portTriesMax = 5

/**
 * Starts the server on the given port, or on a free one. Retries if a free port was taken
 * meanwhile.
 */
async function startOnPort(
  basePlan: Omit<ServerPlan, 'port'>,
  { port, signal }: Pick<EmbeddedPostgresOptions, 'port' | 'signal'>,
): Promise<{ plan: ServerPlan; first: RunningServer }> {
  for (let tries = 1; ; tries += 1) {
    const plan = { ...basePlan, port: port ?? (await freePort()) }
    try {
      return { plan, first: await startServer(plan, signal) }
    } catch (error) {
      const taken = error instanceof ServerStartFailed && error.log.includes('could not bind')
      if (port !== undefined || !taken || tries === portTriesMax) throw error
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}

async function makeDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [embeddedRole])
    if (found.rowCount === 0) await client.query(`create database ${embeddedRole}`)
  } finally {
    await client.end()
  }
}

/** A server that is restarted when it dies. */
type SupervisedServer = {
  /** Pid of the current server. */
  pid: () => number
  /** Number of restarts so far. */
  restarts: () => number
  /** Resolves when supervision ends; see `EmbeddedPostgres.stopped`. */
  stopped: Promise<Error | undefined>
  stop(): Promise<void>
}

/** Called after a restart. */
type RestartListener = (restart: { pid: number; restarts: number }) => void

/** Supervises a running server until `stop`, or until restarts keep failing. */
function supervise(
  plan: ServerPlan,
  first: RunningServer,
  onRestart: RestartListener | undefined,
): SupervisedServer {
  const abort = new AbortController()
  let server = first
  let restarts = 0
  const restarted = (next: RunningServer) => {
    server = next
    restarts += 1
    plan.logger.info({ pid: next.pid, restarts }, 'postgres was restarted')
    onRestart?.({ pid: next.pid, restarts })
  }
  const stopped = watch({ plan, first, restarted, signal: abort.signal })
  return {
    pid: () => server.pid,
    restarts: () => restarts,
    stopped,
    stop: async () => {
      abort.abort()
      await server.stop()
      await stopped
    },
  }
}

type Watch = {
  plan: ServerPlan
  first: RunningServer
  restarted: (next: RunningServer) => void
  signal: AbortSignal
}

const restartBackOff = { base_ms: 50, max_ms: 5_000 }

/** A server that lived this long resets the count of failures. */
const stableMs = 10_000

async function watch({ plan, first, restarted, signal }: Watch): Promise<Error | undefined> {
  let server: RunningServer | undefined = first
  let cause: unknown
  for (let failures = 0; failures < plan.failures_max; failures += 1) {
    if (server !== undefined) {
      const bornMs = performance.now()
      const ended = await server.ended
      if (!signal.aborted) plan.logger.error({ ended }, 'postgres died')
      if (performance.now() - bornMs > stableMs) failures = 0
    }
    await sleep(backOff(restartBackOff, failures + 1), signal)
    if (signal.aborted) return undefined
    server = await startServer(plan).catch((error: unknown) => {
      cause = error
      plan.logger.error({ err: error }, 'postgres did not restart')
      return undefined
    })
    if (signal.aborted) await server?.stop()
    else if (server !== undefined) restarted(server)
  }
  await server?.stop()
  return new Error(`postgres failed ${plan.failures_max} times in a row`, { cause })
}
