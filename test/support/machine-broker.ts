import { type Broker, startBroker } from './broker.ts'
import type { FirstLogin } from './cluster.ts'
import type { ProviderProcess } from './provider.ts'
import type { Service } from './service.ts'
import { type SingleMachine, startSingleMachine } from './single-machine.ts'

/** Where a machine that test files share is, and its administrator. */
export type MachineAddress = {
  service: Pick<Service, 'base_url' | 'management_url' | 'otlp_grpc_address'>
  provider: Pick<ProviderProcess, 'url' | 'base_urls'>
  login: FirstLogin
}

/** Each call starts role `all`; the end of the run stops all of them. */
export function startMachineBroker(): Promise<Broker> {
  const machines: Promise<SingleMachine>[] = []
  return startBroker(
    async () => {
      const starting = startSingleMachine({ env })
      machines.push(starting)
      return JSON.stringify(addressOf(await starting))
    },
    async () => {
      for (const started of await Promise.allSettled(machines)) {
        if (started.status === 'fulfilled') await started.value[Symbol.asyncDispose]()
      }
    },
  )
}

const env = {
  // Tests read and wait more often than a user would.
  LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0',
  LOOPTRACE_JOB_POLL_MS: '50',
}

function addressOf({ service, provider, login }: SingleMachine): MachineAddress {
  const { base_url, management_url, otlp_grpc_address } = service
  const { url, base_urls } = provider
  return {
    service: { base_url, management_url, otlp_grpc_address },
    provider: { url, base_urls },
    login,
  }
}
