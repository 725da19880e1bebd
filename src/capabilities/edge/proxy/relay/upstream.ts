import { Pool } from 'undici'
import type { ProxySettings } from '../contract.ts'
import { type Endpoint, formats } from '../formats.ts'
import { type Provider, type ProviderName, providers } from '../providers.ts'

/** One provider with its connections. */
export type Upstream = {
  readonly provider: ProviderName
  readonly pool: Pool
  /** Paths by the formats that the provider speaks. */
  readonly paths: Readonly<Partial<Record<Endpoint, UpstreamPath>>>
  /** Calls that wait for this provider. */
  inFlight: number
  /**
   * Until this instant the provider is not asked for usage, because it refused `stream_options`.
   */
  usageRefusedUntil_ms: number
}

/** A whole path; or the start of it, to which the path of the client is added from `from` on. */
export type UpstreamPath = { readonly path: string; readonly from: number | undefined }

export type Upstreams = {
  get(name: string): Upstream | undefined
  readonly names: readonly string[]
  close(): Promise<void>
}

/**
 * Makes the connection pools of the providers; they connect on first use. Throws when a base URL is
 * no http(s) URL.
 */
export function createUpstreams(
  baseUrls: Partial<Record<ProviderName, string>>,
  settings: ProxySettings,
): Upstreams {
  const byName = new Map<string, Upstream>()
  for (const provider of providers) {
    const { name } = provider
    const address = baseUrls[name] ?? provider.base_url
    if (address === undefined) continue
    const url = new URL(address)
    byName.set(name, {
      provider: name,
      pool: new Pool(url.origin, poolOptions(settings)),
      paths: pathsOf(provider, url.pathname.replace(/\/+$/, '')),
      inFlight: 0,
      usageRefusedUntil_ms: 0,
    })
  }
  return {
    get: (name) => byName.get(name),
    names: [...byName.keys()],
    close: async () => {
      await Promise.all([...byName.values()].map(({ pool }) => pool.destroy()))
    },
  }
}

/** The version that a path of a client starts with, where the base URL has its own. */
const clientVersion = '/v1'

/** Returns the upstream paths of a provider; `base` is the path of its base URL. */
export function pathsOf(provider: Provider, base: string): Upstream['paths'] {
  const paths: Partial<Record<Endpoint, UpstreamPath>> = {}
  for (const endpoint of provider.formats) {
    const { path } = formats[endpoint]
    paths[endpoint] =
      path === undefined
        ? { path: base, from: clientVersion.length }
        : { path: `${base}${path}`, from: undefined }
  }
  const root = base.replace(/\/openai$/, '').replace(/\/v1(?:alpha|beta)?$/, '')
  for (const endpoint of provider.google_formats ?? []) paths[endpoint] = { path: root, from: 0 }
  return paths
}

/** Larger than usual: providers send rate limits, cookies and tracing headers. */
const responseHeader_bytes_max = 64 * 1024

function poolOptions(settings: ProxySettings): Pool.Options {
  return {
    connections: settings.upstream_connections_max,
    connect: { timeout: settings.connect_timeout_ms },
    headersTimeout: settings.idle_timeout_ms,
    bodyTimeout: settings.idle_timeout_ms,
    keepAliveTimeout: settings.upstream_keep_alive_ms,
    keepAliveMaxTimeout: settings.upstream_keep_alive_ms,
    maxHeaderSize: responseHeader_bytes_max,
    allowH2: false,
  }
}
