import { Problem, problem } from '../../../../kernel/problem.ts'
import type { RateLimiter } from '../../../../platform/http/index.ts'
import type { Logger } from '../../../../platform/telemetry/index.ts'
import type { ProjectKey, ProjectKeys } from '../contract.ts'
import { Relay } from '../relay/relay.ts'
import { createResponseHeaderReader } from '../relay/response-headers.ts'
import type { Upstream, Upstreams } from '../relay/upstream.ts'
import { admit, apiKeyOf, checkKey } from './admission.ts'
import type { Call } from './call.ts'
import { readBody } from './request-body.ts'

export type IntakeOptions = {
  keys: ProjectKeys
  limiter: RateLimiter
  upstreams: Upstreams
  logger: Logger
  /** True when new calls are refused. */
  stopping: () => boolean
}

/** Takes a call in: key, limits, headers, body, and then the provider. Refuses what is wrong. */
export function createIntake(options: IntakeOptions): (call: Call) => void {
  const { keys, limiter, upstreams, logger } = options
  const readHeaders = createResponseHeaderReader()

  function take(call: Call): void {
    if (options.stopping()) throw problem('shutting_down', { retry_after_s: 1 })
    const key = keys.authenticate(apiKeyOf(call))
    if (key instanceof Promise) acceptLater(call, key)
    else accept(call, key)
  }

  function acceptLater(call: Call, key: Promise<ProjectKey | undefined>): void {
    key.then(
      (found) => guarded(call, () => accept(call, found)),
      (error: unknown) => refuse(call, error),
    )
  }

  function accept(call: Call, found: ProjectKey | undefined): void {
    if (call.closed) return
    const key = checkKey(found)
    call.key = key
    const rate = limiter.take(key.key_id, call.start_ms)
    if (!rate.allowed) {
      call.refuse(rate.fault, rate.headers)
      return
    }
    const upstream = admit(call, upstreams)
    call.upstream = upstream
    upstream.inFlight += 1
    readBody(call, {
      complete: () => guarded(call, () => send(call, upstream)),
      refused: (fault) => call.refuse(fault),
    })
  }

  function send(call: Call, upstream: Upstream): void {
    new Relay(call, upstream, readHeaders).start()
  }

  function guarded(call: Call, step: () => void): void {
    try {
      step()
    } catch (error) {
      refuse(call, error)
    }
  }

  function refuse(call: Call, error: unknown): void {
    if (call.closed || call.response.headersSent) return
    if (error instanceof Problem) {
      call.refuse(error)
      return
    }
    logger.error({ err: error }, 'the proxy failed to handle a call')
    call.refuse(problem('internal_error', { cause: error }))
  }

  return (call) => guarded(call, () => take(call))
}
