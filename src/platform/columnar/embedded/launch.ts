import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../../telemetry/index.ts'
import { fromServer, stopRequest } from './messages.ts'

/** The child process did not come up. */
export class EmbeddedStartFailed extends Error {
  override readonly name = 'EmbeddedStartFailed'
}

export type RunningServer = {
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
export async function launch(options: {
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
