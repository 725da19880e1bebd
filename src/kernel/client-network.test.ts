import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toClientNetwork } from './client-network.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:ffff::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:1::', '2001:db8:1:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['192.0.2.7, 192.0.2.8', 'unknown'],
  ['admin', 'unknown'],
  ['', 'unknown'],
])('%s is counted as %s', (address, network) => {
  expect(toClientNetwork(address)).toBe(network)
})

test('addresses of one /64 are one network, of two /64 are two', () => {
  const group = fc.integer({ min: 0, max: 0xffff })
  const groups = (length: number) => fc.array(group, { minLength: length, maxLength: length })
  const format = (all: number[]) => all.map((one) => one.toString(16)).join(':')
  fc.assert(
    fc.property(groups(4), groups(4), groups(4), groups(4), (net, other, host, second) => {
      fc.pre(net.some((one) => one !== 0) && other.some((one) => one !== 0))
      const network = toClientNetwork(format([...net, ...host]))
      expect(toClientNetwork(format([...net, ...second]))).toBe(network)
      const isSame = format(net) === format(other)
      expect(toClientNetwork(format([...other, ...host])) === network).toBe(isSame)
    }),
  )
})
