import { resolve } from 'node:path'
import { backOff } from '../../../kernel/back-off.ts'
import { sleep } from '../../../kernel/time.ts'
import type { Logger } from '../../telemetry/index.ts'
import { embeddedUsername, prepareDataDirectory } from './data-directory.ts'
import { launch, type RunningServer } from './launch.ts'

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
