import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Returns the network by which a client is counted: the IPv4 address, or the first 64 bits of an
 * IPv6 address, because one subscriber usually has a whole /64 (RFC 6177). A text that is not an
 * address is counted as `unknown`, so that invented texts do not make new clients.
 */
export function toClientNetwork(address: string): string {
  const [bare = ''] = address.split('%', 1)
  const version = isIP(bare)
  if (version === 0) return 'unknown'
  if (version === 4) return bare
  const parsed = ipaddr.process(bare)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const prefix = parsed.parts.slice(0, 4).map((group) => group.toString(16))
  return `${prefix.join(':')}::/64`
}
