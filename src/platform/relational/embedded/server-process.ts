import { type ChildProcess, spawn } from 'node:child_process'
import { sleep } from '../../../kernel/time.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { PostgresBinaries } from './postgres-binaries.ts'
import { clearDataFolder, endServer, readPostmaster } from './postmaster-file.ts'
import { type ServerIdentity, serverEnvironment } from './server-identity.ts'

/** What it takes to start the server, again and again. */
export type ServerPlan = {
  binaries: PostgresBinaries
  identity: ServerIdentity
  /** PostgreSQL's data folder. */
  cluster: string
  port: number
  settings: Readonly<Record<string, string>>
  start_timeout_ms: number
  /** How often in a row the supervised server may die or not start. */
  failures_max: number
  logger: Logger
}

/** A server that takes connections. */
export type RunningServer = {
  pid: number
  /** Resolves when the process is gone, with its exit code or signal. */
  ended: Promise<string>
  /** Stops it: fast shutdown, and harder when that takes too long. */
  stop(): Promise<void>
}

/** The server ended, or took too long, before it took connections; `log` is its last words. */
export class ServerStartFailed extends Error {
  override readonly name = 'ServerStartFailed'
  readonly log: string

  constructor({ cluster }: ServerPlan, reason: string, log: string) {
    const lines = log.trim().split('\n')
    const last = lines.findLast((line) => /^(FATAL|PANIC|ERROR)/.test(line)) ?? lines.at(-1)
    super(
      `the embedded PostgreSQL in ${cluster} ${reason}: ${last}. ` +
        'Its whole log is shown with LOOPTRACE_LOG_LEVEL=debug.',
    )
    this.log = log
  }
}

/**
 * Starts the server on its data folder and resolves once it takes connections. Rejects, with the
 * server ended, when `signal` aborts before that.
 */
export async function startServer(plan: ServerPlan, signal?: AbortSignal): Promise<RunningServer> {
  const left = await clearDataFolder(plan.cluster)
  signal?.throwIfAborted()
  if (left !== undefined) plan.logger.warn({ pid: left }, 'stopped the postgres a killed run left')
  const child = spawnServer(plan)
  endWithUs(child)
  const log = followLog(child, plan.logger)
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(String(signal ?? code)))
  })
  let over: string | undefined
  ended.then((how) => {
    over = how
  })
  const pid = child.pid
  for (let waitedMs = 0; waitedMs < plan.start_timeout_ms; waitedMs += pollMs) {
    if (pid === undefined || over !== undefined) {
      throw new ServerStartFailed(plan, `ended (${await ended}) while it started`, log.tail())
    }
    const postmaster = await readPostmaster(plan.cluster)
    if (postmaster?.pid === pid && postmaster.ready) return { pid, ended, stop: () => end(child) }
    await sleep(pollMs, signal)
    if (signal?.aborted) {
      await end(child)
      signal.throwIfAborted()
    }
  }
  await end(child)
  throw new ServerStartFailed(plan, `was not ready after ${plan.start_timeout_ms} ms`, log.tail())
}

const pollMs = 10

/**
 * In a session of its own: a terminal's Ctrl-C reaches us alone, and the server stays until we
 * have drained what we hold for it.
 */
function spawnServer(plan: ServerPlan): ChildProcess {
  const { identity, binaries } = plan
  const settings = { ...serverSettings, ...plan.settings, port: String(plan.port) }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [...identity.prefix, binaries.postgres, '-D', plan.cluster, ...flags]
  const [file = '', ...args] = command
  return spawn(file, args, {
    ...identity.ids,
    cwd: '/',
    env: serverEnvironment,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

/** A process that exits without `stop` (an uncaught error) takes its server along. */
function endWithUs(child: ChildProcess): void {
  const onExit = () => child.kill('SIGINT')
  process.once('exit', onExit)
  child.once('exit', () => process.off('exit', onExit))
}

/**
 * A small server for one machine: durable (fsync stays on), on loopback only, without helpers
 * that idle (parallel and I/O workers, replication). Failed statements are the caller's to log:
 * the server's log keeps neither their text nor their values.
 */
const serverSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '40',
  shared_buffers: '32MB',
  jit: 'off',
  io_method: 'sync',
  max_worker_processes: '2',
  max_parallel_workers: '0',
  autovacuum_max_workers: '2',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  min_wal_size: '32MB',
  max_wal_size: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '',
  log_checkpoints: 'off',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

const tailCharsMax = 2_000

function followLog(child: ChildProcess, logger: Logger): { tail: () => string } {
  let tail = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    tail = `${tail}${chunk}`.slice(-tailCharsMax)
    for (const line of chunk.split('\n')) {
      if (line !== '') logger[line.startsWith('PANIC') ? 'error' : 'debug']({ postgres: line })
    }
  })
  return { tail: () => tail }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  await endServer(child.pid)
}
