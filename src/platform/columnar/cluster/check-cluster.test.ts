import { expect, test } from 'vitest'
import { findClusterFault, type HostMacros } from './check-cluster.ts'

const hosts = [1, 1, 2, 2].map((shard, at) => ({
  ...{ shard, host: `server-${at + 1}`, internal_replication: 1 },
}))
const macros: HostMacros[] = hosts.map(({ shard, host }, at) => ({
  ...{ host, shard: String(shard), replica: `r${(at % 2) + 1}` },
}))

test('a cluster whose shards and replicas have names of their own works', () => {
  expect(findClusterFault('main', hosts, macros)).toBeUndefined()
  // A server that is down has no macros.
  expect(findClusterFault('main', hosts, macros.slice(0, 2))).toBeUndefined()
})

test.each([
  ['no such cluster', [], [], 'has no cluster "main"'],
  [
    'inserts that Distributed copies itself',
    hosts.map((host) => ({ ...host, internal_replication: 0 })),
    macros,
    'internal_replication = false, expected true',
  ],
  ['no macro', hosts, macros.map((one) => ({ ...one, shard: '' })), 'has no macro "shard"'],
  ['no macro', hosts, macros.map((one) => ({ ...one, replica: '' })), 'has no macro "replica"'],
  [
    'one replica twice',
    hosts,
    macros.map((one) => ({ ...one, replica: 'r1' })),
    'Servers server-1 and server-2',
  ],
  [
    'all servers in one shard',
    hosts,
    macros.map((one, at) => ({ ...one, shard: '1', replica: `r${at}` })),
    'name 1 shards, its remote_servers 2',
  ],
])('%s is an error that says what to change', (_, given, names, message) => {
  expect(findClusterFault('main', given, names)).toContain(message)
})
