import type { FirstLogin } from '../cluster.ts'
import { startCluster } from '../cluster.ts'
import type { ProviderProcess } from '../provider.ts'
import { startSingleMachine } from '../single-machine.ts'
import { clientScript } from './client-script.ts'

/** A running service as clients see it, in any shape. */
export type ClientShape = AsyncDisposable & {
  /** Origin of the completions. */
  proxy_url: string
  /** Origin of the product APIs. */
  api_url: string
  login: FirstLogin
  /** Plays `clientScript`; every provider of the service points to it. */
  provider: ProviderProcess
}

/** The tests read more often than a user would, and insert nothing while an archive is written. */
const env = { LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0', LOOPTRACE_ARCHIVE_SETTLE_MS: '1000' }

/** Role `all` on its embedded servers. */
export async function singleMachineShape(): Promise<ClientShape> {
  const machine = await startSingleMachine({ script: clientScript, env })
  const { base_url } = machine.service
  return { ...machine, proxy_url: base_url, api_url: base_url }
}

/** A process for each role and each store, with JetStream between them. */
export async function clusterShape(): Promise<ClientShape> {
  const cluster = await startCluster({ script: clientScript, env })
  const { proxy, api } = cluster
  return { ...cluster, proxy_url: proxy.base_url, api_url: api.base_url }
}
