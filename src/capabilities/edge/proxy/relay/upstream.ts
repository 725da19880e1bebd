import { Pool } from 'undici'
import type { Endpoint, ProxySettings } from '../contract.ts'
import { type ProviderName, providers } from '../providers.ts'

/** One provider with its connections. */
export type Upstream = {
  readonly provider: ProviderName
  readonly pool: Pool
  readonly paths: Readonly<Partial<Record<Endpoint, string>>>
  /** Calls that wait for this provider. */
  inFlight: number
  /**
   * Until this instant the provider is not asked for usage, because it refused `stream_options`.
   */
  usageRefusedUntil_ms: number
}

export type Upstreams = {
  readonly first: Upstream
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
  for (const { name, base_url, paths } of providers) {
    const address = baseUrls[name] ?? base_url
    if (address === undefined) continue
    const url = new URL(address)
    const prefix = url.pathname.replace(/\/+$/, '')
    byName.set(name, {
      provider: name,
      pool: new Pool(url.origin, poolOptions(settings)),
      paths: {
        'chat.completions': `${prefix}${paths['chat.completions']}`,
        completions: `${prefix}${paths.completions}`,
      },
      inFlight: 0,
      usageRefusedUntil_ms: 0,
    })
  }
  const first = byName.get(providers[0].name)
  if (!first) throw new Error(`the provider ${providers[0].name} has no base URL`)
  return {
    first,
    get: (name) => byName.get(name),
    names: [...byName.keys()],
    close: async () => {
      await Promise.all([...byName.values()].map(({ pool }) => pool.destroy()))
    },
  }
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
