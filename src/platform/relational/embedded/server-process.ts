import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFile, readlink, realpath, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { sleep } from '../../../kernel/time.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { PostgresBinaries } from './postgres-binaries.ts'
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

/** What a server says about itself in `postmaster.pid` of its data folder. */
type Postmaster = { pid: number; ready: boolean }

/** Reads `postmaster.pid`: line 1 is the pid, line 8 the state. Undefined when there is none. */
async function readPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const text = await readFile(`${cluster}/postmaster.pid`, 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return { pid, ready: lines[7]?.trim() === 'ready' }
}

/**
 * Makes sure that no server runs on the data folder: stops the one that a killed service left
 * behind. When the noted pid belongs to something else by now (after a reboot, in a container),
 * a pid that can't exist takes its place, for PostgreSQL would take that process for a server.
 * The file itself stays: PostgreSQL finds in it the shared memory of backends that still end.
 * Answers the pid of the stopped server, if there was one.
 */
async function clearDataFolder(cluster: string): Promise<number | undefined> {
  const postmaster = await readPostmaster(cluster)
  if (postmaster === undefined || !sendSignal(postmaster.pid, 0)) return undefined
  if (!(await isServerOn(cluster, postmaster.pid))) {
    const file = `${cluster}/postmaster.pid`
    const [, ...rest] = (await readFile(file, 'utf8')).split('\n')
    await writeFile(file, [impossiblePid, ...rest].join('\n'))
    return undefined
  }
  await endServer(postmaster.pid)
  return postmaster.pid
}

const impossiblePid = 2_147_483_647

/** Each signal to stop a server (fast, immediate, kill) and how long it gets to work. */
const signals = [
  { signal: 'SIGINT', wait_ms: 10_000 },
  { signal: 'SIGQUIT', wait_ms: 5_000 },
  { signal: 'SIGKILL', wait_ms: 5_000 },
] as const

/** Stops a server, ever less politely; resolves when it is gone. */
async function endServer(pid: number): Promise<void> {
  for (const { signal, wait_ms } of signals) {
    if (!sendSignal(pid, signal)) return
    for (let waitedMs = 0; waitedMs < wait_ms; waitedMs += pollMs) {
      await sleep(pollMs)
      if (!(await isRunning(pid))) return
    }
  }
  throw new Error(`the postgres process ${pid} does not end`)
}

/** A process that ended counts as gone, even where nobody collects it (a container's pid 1). */
export async function isRunning(pid: number): Promise<boolean> {
  if (!sendSignal(pid, 0)) return false
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return !/\) Z [^)]*$/.test(stat)
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    // EPERM: it is there and another user's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** A server works in its data folder; Linux shows that, elsewhere its command line names it. */
async function isServerOn(cluster: string, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') {
    const shown = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(
      () => ({ stdout: '' }),
    )
    return shown.stdout.includes('postgres') && shown.stdout.includes(cluster)
  }
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  return name.trim() === 'postgres' && folder === (await realpath(cluster))
}
