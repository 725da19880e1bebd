import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HostAnswer } from '../../../platform/columnar/index.ts'
import {
  type ClusterChange,
  type ClusterStatements,
  changeOnCluster,
  findUnchanged,
  type ServerChanges,
} from './cluster-changes.ts'

const table = { database: 'lt', table: 'observations_local', cluster: 'main' }
/** Two shards with two replicas each, in the order of the cluster's definition. */
const servers = ['a', 'b', 'c', 'd'].map((host, at) => ({
  ...{ server: at + 1, host, port: 9000, shard: at < 2 ? 1 : 2 },
}))
const taken = (hosts: string): HostAnswer[] =>
  servers.map(({ host, port }) => ({ host, port, status: hosts.includes(host) ? 0 : null }))
const applied = (server: number, last = '0000000007'): ServerChanges => ({
  ...{ server, last, waiting: 0, fault: '' },
})

/** A cluster that answers one statement, and then the states of its servers, the last one again. */
function cluster(about: {
  answers: HostAnswer[]
  states: ServerChanges[][]
  replicas?: { path: string; replicas: number; active: number }[]
}) {
  const sent: string[] = []
  let polls = 0
  const statements = {
    changes: {
      commandHosts: async (sql: string) => {
        sent.push(sql)
        return about.answers
      },
    },
    catalogue: {
      query: async (sql: string) => {
        if (sql.includes('system.clusters')) return servers.map(({ server: _, ...row }) => row)
        if (sql.includes('system.replicas')) return about.replicas ?? []
        polls += 1
        return about.states[Math.min(polls, about.states.length) - 1] ?? []
      },
    },
  } as unknown as ClusterStatements
  return { statements, sent, polls: () => polls }
}

const deletion: ClusterChange = {
  ...{ sql: 'ALTER …', params: {}, signal: undefined, is_mutation: true },
  ...{ needs_all_replicas: true, timeout_ms: 5_000 },
}
const update = { ...deletion, needs_all_replicas: false }
const everyone = [1, 2, 3, 4].map((server) => applied(server))

test('a change is sent once, and done when every replica has applied it', async () => {
  const behind = [applied(1), applied(2, '0000000006'), applied(3), { ...applied(4), waiting: 1 }]
  const one = cluster({ answers: taken('ac'), states: [behind, behind, everyone] })
  await changeOnCluster(one.statements, table, deletion)
  expect(one.sent).toEqual(['ALTER …'])
  expect(one.polls()).toBe(3)
})

test('a deletion waits for replicas that do not answer, an update of owners does not', async () => {
  const withoutOne = everyone.filter(({ server }) => server !== 2)
  const one = cluster({ answers: taken('ac'), states: [withoutOne] })
  await changeOnCluster(one.statements, table, update)
  const short = { ...deletion, timeout_ms: 1 }
  await expect(changeOnCluster(one.statements, table, short)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('Servers b have not applied a change of observations_local'),
  })
})

test('a deletion does not begin while a replica is inactive', async () => {
  const replicas = [
    { path: '/1', replicas: 2, active: 2 },
    { path: '/2', replicas: 2, active: 1 },
  ]
  const one = cluster({ answers: taken('abcd'), states: [everyone], replicas })
  await expect(changeOnCluster(one.statements, table, deletion)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('1 of 2 replicas of observations_local are active'),
  })
  expect(one.sent).toEqual([])
  await changeOnCluster(one.statements, table, update)
  expect(one.sent).toHaveLength(1)
})

test('a shard that has not taken the change is an error, also for an update', async () => {
  const one = cluster({ answers: taken('ab'), states: [everyone] })
  await expect(changeOnCluster(one.statements, table, update)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: 'Shard 2 has not taken a change of observations_local in time.',
  })
})

test('a change that fails on a server says why', async () => {
  const failing = { ...applied(3), waiting: 1, fault: 'no space left' }
  const states = [[applied(1), applied(2), failing, applied(4)]]
  const one = cluster({ answers: taken('abcd'), states })
  const short = { ...deletion, timeout_ms: 1 }
  await expect(changeOnCluster(one.statements, table, short)).rejects.toMatchObject({
    message: expect.stringContaining('Servers c have'),
  })
  await expect(changeOnCluster(one.statements, table, short)).rejects.toMatchObject({
    message: expect.stringContaining('no space left'),
  })
})

test('a shard without an answer counts, also when all others are done', () => {
  expect(findUnchanged(servers, everyone.slice(0, 2), false)).toEqual(['c', 'd'])
  expect(findUnchanged(servers, [], false)).toEqual(['a', 'b', 'c', 'd'])
})

test('all replicas are done exactly if each knows and has applied the newest change', () => {
  const state = fc.record({ last: fc.integer({ min: 0, max: 3 }), waiting: fc.nat({ max: 1 }) })
  fc.assert(
    fc.property(fc.tuple(state, state, state, state), (given) => {
      const states = given.map(({ last, waiting }, at) => ({
        ...{ server: at + 1, last: String(last).padStart(10, '0'), waiting, fault: '' },
      }))
      const isDone = [given.slice(0, 2), given.slice(2)].every((shard) => {
        const newest = Math.max(...shard.map(({ last }) => last))
        return shard.every(({ last, waiting }) => last === newest && waiting === 0)
      })
      expect(findUnchanged(servers, states, true).length === 0).toBe(isDone)
    }),
  )
})
