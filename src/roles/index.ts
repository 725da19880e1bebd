import { loadConfig } from '../platform/config/index.ts'
import type { Running } from './running.ts'

/** Runs until `stop` aborts; resolves with the exit status. */
type Start = (stop: AbortSignal) => Promise<number>

/**
 * The roles by what stands on the command line. Each is imported when it is started: a proxy that
 * holds the worker's price table and the api's routes in memory pays for them at every collection.
 */
const roles: ReadonlyMap<string, Start> = new Map<string, Start>([
  [
    'all',
    async (stop) => {
      const { startAll } = await import('./all.ts')
      return untilStopped(stop, () => startAll(loadConfig('all')))
    },
  ],
  [
    'proxy',
    async (stop) => {
      const { startProxy } = await import('./proxy.ts')
      return untilStopped(stop, () => startProxy(loadConfig('proxy')))
    },
  ],
  [
    'api',
    async (stop) => {
      const { startApi } = await import('./api.ts')
      return untilStopped(stop, () => startApi(loadConfig('api')))
    },
  ],
  [
    'worker',
    async (stop) => {
      const { startWorker } = await import('./worker.ts')
      return untilStopped(stop, () => startWorker(loadConfig('worker')))
    },
  ],
  ['migrate', async () => (await import('./migrate.ts')).migrate(loadConfig('migrate'))],
  ['migrate check', async () => (await import('./migrate.ts')).migrateCheck(loadConfig('migrate'))],
  [
    'migrate secret',
    async () => (await import('./migrate.ts')).migrateSecret(loadConfig('migrate')),
  ],
  ['smoke-test', async () => (await import('./smoke-test.ts')).trySmoke(loadConfig('smoke-test'))],
  [
    'dead-letters list',
    async () => (await import('./dead-letters.ts')).listDeadLetters(loadConfig('all')),
  ],
  [
    'dead-letters replay --all',
    async () => (await import('./dead-letters.ts')).replayDeadLetters(loadConfig('all')),
  ],
])

/** What the words of the command line ask for; undefined when that is no role. */
export function startOf(words: readonly string[]): Start | undefined {
  const start = roles.get(words.join(' ') || 'all')
  const [role, verb, id] = words
  const isReplay = role === 'dead-letters' && verb === 'replay' && words.length === 3
  if (start !== undefined || !isReplay || id === undefined || id.startsWith('-')) return start
  return async () => (await import('./dead-letters.ts')).replayDeadLetter(loadConfig('all'), id)
}

async function untilStopped(stop: AbortSignal, start: () => Promise<Running>): Promise<number> {
  const running = await start()
  const stopped = new Promise<void>((resolve) => {
    if (stop.aborted) resolve()
    stop.addEventListener('abort', () => resolve())
  })
  const failure = await Promise.race([stopped, running.failed])
  await running.stop()
  if (failure !== undefined) throw failure
  return 0
}
