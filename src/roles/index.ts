import { loadConfig } from '../platform/config/index.ts'
import { startAll } from './all.ts'
import { startApi } from './api.ts'
import { migrate, migrateCheck } from './migrate.ts'
import { startProxy } from './proxy.ts'
import type { Running } from './running.ts'
import { startWorker } from './worker.ts'

/** Runs until `stop` aborts; resolves with the exit status. */
type Start = (stop: AbortSignal) => Promise<number>

/** The roles by what stands on the command line. */
export const roles: ReadonlyMap<string, Start> = new Map<string, Start>([
  ['all', (stop) => untilStopped(stop, () => startAll(loadConfig('all')))],
  ['proxy', (stop) => untilStopped(stop, () => startProxy(loadConfig('proxy')))],
  ['api', (stop) => untilStopped(stop, () => startApi(loadConfig('api')))],
  ['worker', (stop) => untilStopped(stop, () => startWorker(loadConfig('worker')))],
  ['migrate', () => migrate(loadConfig('migrate'))],
  ['migrate check', () => migrateCheck(loadConfig('migrate'))],
])

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
