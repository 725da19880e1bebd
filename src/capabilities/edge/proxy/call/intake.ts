import { Problem, problem } from '../../../../kernel/problem.ts'
import type { RateLimiter } from '../../../../platform/http/index.ts'
import type { Logger } from '../../../../platform/telemetry/index.ts'
import type { ProjectKey, ProjectKeys } from '../contract.ts'
import { Relay, type RelayServices } from '../relay/relay.ts'
import type { Upstream, Upstreams } from '../relay/upstream.ts'
import type { Call } from './call.ts'
import { readContext } from './request-headers.ts'

type IntakeOptions = {
  keys: ProjectKeys
  limiter: RateLimiter
  upstreams: Upstreams
  relays: RelayServices
  logger: Logger
  /** True when new calls are refused. */
  stopping: () => boolean
}

/**
 * Makes the function that admits a call: key, limits, headers and body, then the provider. It
 * refuses a call that fails a check.
 */
export function createIntake(
  options: IntakeOptions,
): (call: Call, authorised?: () => void) => void {
  const { keys, limiter, upstreams, relays, logger } = options

  function take(call: Call, authorised?: () => void): void {
    if (options.stopping()) throw problem('shutting_down', { retry_after_s: 1 })
    const key = keys.authenticate(readApiKey(call))
    if (key instanceof Promise) acceptLater(call, key, authorised)
    else accept(call, key, authorised)
  }

  function acceptLater(
    call: Call,
    key: Promise<ProjectKey | undefined>,
    authorised?: () => void,
  ): void {
    key.then(
      (found) => guarded(call, () => accept(call, found, authorised)),
      (error: unknown) => refuse(call, error),
    )
  }

  function accept(call: Call, found: ProjectKey | undefined, authorised?: () => void): void {
    if (call.isClosed) return
    const key = checkKey(found)
    authorised?.()
    call.setKey(key)
    const rate = limiter.take(key.key_id, call.start_ms)
    if (!rate.allowed) {
      call.refuse(rate.fault, rate.headers)
      return
    }
    const upstream = admit(call, upstreams)
    call.setUpstream(upstream)
    readBody(call, {
      complete: () => guarded(call, () => send(call, upstream)),
      refused: (fault) => call.refuse(fault),
    })
  }

  function send(call: Call, upstream: Upstream): void {
    const relay = new Relay(call, upstream, relays)
    call.attachRelay(relay)
    relay.start()
  }

  function guarded(call: Call, step: () => void): void {
    try {
      step()
    } catch (error) {
      refuse(call, error)
    }
  }

  function refuse(call: Call, error: unknown): void {
    if (call.isClosed || call.response.headersSent) return
    if (error instanceof Problem) {
      call.refuse(error)
      return
    }
    logger.error({ err: error }, 'the proxy failed to handle a call')
    call.refuse(problem('internal_error', { cause: error }))
  }

  return (call, authorised) => guarded(call, () => take(call, authorised))
}

/** Returns the value of X-API-Key. Throws `credentials_missing` or `invalid_request`. */
function readApiKey({ headers }: Call): string {
  if (headers.repeated === '') {
    if (headers.api_key !== '') return headers.api_key
    const detail = 'X-API-Key is missing: send a project key, lt_…'
    throw problem('credentials_missing', { detail, faults: [{ pointer: 'X-API-Key', detail }] })
  }
  const detail = `${headers.repeated}: sent more than once, expected one`
  throw problem('invalid_request', { detail, faults: [{ pointer: headers.repeated, detail }] })
}

/**
 * Throws `credentials_invalid` for an unknown key, `permission_denied` for a missing scope, and
 * `project_archived`.
 */
function checkKey(key: ProjectKey | undefined): ProjectKey {
  if (!key) {
    const detail = 'X-API-Key: the project key is unknown or revoked'
    throw problem('credentials_invalid', { detail, faults: [{ pointer: 'X-API-Key', detail }] })
  }
  if (!key.scopes.has('proxy:write')) {
    const detail = 'X-API-Key: the key lacks the scope proxy:write'
    throw problem('permission_denied', { detail, faults: [{ pointer: 'X-API-Key', detail }] })
  }
  if (key.is_archived) {
    const detail = 'X-API-Key: the project of the key is archived; an admin of it can restore it'
    throw problem('project_archived', { detail })
  }
  return key
}

/**
 * Checks the headers of an authenticated call and finds its provider; sets the call's context.
 * Throws the refusal.
 */
function admit(call: Call, upstreams: Upstreams): Upstream {
  const { headers, services } = call
  call.setContext(readContext(headers))
  checkContentType(headers.content_type)
  checkAuthorization(headers.authorization)
  const upstream =
    headers.provider === '' ? upstreams.first : findUpstream(headers.provider, upstreams)
  if (headers.content_length > services.settings.body_bytes_max) {
    throw bodyTooLarge(services.settings.body_bytes_max)
  }
  if (upstream.inFlight >= services.settings.upstream_connections_max) throw overloaded()
  return upstream
}

function checkContentType(value: string): void {
  if (value === 'application/json') return
  const [type = ''] = value.split(';', 1)
  if (type.trim().toLowerCase() === 'application/json') return
  const detail = `Content-Type: got ${quoted(value)}, expected application/json`
  throw problem('unsupported_media_type', {
    detail,
    faults: [{ pointer: 'Content-Type', detail }],
  })
}

/** Checks the scheme only: the key is for the provider and is never read here. */
function checkAuthorization(value: string): void {
  if (/^bearer +\S/i.test(value)) return
  const detail = `Authorization is ${value === '' ? 'missing' : 'not of the Bearer scheme'}: send "Bearer " and your key for the model provider`
  throw problem('provider_authorization_missing', {
    detail,
    faults: [{ pointer: 'Authorization', detail }],
  })
}

function findUpstream(name: string, upstreams: Upstreams): Upstream {
  const upstream = upstreams.get(name.trim().toLowerCase())
  if (upstream) return upstream
  const detail = `X-Provider: got ${quoted(name)}, expected one of ${upstreams.names.join(', ')}`
  throw problem('unknown_provider', { detail, faults: [{ pointer: 'X-Provider', detail }] })
}

function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 80))
}

/**
 * Reads the request of a call to its end into `call.body`, then calls `complete`. Calls `refused`
 * instead when it is longer than the settings allow, and neither when the client leaves.
 */
function readBody(
  call: Call,
  on: { complete: () => void; refused: (fault: Problem) => void },
): void {
  const { request, services } = call
  const { body_bytes_max, body_bytes_inflight_max } = services.settings
  const stop = (fault: Problem) => {
    request.off('data', take)
    request.off('end', end)
    on.refused(fault)
  }
  const take = (chunk: Buffer) => {
    services.bodyBytesInFlight += chunk.length
    if (call.body.count(chunk) > body_bytes_max) stop(bodyTooLarge(body_bytes_max))
    else if (services.bodyBytesInFlight > body_bytes_inflight_max) stop(overloaded())
    else call.body.keep(chunk)
  }
  const end = () => {
    call.body.complete()
    on.complete()
  }
  request.on('data', take)
  request.on('end', end)
}

/** Returns the refusal of a body that is, or is declared to be, longer than `bytes_max`. */
function bodyTooLarge(bytes_max: number): Problem {
  return problem('body_too_large', { detail: `the body is longer than ${bytes_max} bytes` })
}

/** Returns the refusal of a call that would exceed what the proxy may hold. */
function overloaded(): Problem {
  return problem('overloaded', {
    detail: 'too many calls are in flight; try again',
    retry_after_s: 1,
  })
}
