import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { backOff } from '../../../kernel/back-off.ts'
import { sleep } from '../../../kernel/time.ts'
import type { Logger } from '../../telemetry/index.ts'
import { embeddedUsername, prepareDataDirectory } from './data-directory.ts'
import { fromServer, stopRequest } from './messages.ts'

export type EmbeddedClickHouseOptions = {
  /** Data, password and pid file; made when missing. */
  directory: string
  /** A free one when left out; restarts keep it. */
  port?: number
  logger: Logger
  /** Called after each restart, with how many there have been. */
  on_restart?: (restarts: number) => void
  /** Ends a start that is under way, which then rejects; a server that runs is left alone. */
  signal?: AbortSignal
}

/** A ClickHouse of our own, on loopback, kept running until `stop`. */
export type EmbeddedClickHouse = {
  readonly url: string
  readonly username: string
  readonly password: string
  /** Of the process that serves now; undefined while it restarts. */
  pid(): number | undefined
  /** Lets running statements end (10 s at most), then ends the process. */
  stop(): Promise<void>
}

const restartBackOff = { base_ms: 100, max_ms: 5_000 }
/** A server that ran for so long starts the back-off anew. */
const steady_ms = 60_000

/**
 * Starts the child process and resolves when it answers. When it dies it is started again with
 * back-off, on the same port. Rejects when the first start fails: chdb is not installed (it is an
 * optional dependency), or another process serves the directory.
 */
export async function startEmbeddedClickHouse(
  options: EmbeddedClickHouseOptions,
): Promise<EmbeddedClickHouse> {
  const directory = resolve(options.directory)
  const { password } = await prepareDataDirectory(directory)
  const { logger } = options
  let running: RunningServer | undefined = await launch({
    directory,
    port: options.port ?? 0,
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
      logger.warn({ exit, failures }, 'the embedded ClickHouse ended; it is started again')
      await sleep(backOff(restartBackOff, ++failures), stopping.signal)
      if (stopping.signal.aborted) return
      const { signal } = stopping
      running = await launch({ directory, port, logger, signal }).catch((err: unknown) => {
        if (!signal.aborted) logger.error({ err }, 'the embedded ClickHouse does not start')
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

/** The child process did not come up. */
class EmbeddedStartFailed extends Error {
  override readonly name = 'EmbeddedStartFailed'
}

type RunningServer = {
  readonly pid: number
  readonly port: number
  /** How it ended, when it did: `exit code 1` or `signal SIGKILL`. */
  readonly exited: Promise<string>
  stop(): Promise<void>
}

const serverPath = fileURLToPath(new URL('./server.ts', import.meta.url))
/** Loading the engine takes half a second; a large data directory and a busy machine, more. */
const ready_ms_max = 60_000
/** Longer than the child's own patience; then it is killed. */
const stop_ms_max = 15_000
const statements_max = 8
/** One thread for each statement, four for files. */
const threads = statements_max + 4

/**
 * Starts the process and waits until it is ready. It gets nothing of our environment, and no
 * secret: the password lies in its directory. Rejects with EmbeddedStartFailed.
 */
async function launch(options: {
  directory: string
  port: number
  logger: Logger
  /** Ends a start that is under way. */
  signal?: AbortSignal | undefined
}): Promise<RunningServer> {
  const { directory, port, logger, signal } = options
  signal?.throwIfAborted()
  const settings = ['--directory', directory, '--port', `${port}`, '--statements']
  const child = spawn(process.execPath, [serverPath, ...settings, `${statements_max}`], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { UV_THREADPOOL_SIZE: `${threads}` },
  })
  relayLines(child, logger)
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  try {
    const ready = await firstWord(child, { exited, signal })
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

/** The port, once the child says that it is ready. */
async function firstWord(
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

/** Writes what the engine says on its standard error to the log. */
function relayLines(child: ChildProcess, logger: Logger): void {
  if (!child.stderr) return
  createInterface({ input: child.stderr }).on('line', (line) => {
    logger.warn({ line }, 'embedded ClickHouse')
  })
}
