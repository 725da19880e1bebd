import { BlockList, isIP } from 'node:net'

/**
 * Whether an address is one of the public internet: no loopback, private, link-local, shared,
 * documentation, multicast or reserved range (IANA's special-purpose registries, RFC 6890).
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 0) return false
  // An IPv4 address in the form of IPv6 is judged as IPv4.
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1]
  if (mapped !== undefined) return isPublicAddress(mapped)
  return family === 4 ? !reserved4.check(address, 'ipv4') : !reserved6.check(address, 'ipv6')
}

// Two lists: in one, the mapped range of IPv6 would take all of IPv4 in.
const reserved4 = new BlockList()
const reserved6 = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  reserved4.addSubnet(network, prefix, 'ipv4')
}
for (const [network, prefix] of [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 32],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  reserved6.addSubnet(network, prefix, 'ipv6')
}
