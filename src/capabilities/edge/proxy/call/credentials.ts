import { type Problem, problem } from '../../../../kernel/problem.ts'
import { holdsProjectKey } from '../../../../kernel/project-key-text.ts'
import type { Dialect } from '../formats.ts'
import type { RequestHeaders } from './request-headers.ts'

/** The keys of a call. */
export type Credentials = {
  /** The value that begins with `lt_`. */
  project_key: string
  /** The place of the project key, for errors. */
  project_key_place: string
  /** The provider's key without its scheme; empty without one. */
  provider_key: string
  /** Whether the headers can go on as they came: only Authorization has the provider's key. */
  isPlain: boolean
  /** The query of the call without the keys in it, with its question mark. */
  query: string
}

/** A place of a key. Its name is what errors show. */
type Place = (typeof places)[number]

const places = [
  'X-API-Key',
  'X-Looptrace-Key',
  'Authorization',
  'x-goog-api-key',
  'api-key',
  'query key',
] as const

/** The places of a provider's key, the usual one first. The first that has one is used. */
const placesByDialect: Readonly<Record<Dialect, readonly Place[]>> = {
  openai: ['Authorization', 'api-key', 'X-API-Key', 'x-goog-api-key', 'query key'],
  anthropic: ['X-API-Key', 'Authorization', 'api-key', 'x-goog-api-key', 'query key'],
  google: ['x-goog-api-key', 'query key', 'Authorization', 'X-API-Key', 'api-key'],
}

/**
 * Tells the keys of a call apart: a value that begins with `lt_` is a project key in any of the
 * places, and any other is the provider's. `query` is the query of the call, with its question mark.
 * Throws `credentials_missing` without a project key, and `credentials_invalid` for two different
 * project keys.
 */
export function readCredentials(
  headers: RequestHeaders,
  query: string,
  dialect: Dialect,
): Credentials {
  if (dialect === 'openai' && isUsual(headers, query)) {
    return {
      project_key: headers.api_key,
      project_key_place: 'X-API-Key',
      provider_key: bearerToken(headers.authorization),
      isPlain: true,
      query,
    }
  }
  const keys = new FoundKeys()
  keys.add('X-API-Key', headers.api_key)
  keys.add('X-Looptrace-Key', headers.looptrace_key)
  if (isBearer(headers.authorization) || headers.authorization.includes('lt_')) {
    keys.add('Authorization', headers.authorization)
  }
  keys.add('x-goog-api-key', headers.goog_api_key)
  keys.add('api-key', headers.azure_api_key)
  const rest = takeQueryKeys(query, dialect, keys)
  const [first, ...others] = keys.ours
  if (first === undefined) throw noKey()
  if (others.some(({ key }) => key !== first.key)) throw severalKeys(keys.ours)
  return {
    project_key: first.key,
    project_key_place: first.place,
    provider_key: keys.providerKey(dialect),
    isPlain: false,
    query: rest,
  }
}

/**
 * Returns whether a call is as the specification describes it: a project key in X-API-Key, the provider's
 * in Authorization, and no other place has one.
 */
function isUsual(headers: RequestHeaders, query: string): boolean {
  const { api_key, authorization } = headers
  if (headers.looptrace_key !== '' || headers.goog_api_key !== '') return false
  if (api_key === '' || headers.azure_api_key !== '' || authorization.includes('lt_')) return false
  if (query !== '' && /lt_|%/.test(query)) return false
  return api_key.startsWith('lt_') ? !separator.test(api_key) : !api_key.includes('lt_')
}

const separator = /[,;\s]+/

class FoundKeys {
  readonly ours: { key: string; place: Place }[] = []
  readonly #theirs = new Map<Place, string>()

  /** Adds the keys of a header. Clients that merge two headers separate their values by a comma. */
  add(place: Place, value: string): void {
    if (value === '') return
    for (const key of value.split(separator)) {
      if (key.startsWith('lt_')) this.ours.push({ key, place })
      else if (key !== '' && !/^bearer$/i.test(key)) this.#addTheirs(place, key)
    }
  }

  /** Returns the provider's key of a dialect; empty without one. */
  providerKey(dialect: Dialect): string {
    for (const place of placesByDialect[dialect]) {
      const key = this.#theirs.get(place)
      if (key !== undefined) return key
    }
    return ''
  }

  /** X-Looptrace-Key never holds a provider's key, and a text with a project key never goes on. */
  #addTheirs(place: Place, key: string): void {
    if (place === 'X-Looptrace-Key' || this.#theirs.has(place) || holdsProjectKey(key)) return
    this.#theirs.set(place, key)
  }
}

/**
 * Returns the query without project keys, and without the `key` of Google's clients, which goes on in
 * a header.
 */
function takeQueryKeys(query: string, dialect: Dialect, keys: FoundKeys): string {
  if (query === '' || !/key|lt_|%/i.test(query)) return query
  const kept = query
    .slice(1)
    .split('&')
    .filter((pair) => {
      const [name, value] = decodePair(pair)
      if (name === 'key' && (value.startsWith('lt_') || dialect === 'google')) {
        keys.add('query key', value)
        return false
      }
      return !value.startsWith('lt_') && !holdsProjectKey(`${name}=${value}`)
    })
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

function decodePair(pair: string): [name: string, value: string] {
  const [parsed = ['', '']] = new URLSearchParams(pair)
  return parsed
}

function isBearer(authorization: string): boolean {
  return /^bearer +\S/i.test(authorization)
}

function bearerToken(authorization: string): string {
  if (authorization.startsWith('Bearer ')) return authorization.slice('Bearer '.length).trim()
  return isBearer(authorization) ? authorization.replace(/^bearer +/i, '').trim() : ''
}

function noKey(): Problem {
  const detail = `X-API-Key is missing: send a project key, lt_…. No value that begins with lt_ is in ${listed(places, 'or')}, nor in a path /k/<key>/…`
  return problem('credentials_missing', { detail, faults: [{ pointer: 'X-API-Key', detail }] })
}

function severalKeys(ours: readonly { place: Place }[]): Problem {
  const found = [...new Set(ours.map(({ place }) => place))]
  const detail = `two different project keys were sent, in ${listed(found, 'and')}: send one`
  return problem('credentials_invalid', {
    detail,
    faults: found.map((pointer) => ({ pointer, detail })),
  })
}

function listed(names: readonly string[], word: 'and' | 'or'): string {
  return names.length < 2
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`
}

/** A header with the provider's key. */
type KeyHeader = readonly [name: string, value: string]

/**
 * Returns the header in which an API expects its key. Tokens of Anthropic and Google that people
 * sign in for are bearer tokens.
 */
export function keyHeader(dialect: Dialect, key: string): KeyHeader {
  if (dialect === 'anthropic' && !key.startsWith('sk-ant-oat')) return ['x-api-key', key]
  if (dialect === 'google' && !key.startsWith('ya29.')) return ['x-goog-api-key', key]
  return ['authorization', `Bearer ${key}`]
}

/**
 * Returns headers (name, value, name, value) without Authorization, and with the header of a key if
 * there is one.
 */
export function withKeyHeader(flat: readonly string[], header?: KeyHeader): string[] {
  const kept: string[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const other = flat[i] ?? ''
    if (other.toLowerCase() !== 'authorization') kept.push(other, flat[i + 1] ?? '')
  }
  return header === undefined ? kept : [...kept, ...header]
}
