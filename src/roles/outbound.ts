import { ConfigError, type Settings } from '../platform/config/index.ts'
import { type Outbound, openOutbound, parseAllowedNetwork } from '../platform/outbound/index.ts'

/** Opens the client of receivers: public addresses, and networks of LOOPTRACE_OUTBOUND_ALLOWED. */
export function openReceivers(config: Settings<'notification'>): Outbound {
  return openAllowed(config, [])
}

/**
 * Opens the client of the external issuer. It allows the configured host in any network, and
 * otherwise the addresses of receivers. Returns undefined without an issuer.
 */
export function openIssuerOutbound(
  config: Settings<'notification'> & { oidc_issuer?: string | undefined },
): Outbound | undefined {
  const { oidc_issuer } = config
  if (oidc_issuer === undefined) return undefined
  return openAllowed(config, [new URL(oidc_issuer).hostname.replace(/^\[|\]$/g, '')])
}

function openAllowed(
  { outbound_allowed = '' }: Settings<'notification'>,
  trusted_hosts: readonly string[],
): Outbound {
  const networks = outbound_allowed.split(',').map((network) => network.trim())
  try {
    const allowed = networks.filter((network) => network !== '').map(parseAllowedNetwork)
    return openOutbound({ allowed, trusted_hosts })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`LOOPTRACE_OUTBOUND_ALLOWED: ${reason}`)
  }
}
