import { access, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { findClusterFault } from '../../src/platform/columnar/cluster/check-cluster.ts'

const folder = 'examples/stores/clickhouse-cluster'
const read = async (name: string) =>
  parse(await readFile(`${folder}/${name}`, 'utf8'), { merge: true })

type Service = { image: string; environment: Record<string, string>; volumes: string[] }
type Shard = { internal_replication: boolean; replica: { host: string; port: number }[] }

test('the cluster of the example is one that Looptrace accepts', async () => {
  const { services }: { services: Record<string, Service> } = await read('compose.yaml')
  const { remote_servers, macros, zookeeper } = await read('cluster.yaml')
  const shards: Shard[] = remote_servers.main.shard
  const hosts = shards.flatMap(({ internal_replication, replica }, at) =>
    replica.map(({ host }) => ({
      ...{ host, shard: at + 1, internal_replication: internal_replication ? 1 : 0 },
    })),
  )
  const macroOf = (service: Service | undefined, name: 'shard' | 'replica') =>
    service?.environment[macros[name]['@from_env']] ?? ''
  const named = hosts.map(({ host }) => ({
    ...{ host, shard: macroOf(services[host], 'shard') },
    replica: macroOf(services[host], 'replica'),
  }))
  expect(hosts).toHaveLength(4)
  expect(findClusterFault('main', hosts, named)).toBeUndefined()
  // A replica is fetched from by the name of its server.
  for (const { host, replica } of named) expect(replica).toBe(host)
  for (const { host } of zookeeper.node) expect(services).toHaveProperty(host)
  const keepers = Object.keys(services).filter((name) => name.startsWith('keeper'))
  const xml = await readFile(`${folder}/keeper.xml`, 'utf8')
  const members = [...xml.matchAll(/<id>(\d)<\/id><hostname>([\w-]+)</g)]
  expect(members.map(([, , host]) => host)).toEqual(keepers)
  for (const [, id, host = ''] of members) expect(services[host]?.environment['KEEPER_ID']).toBe(id)
})

test('the workflow names files that exist', async () => {
  const { jobs } = await read('github-actions.yaml')
  const commands: string[] = jobs.cluster.steps.flatMap((step: { run?: string }) => step.run ?? [])
  const paths = commands.join(' ').match(/\b(?:test|examples)\/[\w./-]+/g) ?? []
  expect(paths.length).toBeGreaterThan(6)
  for (const path of paths) await expect(access(path), path).resolves.toBeUndefined()
  expect(jobs.cluster.env).toMatchObject({ TEST_CLICKHOUSE_CLUSTER: 'main' })
})
