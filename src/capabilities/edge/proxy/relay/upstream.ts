import type { LookupFunction } from 'node:net'
import { Pool } from 'undici'
import type { ProxySettings } from '../contract.ts'
import { type Endpoint, formats } from '../formats.ts'
import { type KeyPlace, type Provider, type ProviderName, providers } from '../providers.ts'
import type { ProviderWithKey } from '../providers-file/read-providers.ts'

/** One provider with its connections. */
export type Upstream = {
  readonly provider: string
  readonly pool: Pool
  /** Paths by the formats that the provider speaks. */
  readonly paths: Readonly<Partial<Record<Endpoint, UpstreamPath>>>
  /** Paths of deployments of Azure OpenAI, which have no version. */
  readonly deployments: UpstreamPath
  /** Where its key goes; undefined: where the format usually has it. */
  readonly key_in: KeyPlace | undefined
  /** Address, formats and paths of a provider of the file, as text: a change opens new connections. */
  readonly source: string
  /** The key of the providers file, for calls that bring none. */
  own_key: OwnKey | undefined
  /** Calls and open sockets of this provider; see `enterUpstream`. */
  inFlight: number
  /** True once the providers file has no such provider any longer: it serves the calls that it has. */
  isReplaced: boolean
  /**
   * Until this instant the provider is not asked for usage, because it refused `stream_options`.
   */
  usageRefusedUntilMs: number
}

/** The key of a key file, and the projects and service accounts whose calls get it. */
export type OwnKey = {
  /** Undefined while the key file cannot be read. */
  readonly value: string | undefined
  readonly for: 'all' | ReadonlySet<string>
}

/**
 * A whole path, or one to which that of the client is added: as it is, or without its first step, which
 * is the version or the service.
 */
export type UpstreamPath = {
  readonly path: string
  readonly adds: 'nothing' | 'path' | 'path_without_start'
}

export type Upstreams = {
  get(name: string): Upstream | undefined
  names(): readonly string[]
  /** Replaces the providers of the providers file. Calls in progress end on their connections. */
  declare(declared: readonly ProviderWithKey[]): void
  close(): Promise<void>
}

export type UpstreamOptions = {
  base_urls: Partial<Record<ProviderName, string>>
  settings: ProxySettings
  /** Makes the name resolution for a base URL of the providers file. */
  lookup: (base_url: string) => LookupFunction
}

/**
 * Makes the connection pools of the providers; they connect on first use. Throws when a base URL is
 * no http(s) URL.
 */
export function createUpstreams({ base_urls, settings, lookup }: UpstreamOptions): Upstreams {
  const usual = new Map<string, Upstream>()
  for (const provider of providers) {
    const { name } = provider
    const address = base_urls[name] ?? provider.base_url
    if (address === undefined) continue
    const url = new URL(address)
    const pool = new Pool(url.origin, poolOptions(settings))
    const base = basePath(url)
    usual.set(name, upstreamOf(name, { pool, base, paths: pathsOf(provider, base) }))
  }
  let byName: ReadonlyMap<string, Upstream> = usual
  const open = (one: ProviderWithKey) => {
    const url = new URL(one.base_url ?? '')
    const pool = new Pool(url.origin, poolOptions(settings, lookup(url.href)))
    const base = basePath(url)
    const paths = declaredPaths(one, base)
    return upstreamOf(one.name, { pool, base, paths, key_in: one.key_in, source: sourceOf(one) })
  }
  /** Providers that were replaced, until their last call has ended. */
  const retired = new Set<Upstream>()
  function retire(upstream: Upstream): void {
    for (const one of retired) if (one.inFlight === 0) retired.delete(one)
    upstream.isReplaced = true
    if (upstream.inFlight === 0) void upstream.pool.close()
    else retired.add(upstream)
  }
  const find = (one: ProviderWithKey) => {
    const known = byName.get(one.name)
    const isSame = usual.has(one.name) || known?.source === sourceOf(one)
    return known !== undefined && isSame ? known : open(one)
  }
  function declare(declared: readonly ProviderWithKey[]): void {
    const next = new Map(usual)
    for (const upstream of usual.values()) upstream.own_key = undefined
    // A known provider whose base URL is not configured has no connections, and no key.
    for (const one of declared.filter(({ name, base_url }) => base_url || usual.has(name))) {
      const upstream = find(one)
      upstream.own_key = ownKeyOf(one)
      next.set(one.name, upstream)
    }
    for (const [name, upstream] of byName) if (next.get(name) !== upstream) retire(upstream)
    byName = next
  }

  return {
    get: (name) => byName.get(name),
    names: () => [...byName.keys()],
    declare,
    close: async () => {
      await Promise.all([...byName.values(), ...retired].map(({ pool }) => pool.destroy()))
    },
  }
}

