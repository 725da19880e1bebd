import { isIP, isIPv4 } from 'node:net'

/**
 * Returns the network by which a client is counted: the IPv4 address, or the first 64 bits of an
 * IPv6 address, because one subscriber usually has a whole /64 (RFC 6177). A text that is not an
 * address is counted as `unknown`, so that invented texts do not make new clients.
 */
export function toClientNetwork(address: string): string {
  const [bare = ''] = address.split('%', 1)
  switch (isIP(bare)) {
    case 4:
      return bare
    case 6:
      return toIpv6Network(bare)
    default:
      return unknownNetwork
  }
}

const unknownNetwork = 'unknown'

function toIpv6Network(address: string): string {
  const groups = expandIpv6(address)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return groups.slice(6).flatMap(bytesOf).join('.')
  const prefix = groups.slice(0, 4).map((group) => group.toString(16))
  return `${prefix.join(':')}::/64`
}

/** Returns the eight groups of a valid IPv6 address. */
function expandIpv6(address: string): number[] {
  const [before = '', after = ''] = address.split('::', 2)
  const head = groupsOf(before)
  const tail = groupsOf(after)
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0)
  return [...head, ...zeros, ...tail]
}

function groupsOf(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!isIPv4(group)) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function bytesOf(group: number): number[] {
  return [group >> 8, group & 255]
}
