import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A network that is not public, and the ports on which it may be reached. */
export type AllowedNetwork = {
  range: [ipaddr.IPv4 | ipaddr.IPv6, number]
  ports: readonly number[]
}

/** Ports of web servers. */
export const webPorts: readonly number[] = [80, 443]

/**
 * Returns the network of `10.0.0.0/8`, which opens ports 80 and 443, or of `10.0.0.0/8:9093` and
 * `[fd00::/8]:9093`, which open the named port alone. Throws for any other text.
 */
export function parseAllowedNetwork(text: string): AllowedNetwork {
  const expected = `got "${text}", expected a CIDR, for example 10.0.0.0/8, 10.0.0.0/8:9093 or [fd00::/8]:9093`
  const parts = /^(?:\[([^\]]+)\]|([^[\]]*?\/\d+))(?::(\d{1,5}))?$/.exec(text)
  const [, bracketed, bare, port] = parts ?? []
  const cidr = bracketed ?? bare ?? ''
  const [address = ''] = cidr.split('/', 1)
  if (isIP(address) === 0 || !ipaddr.isValidCIDR(cidr)) throw new Error(expected)
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) throw new Error(expected)
  const ports = port === undefined ? webPorts : [Number(port)]
  return { range: ipaddr.parseCIDR(cidr), ports }
}

/** Returns the ports of web servers and the port of a URL. */
export function portsOf(url: string): number[] {
  const own = Number(URL.parse(url)?.port ?? 0)
  return own > 0 ? [...webPorts, own] : [...webPorts]
}

type Policy = { allowed: readonly AllowedNetwork[]; public_ports?: readonly number[] }

/**
 * Whether a request may go to this address and port: a public address on a public port (default 80
 * and 443), or an allowed network on its ports. An IPv4 address inside an IPv6 address (mapped, NAT64, 6to4) counts
 * as itself. Everything that IANA lists as special is not public: private, loopback, link-local,
 * shared, multicast, documentation and reserved addresses.
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export function isReachable(
  address: string,
  port: number,
  { allowed, public_ports = webPorts }: Policy,
): boolean {
  const canonical = toCanonical(address)
  if (canonical === undefined) return false
  const actual = innermost(ipaddr.parse(canonical))
  if (isPublic(actual) && public_ports.includes(port)) return true
  return allowed.some(({ range, ports }) => ports.includes(port) && isIn(actual, range))
}

/**
 * Returns an IPv6 address in hexadecimal groups, because `ipaddr.js` reads `::8.8.8.8` as mapped.
 * Undefined for a text that is not an address, or names an interface.
 */
function toCanonical(address: string): string | undefined {
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : undefined
  return URL.parse(`http://[${address}]`)?.hostname.slice(1, -1)
}

/** All of today's public IPv6 addresses are in this block (RFC 4291). */
const global_unicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(global_unicast)
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, [base, bits]: AllowedNetwork['range']): boolean {
  if (address instanceof ipaddr.IPv4)
    return base instanceof ipaddr.IPv4 && address.match(base, bits)
  return base instanceof ipaddr.IPv6 && address.match(base, bits)
}

/** The prefix of NAT64 that stands for the public IPv4 Internet (RFC 6052). */
const nat64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96]

/** Returns the IPv4 address that a gateway would take out of an IPv6 address. */
function innermost(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address instanceof ipaddr.IPv4) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  const bytes = address.toByteArray()
  if (address.match(nat64)) return new ipaddr.IPv4(bytes.slice(12))
  if (address.range() === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6))
  return address
}
