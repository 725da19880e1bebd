import { sleep } from '../../../kernel/time.ts'
import { answerClientError, createRateLimiter } from '../../../platform/http/index.ts'
import { portsOf } from '../../../platform/outbound/index.ts'
import { createQuietLog } from '../../../platform/telemetry/index.ts'
import { Call } from './call/call.ts'
import { createCallIds } from './call/call-ids.ts'
import type { CallServices, OpenCall } from './call/call-services.ts'
import { dialectOfPath, dialectOfRoute } from './call/dialect.ts'
import { createIntake } from './call/intake.ts'
import { createProxyMeters } from './call/meters.ts'
import { refuseRequest, toProviderFormat } from './call/provider-error.ts'
import { createRequestHeaderReader } from './call/request-headers.ts'
import { SlotList } from './call/slot-list.ts'
import type { CompletionProxy, ProxyDependencies } from './contract.ts'
import { createResponseHeaderReader } from './relay/response-headers.ts'
import { createUpstreams, type Upstreams } from './relay/upstream.ts'

/** Minimum interval between logs of the same fault. */
const logIntervalMs = 1_000
/** Time that a client has to receive the error when `close` ends its call. */
const lastWordsMs = 1_000

/** Makes the proxy, which answers, counts and records each request. */
export function createProxy(dependencies: ProxyDependencies): CompletionProxy {
  const { keys, settings, clock, logger, metrics, recorder } = dependencies
  const inFlight = new SlotList<OpenCall>()
  const waiting: (() => void)[] = []
  let stopping = false
  const services: CallServices = {
    settings,
    clock,
    recorder,
    meters: createProxyMeters(metrics, () => inFlight.size),
    ids: createCallIds(),
    quietLog: createQuietLog(logger, clock, logIntervalMs),
    inFlight,
    sockets: new Set(),
    bodyBytesInFlight: 0,
    callEnded: () => {
      if (inFlight.size === 0) for (const resolve of waiting.splice(0)) resolve()
    },
  }
  const upstreams = openUpstreams(dependencies)
  const limiter = createRateLimiter(settings.requests_per_minute)
  const relays = {
    settings,
    clock,
    quietLog: services.quietLog,
    readHeaders: createResponseHeaderReader(),
  }
  const intake = createIntake({
    keys,
    limiter,
    upstreams,
    relays,
    logger,
    stopping: () => stopping,
  })
  const readHeaders = createRequestHeaderReader()
  const watch = watchBlockedCalls(inFlight, settings.idle_timeout_ms)
  function drain(): Promise<void> {
    stopping = true
    for (const socket of services.sockets) socket.leave()
    if (inFlight.size === 0) return Promise.resolve()
    return new Promise((resolve) => waiting.push(resolve))
  }

  return {
    handle(request, response, { endpoint, authorised }) {
      const headers = readHeaders(request.rawHeaders)
      const format = dialectOfRoute(endpoint, request)
      intake(new Call(services, format, { request, response, headers }), authorised)
    },
    onClientError(error, socket) {
      const dialect = dialectOfPath({ url: urlInPacket(error), headers: {} })
      const status = answerClientError(error, socket, (fault) => toProviderFormat(fault, dialect))
      if (status !== 0) services.meters.malformed(status)
    },
    refuse(request, response, fault) {
      refuseRequest(request, response, { fault, dialect: dialectOfPath(request) })
    },
    drain,
    async close() {
      watch.stop()
      for (const call of inFlight.all()) call.stop()
      for (const socket of services.sockets) socket.stop()
      const drained = new AbortController()
      await Promise.race([drain().then(() => drained.abort()), sleep(lastWordsMs, drained.signal)])
      for (const call of inFlight.all()) call.abandon()
      await upstreams.close()
    },
  }
}

/** Makes the upstreams, which follow the providers file. */
function openUpstreams(dependencies: ProxyDependencies): Upstreams {
  const { base_urls = {}, settings, providers_file, outbound } = dependencies
  const lookup = (url: string) => {
    if (outbound === undefined) throw new Error('providers of a file need the outbound guard')
    return outbound.lookup(url, portsOf(url))
  }
  const upstreams = createUpstreams({ base_urls, settings, lookup })
  if (providers_file !== undefined) {
    upstreams.declare(providers_file.providers())
    providers_file.onChange((declared) => upstreams.declare(declared))
  }
  return upstreams
}

/** Returns the URL of a request that is not valid HTTP, if its last packet has it; else nothing. */
function urlInPacket(error: Error): string {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined
  if (!Buffer.isBuffer(packet)) return ''
  return /^[A-Z]+ (\/\S*) /.exec(packet.toString('latin1', 0, maxUrlInPacket))?.[1] ?? ''
}

/** Characters of a packet in which its URL is searched. */
const maxUrlInPacket = 256

/**
 * Interval between two checks for blocked calls, at most; a tenth of the timeout if that is
 * shorter.
 */
const look_ms_max = 5_000

/**
 * Ends calls whose client has not read for `idle_timeout_ms`. undici pauses its own timer while an
 * answer is held back, so it would wait forever. All calls share one timer.
 */
function watchBlockedCalls(calls: SlotList<OpenCall>, idle_timeout_ms: number): { stop(): void } {
  const look = () => {
    const before_ms = performance.now() - idle_timeout_ms
    for (const call of calls.all()) {
      if (call.isBlockedSince(before_ms)) call.abandon()
    }
  }
  const timer = setInterval(look, Math.min(look_ms_max, Math.ceil(idle_timeout_ms / 10)))
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
