import { type ChildProcess, spawn } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { backOff } from '../../../kernel/back-off.ts'
import { sleep } from '../../../kernel/time.ts'
import type { Logger } from '../../telemetry/index.ts'
import { embeddedUsername, prepareDataDirectory } from './data-directory.ts'
import { fromServer, stopRequest } from './messages.ts'

export type EmbeddedClickHouseOptions = {
  /** Folder for data, password and pid file; created if missing. */
  directory: string
  /** Port; a free port by default. Restarts keep the port. */
  port?: number
  /** Memory of all statements and merges together; 2 GiB by default. */
  memory_bytes_max?: number
  /** A configuration file of ClickHouse, such as one that defines clusters (for tests). */
  config_file?: string
  logger: Logger
  /** Called after each restart with the number of restarts. */
  on_restart?: (restarts: number) => void
  /** Aborts a start in progress, which then rejects. Does not stop a running server. */
  signal?: AbortSignal
}

/** An embedded ClickHouse on loopback, kept running until `stop`. */
export type EmbeddedClickHouse = {
  readonly url: string
  readonly username: string
  readonly password: string
  /** Pid of the current process; undefined during a restart. */
  pid(): number | undefined
  /** Waits for running statements (10 s at most), then stops the process. */
  stop(): Promise<void>
}

const restartBackOff = { base_ms: 100, max_ms: 5_000 }
/** A server that ran this long resets the back-off. */
const steady_ms = 60_000

/**
 * Starts the child process and resolves when it is ready. A process that dies is restarted with
 * back-off on the same port. Rejects when the first start fails: chdb, an optional dependency, is
 * not installed, or another process uses the folder.
 */
export async function startEmbeddedClickHouse(
  options: EmbeddedClickHouseOptions,
): Promise<EmbeddedClickHouse> {
  const directory = resolve(options.directory)
  const { password } = await prepareDataDirectory(directory)
  const { logger, memory_bytes_max, config_file } = options
  let running: RunningServer | undefined = await launch({
    directory,
    port: options.port ?? 0,
    memory_bytes_max,
    config_file,
    logger,
    signal: options.signal,
  })
  const { port } = running
  const stopping = new AbortController()

  const keepAlive = async (): Promise<void> => {
    let restarts = 0
    let failures = 0
    while (!stopping.signal.aborted) {
      const started_ms = Date.now()
      const exit = await running?.exited
      running = undefined
      if (stopping.signal.aborted) return
      if (Date.now() - started_ms > steady_ms) failures = 0
      logger.warn({ exit, failures }, 'the embedded ClickHouse exited; restarting it')
      await sleep(backOff(restartBackOff, ++failures), stopping.signal)
      if (stopping.signal.aborted) return
      const { signal } = stopping
      const again = { directory, port, memory_bytes_max, config_file, logger, signal }
      running = await launch(again).catch((err: unknown) => {
        if (!signal.aborted) logger.error({ err }, 'the embedded ClickHouse did not start')
        return undefined
      })
      if (running) options.on_restart?.(++restarts)
    }
  }
  const kept = keepAlive()
  return {
    url: `http://127.0.0.1:${port}`,
    username: embeddedUsername,
    password,
    pid: () => running?.pid,
    stop: async () => {
      stopping.abort()
      await running?.stop()
      await kept
      await running?.stop()
    },
  }
}

/** The child process did not start. */
class EmbeddedStartFailed extends Error {
  override readonly name = 'EmbeddedStartFailed'
}

type RunningServer = {
  readonly pid: number
  readonly port: number
  /** Resolves at the exit with the reason: `exit code 1` or `signal SIGKILL`. */
  readonly exited: Promise<string>
  stop(): Promise<void>
}

const serverPath = fileURLToPath(new URL('./server.ts', import.meta.url))
/** Loading the engine takes half a second, or more with a large data folder or a busy machine. */
const ready_ms_max = 60_000
/** Time until the child is killed. Longer than its own time limits. */
const stop_ms_max = 15_000
const statements_max = 8
/** One thread per statement, and four for files. */
const threads = statements_max + 4

/**
 * Starts the process and waits until it is ready. It gets no variables of this process but
 * the folder of Node's compile cache, and no secrets; the password is in its folder. Rejects with
 * EmbeddedStartFailed.
 */
async function launch(options: {
  directory: string
  port: number
  memory_bytes_max?: number | undefined
  config_file?: string | undefined
  logger: Logger
  /** Aborts a start in progress. */
  signal?: AbortSignal | undefined
}): Promise<RunningServer> {
  const { directory, port, memory_bytes_max, config_file, logger, signal } = options
  signal?.throwIfAborted()
  const settings = ['--directory', directory, '--port', `${port}`]
  const memory = memory_bytes_max === undefined ? [] : ['--memory-bytes', `${memory_bytes_max}`]
  const config = config_file === undefined ? [] : ['--config-file', config_file]
  const limits = ['--statements', `${statements_max}`, ...memory, ...config]
  const child = spawn(process.execPath, [serverPath, ...settings, ...limits], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { UV_THREADPOOL_SIZE: `${threads}`, ...compileCache() },
  })
  relayLines(child, logger)
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  try {
    const ready = await waitUntilReady(child, { exited, signal })
    return { pid: child.pid ?? 0, port: ready, exited, stop: () => stop(child, exited) }
  } catch (cause) {
    child.kill('SIGKILL')
    const words = cause instanceof Error ? cause.message : String(cause)
    const reason = words.trim().replaceAll(/\s*\n\s*/g, ' ')
    throw new EmbeddedStartFailed(
      `the embedded ClickHouse in ${directory} did not start: ${reason}.`,
      { cause },
    )
  }
}

/** With compiled modules, a start takes a third less processor time. */
function compileCache(): Record<string, string> {
  // A folder for this version of Node, in the folder that the variable names.
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** Waits for the child's first message. Resolves with the port. */
async function waitUntilReady(
  child: ChildProcess,
  { exited, signal }: { exited: Promise<string>; signal: AbortSignal | undefined },
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const timer = setTimeout(() => reject(new Error(`not ready in ${ready_ms_max} ms`)), ready_ms_max)
  child.on('message', (received) => {
    const message = fromServer(received)
    if (message?.event === 'ready') resolve(message.port)
    if (message?.event === 'failed') reject(new Error(message.message))
  })
  exited.then((how) => reject(new Error(`ended before it was ready: ${how}`)))
  const stopped = () => reject(new Error('the start was stopped'))
  signal?.addEventListener('abort', stopped, { once: true })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stopped)
  }
}

async function stop(child: ChildProcess, exited: Promise<string>): Promise<void> {
  if (child.connected) child.send(stopRequest, () => undefined)
  const timer = setTimeout(() => child.kill('SIGKILL'), stop_ms_max)
  await exited
  clearTimeout(timer)
}

/** Logs the lines of the engine's standard error. */
function relayLines(child: ChildProcess, logger: Logger): void {
  if (!child.stderr) return
  createInterface({ input: child.stderr }).on('line', (line) => {
    logger.warn({ line }, 'embedded ClickHouse')
  })
}
