import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { ProjectKey } from '../contract.ts'
import { type Dialect, type Endpoint, isPassed, isRecorded } from '../formats.ts'
import type { KeyPlace } from '../providers.ts'
import type { OwnKey, Upstream } from '../relay/upstream.ts'
import type { CallTarget } from './call-target.ts'
import { type Credentials, keyHeader, withKeyHeader } from './credentials.ts'
import type { RequestHeaders } from './request-headers.ts'

/** The parts of a call that its provider's key changes. */
type KeyedCall = {
  readonly endpoint: Endpoint
  readonly dialect: Dialect
  readonly headers: RequestHeaders
  readonly target: CallTarget
}

/**
 * Puts the provider's key where the provider reads it: the key of the client, or else that of the key
 * file if the project key may use it. Throws `provider_authorization_missing` without a key.
 */
export function addProviderKey(
  call: KeyedCall,
  { provider_key, isPlain }: Credentials,
  { key, upstream }: { key: ProjectKey; upstream: Upstream },
): void {
  const { headers, target } = call
  if (provider_key !== '') {
    target.provider_key = provider_key
    const isPlaced = isPlain && (upstream.key_in ?? 'bearer') === 'bearer'
    if (!isPlaced) placeKey(call, upstream.key_in, provider_key)
    return
  }
  if (upstream.key_in === 'none') {
    headers.forwarded = withKeyHeader(headers.forwarded)
    return
  }
  const own = ownKey(call, key, upstream)
  target.provider_key = own
  target.own_key = own
  placeKey(call, upstream.key_in, own)
}

/** Returns the key of the key file. Throws `provider_authorization_missing` with the reason. */
function ownKey(call: KeyedCall, key: ProjectKey, { provider, own_key }: Upstream): string {
  const { headers, dialect } = call
  if (isOfOtherScheme(headers.authorization, dialect)) {
    throw noProviderKey(dialect, 'not of the Bearer scheme')
  }
  const obstacle = isShared(call) ? ofAllProjects : obstacleOf(key, provider, own_key)
  if (obstacle !== undefined) throw noProviderKey(dialect, 'missing', obstacle)
  return own_key?.value ?? ''
}

/**
 * Whether a path lists, reads or deletes what other projects stored with the same key of the provider.
 * A stored response is reached by its id alone, which cannot be guessed.
 */
function isShared({ endpoint }: KeyedCall): boolean {
  return isPassed(endpoint) && !isRecorded(endpoint)
}

const ofAllProjects =
  'what is stored with the key of Looptrace belongs to all projects that use it, so files, batches, stores and the like need a key of their own'

/** Returns why a call does not get the key of a key file. */
function obstacleOf(
  { project_id, scopes, ...more }: ProjectKey,
  provider: string,
  own_key: OwnKey | undefined,
): string | undefined {
  if (own_key === undefined) return `Looptrace has no key file for ${provider}`
  if (!scopes.has('proxy:provider_key')) {
    return 'the project key lacks the scope proxy:provider_key, with which Looptrace adds its own'
  }
  const { for: allowed, value } = own_key
  const ids = [project_id, more.service_account_id ?? '']
  if (allowed !== 'all' && !ids.some((id) => allowed.has(id))) {
    return `"key_for" of ${provider} in the providers file has neither this project nor this service account`
  }
  return value === undefined ? `the key file for ${provider} cannot be read` : undefined
}

function isOfOtherScheme(authorization: string, dialect: Dialect): boolean {
  if (dialect !== 'openai' || authorization.includes('lt_')) return false
  return !/^(?:bearer *)?$/i.test(authorization)
}

function noProviderKey(dialect: Dialect, fault: string, obstacle?: string): Problem {
  const [pointer, means] = usualPlaces[dialect]
  const why = obstacle === undefined ? '' : `, because ${obstacle}`
  const detail = `${pointer} is ${fault}: send ${means} for the model provider${why}`
  return problem('provider_authorization_missing', { detail, faults: [{ pointer, detail }] })
}

/** The usual place of the provider's key, and what it holds. */
const usualPlaces: Readonly<Record<Dialect, readonly [pointer: string, means: string]>> = {
  openai: ['Authorization', '"Bearer " and your key'],
  anthropic: ['x-api-key', 'your key'],
  google: ['x-goog-api-key', 'your key'],
}

/** Puts a key in its place, and removes an Authorization of the client. */
function placeKey(
  { headers, target, dialect }: KeyedCall,
  place: KeyPlace | undefined,
  key: string,
): void {
  if (place === 'query') {
    target.query += `${target.query === '' ? '?' : '&'}key=${encodeURIComponent(key)}`
    headers.forwarded = withKeyHeader(headers.forwarded)
    return
  }
  headers.forwarded = withKeyHeader(
    headers.forwarded,
    headerOf(place, key) ?? keyHeader(dialect, key),
  )
}

function headerOf(
  place: KeyPlace | undefined,
  key: string,
): readonly [name: string, value: string] | undefined {
  if (place === undefined || place === 'none' || place === 'query') return undefined
  return place === 'bearer' ? ['authorization', `Bearer ${key}`] : [place, key]
}
