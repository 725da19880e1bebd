import { problem } from '../../../../kernel/problem.ts'
import type { ProjectKey } from '../contract.ts'
import type { Upstream, Upstreams } from '../relay/upstream.ts'
import type { Call } from './call.ts'
import { contextOf } from './call-context.ts'
import { bodyTooLarge, overloaded } from './request-body.ts'

/** The value of X-API-Key. Throws `credentials_missing` or `credentials_invalid`. */
export function apiKeyOf({ headers }: Call): string {
  if (headers.repeated === '') {
    if (headers.api_key !== '') return headers.api_key
    const detail = 'X-API-Key is missing: it takes a project key, lt_…'
    throw problem('credentials_missing', { detail, faults: [{ pointer: 'X-API-Key', detail }] })
  }
  const detail = `${headers.repeated}: came more than once, expected one`
  throw problem('invalid_request', { detail, faults: [{ pointer: headers.repeated, detail }] })
}

/** Throws `credentials_invalid` for a key that is not known, `permission_denied` for its scopes. */
export function checkKey(key: ProjectKey | undefined): ProjectKey {
  if (!key) {
    const detail = 'X-API-Key: this is no project key that is known and not revoked'
    throw problem('credentials_invalid', { detail, faults: [{ pointer: 'X-API-Key', detail }] })
  }
  if (!key.scopes.has('proxy:write')) {
    const detail = 'X-API-Key: the key lacks the scope proxy:write'
    throw problem('permission_denied', { detail, faults: [{ pointer: 'X-API-Key', detail }] })
  }
  return key
}

/**
 * Checks what the headers of an authenticated call say and finds its provider; fills in the call's
 * context. Throws the refusal.
 */
export function admit(call: Call, upstreams: Upstreams): Upstream {
  const { headers, services } = call
  call.context = contextOf(headers)
  checkContentType(headers.content_type)
  checkAuthorization(headers.authorization)
  const upstream =
    headers.provider === '' ? upstreams.first : upstreamOf(headers.provider, upstreams)
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

/** The scheme is Bearer; the key itself is the provider's business and is never looked at. */
function checkAuthorization(value: string): void {
  if (/^bearer +\S/i.test(value)) return
  const detail = `Authorization is ${value === '' ? 'missing' : 'not of the Bearer scheme'}: it takes "Bearer " and your key for the model provider`
  throw problem('provider_authorization_missing', {
    detail,
    faults: [{ pointer: 'Authorization', detail }],
  })
}

function upstreamOf(name: string, upstreams: Upstreams): Upstream {
  const upstream = upstreams.get(name.trim().toLowerCase())
  if (upstream) return upstream
  const detail = `X-Provider: got ${quoted(name)}, expected one of ${upstreams.names.join(', ')}`
  throw problem('unknown_provider', { detail, faults: [{ pointer: 'X-Provider', detail }] })
}

function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 80))
}
