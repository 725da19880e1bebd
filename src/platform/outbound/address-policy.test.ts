import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isReachable, parseAllowedNetwork, portsOf } from './address-policy.ts'

describe('without allowed networks', () => {
  test.each([
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '2606:4700::6810:84e5',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
  ])('%s is reachable', (address) => {
    expect(isReachable(address, 443, { allowed: [] })).toBe(true)
    expect(isReachable(address, 80, { allowed: [] })).toBe(true)
    expect(isReachable(address, 8080, { allowed: [] })).toBe(false)
  })

  test.each([
    ['loopback', '127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
    ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fc00::1'],
    ['link-local, with the metadata of clouds', '169.254.169.254', 'fe80::1', 'fd00:ec2::254'],
    ['shared by carriers', '100.64.0.1', '100.127.255.255'],
    ['unspecified', '0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0'],
    ['multicast and broadcast', '224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
    ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
    ['benchmarks', '198.18.0.1', '2001:2::1'],
    ['reserved', '240.0.0.1', '192.0.0.1', '192.88.99.1', '100::1', '5f00::1'],
    ['NAT64 to a private address', '64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b:1::808:808'],
    ['6to4 to a private address', '2002:7f00:1::', '2002:a00:1::1', '2002:a9fe:a9fe::'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['IPv4-compatible, which is outdated', '::127.0.0.1', '::8.8.8.8'],
    ['site-local, which is outdated', 'fec0::1'],
    ['translated (RFC 6145)', '::ffff:0:127.0.0.1'],
    ['no address', 'localhost', '', '127.1', '0x7f.1', '2130706433', '1.2.3.4, 5.6.7.8'],
  ])('%s is refused', (_, ...addresses) => {
    for (const address of addresses) {
      expect([address, isReachable(address, 443, { allowed: [] })]).toEqual([address, false])
    }
  })
})

test.each([
  ['https://a.test/v1', [80, 443]],
  ['http://b.test:8000/v1', [80, 443, 8000]],
  ['https://c.test:443', [80, 443]],
  ['no url', [80, 443]],
])('the port of %s is added to those of web servers', (url, ports) => {
  expect(portsOf(url)).toEqual(ports)
})

test('another public port opens public addresses alone', () => {
  const policy = { allowed: [], public_ports: [8443] }
  expect(isReachable('8.8.8.8', 8443, policy)).toBe(true)
  expect(isReachable('8.8.8.8', 443, policy)).toBe(false)
  expect(isReachable('10.0.0.1', 8443, policy)).toBe(false)
})

describe('an allowed network', () => {
  test.each([
    ['10.0.0.0/8', '10.1.2.3', 443, true],
    ['10.0.0.0/8', '10.1.2.3', 9093, false],
    ['10.0.0.0/8:9093', '10.1.2.3', 9093, true],
    ['10.0.0.0/8:9093', '10.1.2.3', 443, false],
    ['10.0.0.0/8', '11.0.0.1', 443, true],
    ['10.0.0.0/8:9093', '11.0.0.1', 9093, false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', 443, true],
    ['10.0.0.0/8', '64:ff9b::10.0.0.1', 443, true],
    ['10.0.0.0/8', 'fd00::1', 443, false],
    ['fd00::/8', 'fd00::1', 443, true],
    ['[fd00::/8]:9093', 'fd00::1', 9093, true],
    ['[fd00::/8]:9093', '10.0.0.1', 9093, false],
    ['0.0.0.0/0', '169.254.169.254', 443, true],
    ['0.0.0.0/0', '::1', 443, false],
  ])('%s and %s port %i: %s', (network, address, port, reachable) => {
    expect(isReachable(address, port, { allowed: [parseAllowedNetwork(network)] })).toBe(reachable)
  })

  test.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0/8',
    '0x0a.0.0.0/8',
    '10.0.0.0/8:0',
    '10.0.0.0/8:65536',
    '10.0.0.0/8:http',
    'fd00::/129',
    '[fd00::]:80',
    'example.com/8',
    '',
  ])('"%s" is refused', (text) => {
    expect(() => parseAllowedNetwork(text)).toThrow(`got "${text}", expected a CIDR`)
  })
})

test('an IPv4 address is as reachable as its mapped, NAT64 and 6to4 forms', () => {
  const byte = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(byte, byte, byte, byte, (a, b, c, d) => {
      const v4 = [a, b, c, d].join('.')
      const hex = [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(':')
      const forms = [`::ffff:${v4}`, `64:ff9b::${v4}`, `2002:${hex}::`]
      const verdicts = [v4, ...forms].map((address) => isReachable(address, 443, { allowed: [] }))
      expect(new Set(verdicts).size).toBe(1)
    }),
  )
})
