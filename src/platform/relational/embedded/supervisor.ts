import { backOff } from '../../../kernel/back-off.ts'
import { sleep } from '../../../kernel/time.ts'
import { type RunningServer, type ServerPlan, startServer } from './server-process.ts'

/** A server that is started again when it dies. */
export type SupervisedServer = {
  /** Pid of the server now. */
  pid: () => number
  /** How often it was started again. */
  restarts: () => number
  /** Resolves when nobody looks after it any more: see EmbeddedPostgres.stopped. */
  stopped: Promise<Error | undefined>
  stop(): Promise<void>
}

/** Tells of a server that died and is back. */
export type RestartListener = (restart: { pid: number; restarts: number }) => void

/** Looks after a running server until `stop`, or until it can't be brought back. */
export function supervise(
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
    plan.logger.info({ pid: next.pid, restarts }, 'postgres is back')
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

/** Only a server that lived this long starts the count afresh. */
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
      plan.logger.error({ err: error }, 'postgres did not come back')
      return undefined
    })
    if (signal.aborted) await server?.stop()
    else if (server !== undefined) restarted(server)
  }
  await server?.stop()
  return new Error(`postgres failed ${plan.failures_max} times in a row`, { cause })
}
