import { Problem, problem } from '../../../../kernel/problem.ts'
import { isUpgrade, type RateLimiter } from '../../../../platform/http/index.ts'
import type { Logger } from '../../../../platform/telemetry/index.ts'
import type { ProjectKey, ProjectKeys } from '../contract.ts'
import { type Dialect, formats, isPassed, isRetrieval } from '../formats.ts'
import { Relay, type RelayServices } from '../relay/relay.ts'
import type { Upstream, Upstreams } from '../relay/upstream.ts'
import { switchProtocol } from '../sockets/open-socket.ts'
import type { SocketSessionOptions, Verdict } from '../sockets/session-options.ts'
import type { Call } from './call.ts'
import {
  checkResponseId,
  checkSteps,
  isOfDeployment,
  readDeployment,
  readPathModel,
} from './call-target.ts'
import { type Credentials, readCredentials } from './credentials.ts'
import { addProviderKey } from './provider-key.ts'
import { bodyTooLarge, overloaded, readBody } from './read-body.ts'
import { readContext } from './request-headers.ts'
import { addTraceparent } from './trace-context.ts'

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
    const credentials = credentialsOf(call)
    const key = keys.authenticate(credentials.project_key)
    const go = (found: ProjectKey | undefined) => accept(call, { credentials, found, authorised })
    if (key instanceof Promise) {
      key.then(
        (found) => guarded(call, () => go(found)),
        (error: unknown) => refuse(call, error),
      )
    } else go(key)
  }

  function accept(call: Call, { credentials, found, authorised }: Admission): void {
    if (call.isClosed) return
    const key = checkKey(found, credentials.project_key_place)
    authorised?.()
    call.setKey(key)
    const rate = limiter.take(key.key_id, call.start_ms)
    if (!rate.allowed) {
      call.refuse(rate.fault, rate.headers)
      return
    }
    const upstream = admit(call, { credentials, key, upstreams })
    call.setUpstream(upstream)
    if (call.isSocket) {
      checkUpgrade(call)
      openSocket(call, { upstream, credentials, key })
      return
    }
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

  function openSocket(call: Call, { upstream, credentials, key }: OpenedSocket): void {
    const admit = admitMessages(call, credentials, options)
    const relay = new Relay(call, upstream, relays, (connection, headers) => {
      const socket = switchProtocol({ call, upstream, key }, { connection, headers, admit })
      if (options.stopping()) socket?.leave()
    })
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

/** Makes the check of each message of a socket: its key is valid, and a call is within its rate. */
function admitMessages(
  call: Call,
  { project_key, project_key_place }: Credentials,
  { keys, limiter, logger, stopping }: IntakeOptions,
): SocketSessionOptions['admit'] {
  const toVerdict = (error: unknown): Problem => {
    if (error instanceof Problem) return error
    logger.error({ err: error }, 'the proxy failed to admit a message of a socket')
    return problem('internal_error', { cause: error })
  }
  const admitted = (found: ProjectKey | undefined, isCall: boolean): Verdict => {
    const { key_id } = checkKey(found, project_key_place)
    const rate = isCall ? limiter.take(key_id, call.services.clock.now_ms()) : undefined
    return rate === undefined || rate.allowed ? undefined : rate.fault
  }
  return ({ isCall }) => {
    if (isCall && stopping()) return problem('shutting_down', { retry_after_s: 1 })
    try {
      const found = keys.authenticate(project_key)
      if (!(found instanceof Promise)) return admitted(found, isCall)
      return found.then((later) => admitted(later, isCall)).catch(toVerdict)
    } catch (error) {
      return toVerdict(error)
    }
  }
}

/** The keys of a call, and the owner of its project key. */
type Admission = {
  credentials: Credentials
  found: ProjectKey | undefined
  authorised: (() => void) | undefined
}

/** The parts of a socket that opens. */
type OpenedSocket = { upstream: Upstream; credentials: Credentials; key: ProjectKey }

/** Throws `invalid_request` for a request that does not open a WebSocket. */
function checkUpgrade({ request }: Call): void {
  if (isUpgrade(request)) return
  const detail = 'Upgrade: GET of this path opens a WebSocket, expected "websocket"'
  throw problem('invalid_request', { detail, faults: [{ pointer: 'Upgrade', detail }] })
}

/** Reads the keys of a call, and takes them out of its query. Throws the refusal. */
function credentialsOf({ headers, target, dialect }: Call): Credentials {
  if (headers.repeated !== '') {
    const detail = `${headers.repeated}: sent more than once, expected one`
    throw problem('invalid_request', { detail, faults: [{ pointer: headers.repeated, detail }] })
  }
  const credentials = readCredentials(headers, target.query, dialect)
  target.query = credentials.query
  return credentials
}

/**
 * Throws `credentials_invalid` for an unknown key, `permission_denied` for a missing scope, and
 * `project_archived`.
 */
function checkKey(key: ProjectKey | undefined, place: string): ProjectKey {
  if (!key) {
    const detail = `${place}: the project key is unknown or revoked`
    throw problem('credentials_invalid', { detail, faults: [{ pointer: place, detail }] })
  }
  if (!key.scopes.has('proxy:write')) {
    const detail = `${place}: the key lacks the scope proxy:write`
    throw problem('permission_denied', { detail, faults: [{ pointer: place, detail }] })
  }
  if (key.is_archived) {
    const detail = `${place}: the project of the key is archived; an admin of it can restore it`
    throw problem('project_archived', { detail })
  }
  return key
}

/**
 * Checks the headers of an authenticated call and finds its provider; sets the call's context.
 * Throws the refusal.
 */
function admit(
  call: Call,
  {
    credentials,
    key,
    upstreams,
  }: { credentials: Credentials; key: ProjectKey; upstreams: Upstreams },
): Upstream {
  const { headers, services } = call
  call.setContext(readContext(headers))
  if (call.request.method !== 'GET' && !isRetrieval(call.endpoint) && !isPassed(call.endpoint)) {
    checkContentType(headers.content_type)
  }
  const upstream = upstreamOf(call, upstreams)
  addProviderKey(call, credentials, { key, upstream })
  call.target.model = modelIn(call)
  addTraceparent(call)
  if (headers.content_length > services.settings.body_bytes_max) {
    throw bodyTooLarge(services.settings.body_bytes_max)
  }
  if (upstream.inFlight >= services.settings.upstream_connections_max) throw overloaded()
  return upstream
}

/** Returns the model or deployment in the path of a call; empty where it names none. */
function modelIn({ endpoint, target }: Call): string {
  if (isOfDeployment(target.path)) return readDeployment(target.path)
  if (isRetrieval(endpoint)) checkResponseId(target.path)
  if (isPassed(endpoint)) {
    checkSteps(target.path)
    return ''
  }
  if (formats[endpoint].path !== undefined) return ''
  return /^\/v[^/]+\/models\/./.test(target.path) ? readPathModel(target.path) : ''
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

/** Returns the provider that a call names, or that of its format. Throws when it cannot serve it. */
function upstreamOf(call: Call, upstreams: Upstreams): Upstream {
  const { headers, endpoint } = call
  const name = headers.provider === '' ? usualProvider(call) : headers.provider.trim().toLowerCase()
  const upstream = upstreams.get(name)
  const pointer = 'X-Provider'
  if (!upstream) {
    const names = upstreams.names().join(', ')
    const detail =
      headers.provider === ''
        ? `X-Provider: this path needs the provider ${name}, which is not declared: name it in LOOPTRACE_PROVIDERS_FILE, or send one of ${names}`
        : `X-Provider: got ${quoted(headers.provider)}, expected one of ${names}`
    throw problem('unknown_provider', { detail, faults: [{ pointer, detail }] })
  }
  if (upstream.paths[endpoint] !== undefined) return upstream
  const speakers = upstreams.names().filter((one) => upstreams.get(one)?.paths[endpoint])
  const detail = `X-Provider: ${name} does not speak ${endpoint}, expected ${speakers.join(' or ')}`
  throw problem('format_unsupported', { detail, faults: [{ pointer, detail }] })
}

/** Returns the provider of a call without X-Provider. */
function usualProvider({ endpoint, dialect, target }: Call): string {
  if (isOfDeployment(target.path)) return 'azure'
  const { kind, provider } = formats[endpoint]
  return kind === undefined ? provider : providerOfDialect[dialect]
}

const providerOfDialect = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'gemini',
} as const satisfies Record<Dialect, string>

function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 80))
}
