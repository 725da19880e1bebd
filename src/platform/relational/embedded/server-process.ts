import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFile, readlink, realpath, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { sleep } from '../../../kernel/time.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { PostgresBinaries } from './postgres-binaries.ts'
import { type ServerIdentity, serverEnvironment } from './server-identity.ts'

/** Everything that is needed to start and restart the server. */
export type ServerPlan = {
  binaries: PostgresBinaries
  identity: ServerIdentity
  /** PostgreSQL's data folder. */
  cluster: string
  port: number
  settings: Readonly<Record<string, string>>
  start_timeout_ms: number
  /** Maximum consecutive deaths or failed starts of the supervised server. */
  failures_max: number
  logger: Logger
}

/** A server that accepts connections. */
export type RunningServer = {
  pid: number
  /** Resolves with the exit code or signal when the process is gone. */
  ended: Promise<string>
  /** Stops the server: a fast shutdown, then stronger signals. */
  stop(): Promise<void>
}

/** The server exited or timed out before it accepted connections. `log` is the end of its log. */
export class ServerStartFailed extends Error {
  override readonly name = 'ServerStartFailed'
  readonly log: string

  constructor({ cluster }: ServerPlan, reason: string, log: string) {
    const lines = log.trim().split('\n')
    const last = lines.findLast((line) => /^(FATAL|PANIC|ERROR)/.test(line)) ?? lines.at(-1)
    super(
      `the embedded PostgreSQL in ${cluster} ${reason}: ${last}. ` +
        'Set LOOPTRACE_LOG_LEVEL=debug to see its whole log.',
    )
    this.log = log
  }
}

/**
 * Starts the server on its data folder and resolves once it accepts connections. When `signal`
 * aborts before that, stops the server and rejects.
 */
export async function startServer(plan: ServerPlan, signal?: AbortSignal): Promise<RunningServer> {
  const left = await clearDataFolder(plan.cluster)
  signal?.throwIfAborted()
  if (left !== undefined)
    plan.logger.warn({ pid: left }, 'stopped the postgres process of a killed run')
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
 * Starts the process in its own session: a terminal's Ctrl-C reaches only this process, and the
 * server runs until all data is written.
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

/** Stops the server when this process exits without `stop` (an uncaught error). */
function endWithUs(child: ChildProcess): void {
  const onExit = () => child.kill('SIGINT')
  process.once('exit', onExit)
  child.once('exit', () => process.off('exit', onExit))
}

/**
 * Settings of a small server for one machine: durable (fsync is on), on loopback only, without idle
 * helpers (parallel and I/O workers, replication). The server logs neither the text nor the values
 * of failed statements; the caller logs failures.
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

/** The state of a server, from `postmaster.pid` in its data folder. */
type Postmaster = { pid: number; ready: boolean }

/** Reads `postmaster.pid`: line 1 is the pid, line 8 the state. Undefined without the file. */
async function readPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const text = await readFile(`${cluster}/postmaster.pid`, 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return { pid, ready: lines[7]?.trim() === 'ready' }
}

/**
 * Ensures that no server runs on the data folder: stops the server of a killed service. If the pid
 * in the file now belongs to another process (after a reboot, in a container), replaces it by an
 * impossible pid, because PostgreSQL would take that process for a server. The file is kept:
 * PostgreSQL needs it to find the shared memory of backends that are still exiting. Returns the pid
 * of the stopped server, if any.
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

/** Signals that stop a server (fast, immediate, kill), each with the wait for its effect. */
const signals = [
  { signal: 'SIGINT', wait_ms: 10_000 },
  { signal: 'SIGQUIT', wait_ms: 5_000 },
  { signal: 'SIGKILL', wait_ms: 5_000 },
] as const

/** Stops a server with escalating signals. Resolves when the process is gone. */
async function endServer(pid: number): Promise<void> {
  for (const { signal, wait_ms } of signals) {
    if (!sendSignal(pid, signal)) return
    for (let waitedMs = 0; waitedMs < wait_ms; waitedMs += pollMs) {
      await sleep(pollMs)
      if (!(await isRunning(pid))) return
    }
  }
  throw new Error(`the postgres process ${pid} did not exit after SIGKILL`)
}

/** Returns whether a process runs. A zombie, which pid 1 of a container may not reap, does not. */
export async function isRunning(pid: number): Promise<boolean> {
  if (!sendSignal(pid, 0)) return false
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return !/\) Z [^)]*$/.test(stat)
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Recognises a server by its working folder on Linux, elsewhere by its command line. */
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