type UpstreamParts = Pick<Upstream, 'pool' | 'paths'> & { base: string } & Partial<
    Pick<Upstream, 'key_in' | 'source'>
  >

function upstreamOf(provider: string, { base, ...parts }: UpstreamParts): Upstream {
  const root = base.replace(/\/v1$/, '')
  const deployments = { path: root, adds: 'path_without_start' } as const
  const state = { own_key: undefined, inFlight: 0, isReplaced: false, usageRefusedUntilMs: 0 }
  return { provider, deployments, key_in: undefined, source: '', ...parts, ...state }
}

/** Counts a call or an open socket as one of the provider's, until `leaveUpstream`. */
export function enterUpstream(upstream: Upstream): void {
  upstream.inFlight += 1
}

/** Ends a call or a socket. The last one of a provider that was replaced closes its connections. */
export function leaveUpstream(upstream: Upstream): void {
  upstream.inFlight -= 1
  const { inFlight, isReplaced, pool } = upstream
  if (isReplaced && inFlight === 0 && !pool.destroyed) void pool.close()
}

/** Returns the `source` of a provider: without its key, whose change keeps the connections. */
function sourceOf({ base_url, formats: spoken, key_in, paths }: ProviderWithKey): string {
  return JSON.stringify([base_url, spoken, key_in, paths])
}

function ownKeyOf({ key_file, key, key_for }: ProviderWithKey): OwnKey | undefined {
  return key_file === undefined ? undefined : { value: key, for: key_for }
}

function basePath({ pathname }: URL): string {
  return pathname.replace(/\/+$/, '')
}

/** Returns the upstream paths of a provider; `base` is the path of its base URL. */
export function pathsOf(provider: Provider, base: string): Upstream['paths'] {
  const paths = pathsBelow(base, provider.formats)
  const root = base.replace(/\/openai$/, '').replace(/\/v1(?:alpha|beta)?$/, '')
  for (const endpoint of provider.google_formats ?? []) {
    paths[endpoint] = { path: root, adds: 'path' }
  }
  return paths
}

/** Returns the upstream paths of a provider of the file, whose base URL has the version. */
export function declaredPaths(
  { formats: spoken, paths: own }: Pick<ProviderWithKey, 'formats' | 'paths'>,
  base: string,
): Upstream['paths'] {
  const paths = pathsBelow(base, spoken.flatMap(withRoutesBeside))
  for (const endpoint of spoken) {
    const path = own[endpoint]
    if (path !== undefined) paths[endpoint] = { path: `${base}${path}`, adds: 'nothing' }
  }
  return paths
}

/** A provider of Responses or Interactions has the routes beside them. */
function withRoutesBeside(endpoint: Endpoint): Endpoint[] {
  if (endpoint === 'responses') return [endpoint, ...besideResponses]
  return endpoint === 'interactions' ? [endpoint, 'interactions.retrieve'] : [endpoint]
}

const besideResponses = [
  'responses.retrieve',
  'responses.compact',
  'responses.count_tokens',
] as const

function pathsBelow(
  base: string,
  spoken: readonly Endpoint[],
): Partial<Record<Endpoint, UpstreamPath>> {
  const paths: Partial<Record<Endpoint, UpstreamPath>> = {}
  for (const endpoint of spoken) {
    const { path } = formats[endpoint]
    paths[endpoint] =
      path === undefined
        ? { path: base, adds: 'path_without_start' }
        : { path: `${base}${path}`, adds: 'nothing' }
  }
  return paths
}

/** Returns the path and query of a call to its provider. */
export function upstreamUrl(
  { path, adds }: UpstreamPath,
  target: { readonly path: string; readonly query: string },
): string {
  const whole = adds === 'nothing' ? path : path + addedPath(target.path, adds)
  if (target.query === '' || !whole.includes('?')) return whole + target.query
  return `${whole}&${target.query.slice(1)}`
}

function addedPath(path: string, adds: UpstreamPath['adds']): string {
  return adds === 'path' ? path : path.slice(path.indexOf('/', 1))
}

/** Larger than usual: providers send rate limits, cookies and tracing headers. */
const maxResponseHeaderBytes = 64 * 1024

function poolOptions(settings: ProxySettings, lookup?: LookupFunction): Pool.Options {
  return {
    connections: settings.upstream_connections_max,
    connect: { timeout: settings.connect_timeout_ms, ...(lookup && { lookup }) },
    headersTimeout: settings.idle_timeout_ms,
    bodyTimeout: settings.idle_timeout_ms,
    keepAliveTimeout: settings.upstream_keep_alive_ms,
    keepAliveMaxTimeout: settings.upstream_keep_alive_ms,
    maxHeaderSize: maxResponseHeaderBytes,
    allowH2: false,
  }
}
