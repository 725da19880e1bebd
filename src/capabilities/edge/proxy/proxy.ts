import { sleep } from '../../../kernel/time.ts'
import { answerClientError, createRateLimiter } from '../../../platform/http/index.ts'
import { createQuietLog } from '../../../platform/telemetry/index.ts'
import { watchBlockedCalls } from './call/blocked-calls.ts'
import { Call, type CallServices } from './call/call.ts'
import { createCallIds } from './call/call-ids.ts'
import { createIntake } from './call/intake.ts'
import { createProxyMeters } from './call/meters.ts'
import { inProviderFormat, refuseRequest } from './call/refuse-request.ts'
import { createRequestHeaderReader } from './call/request-headers.ts'
import { SlotList } from './call/slot-list.ts'
import type { CompletionProxy, ProxyDependencies } from './contract.ts'
import { createUpstreams } from './relay/upstream.ts'

/** A fault that hits many calls is logged so often. */
const logInterval_ms = 1_000
/** A client whose call is ended by `close` gets this long to take the error. */
const lastWords_ms = 1_000

/** Makes the proxy: each request it is handed is answered, counted and recorded. */
export function createProxy(dependencies: ProxyDependencies): CompletionProxy {
  const { keys, settings, clock, logger, metrics, recorder } = dependencies
  const inFlight = new SlotList<Call>()
  const waiting: (() => void)[] = []
  let stopping = false
  const services: CallServices = {
    settings,
    clock,
    recorder,
    meters: createProxyMeters(metrics, () => inFlight.size),
    ids: createCallIds(),
    quietLog: createQuietLog(logger, clock, logInterval_ms),
    inFlight,
    bodyBytesInFlight: 0,
    callEnded: () => {
      if (inFlight.size === 0) for (const resolve of waiting.splice(0)) resolve()
    },
  }
  const upstreams = createUpstreams(dependencies.base_urls ?? {}, settings)
  const limiter = createRateLimiter(settings.requests_per_minute)
  const intake = createIntake({ keys, limiter, upstreams, logger, stopping: () => stopping })
  const readHeaders = createRequestHeaderReader()
  const watch = watchBlockedCalls(inFlight, settings.idle_timeout_ms)
  function drain(): Promise<void> {
    stopping = true
    if (inFlight.size === 0) return Promise.resolve()
    return new Promise((resolve) => waiting.push(resolve))
  }

  return {
    handle(request, response, endpoint) {
      const headers = readHeaders(request.rawHeaders)
      intake(new Call(services, endpoint, { request, response, headers }))
    },
    onClientError(error, socket) {
      const status = answerClientError(error, socket, inProviderFormat)
      if (status !== 0) services.meters.malformed(status)
    },
    refuse: refuseRequest,
    drain,
    async close() {
      watch.stop()
      for (const call of inFlight.all()) call.stop()
      const drained = new AbortController()
      await Promise.race([drain().then(() => drained.abort()), sleep(lastWords_ms, drained.signal)])
      for (const call of inFlight.all()) call.abandon()
      await upstreams.close()
    },
  }
}
