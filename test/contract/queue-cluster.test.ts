import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type JetStreamQueueOptions,
  migrateJetStream,
  openJetStreamQueue,
} from '../../src/platform/queue/index.ts'
import { eventually } from '../support/eventually.ts'
import { type NatsServer, startNatsCluster } from '../support/nats.ts'
import { keepingLogger, message } from '../support/queues.ts'

let directory = ''
let servers: NatsServer[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-nats-'))
  servers = await startNatsCluster(directory)
}, 60_000)

afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()))
  await rm(directory, { recursive: true, force: true })
})

const long = { timeout_ms: 30_000 }

function optionsOf(given: Partial<JetStreamQueueOptions> = {}): JetStreamQueueOptions {
  return {
    servers: servers.map(({ url }) => url),
    ...{ replicas: 3, max_bytes: 200_000_000, duplicate_window_ms: 120_000 },
    logger: keepingLogger(),
    ...given,
  }
}

async function open(given: Partial<JetStreamQueueOptions> = {}) {
  const queue = await openJetStreamQueue(optionsOf(given))
  await eventually('the streams answer', () => queue.ready(), long)
  return Object.assign(queue, { [Symbol.asyncDispose]: () => queue.close() })
}

async function configOf(stream: string, connection: NatsConnection) {
  const manager = await jetstreamManager(connection, { checkAPI: false })
  const { config, cluster } = await eventually('the stream', () =>
    manager.streams.info(stream).catch(() => undefined),
  )
  return { ...config, leader: cluster?.leader }
}

test('a role or a command with other settings changes no stream, and migrate does', async () => {
  await using queue = await open()
  await using other = await open({ replicas: 1, max_bytes: 100_000_000 })
  const connection = await connect({ servers: servers.map(({ port }) => `127.0.0.1:${port}`) })
  try {
    const asOpened = { num_replicas: 3, max_bytes: 200_000_000 }
    expect(await configOf('looptrace_queue', connection)).toMatchObject(asOpened)
    expect(await configOf('looptrace_dead', connection)).toMatchObject({ num_replicas: 3 })
    await queue.publish(message('m1'))
    expect((await other.stats()).pending).toBe(1)

    const asked = optionsOf({ replicas: 1, max_bytes: 300_000_000 })
    const careful = await migrateJetStream(asked, { may_shrink: false })
    expect(careful.filter(({ stream }) => stream === 'looptrace_queue')).toEqual([
      expect.objectContaining({ setting: 'num_replicas', from: 3, to: 1, is_changed: false }),
      expect.objectContaining({ setting: 'max_bytes', to: 300_000_000, is_changed: true }),
    ])
    const grown = { num_replicas: 3, max_bytes: 300_000_000 }
    expect(await configOf('looptrace_queue', connection)).toMatchObject(grown)

    await migrateJetStream(asked, { may_shrink: true })
    expect(await configOf('looptrace_queue', connection)).toMatchObject({ num_replicas: 1 })
    await migrateJetStream(optionsOf(), { may_shrink: true })
    expect(await configOf('looptrace_queue', connection)).toMatchObject(asOpened)
    expect((await queue.stats()).pending).toBe(1)
  } finally {
    await connection.close()
  }
})

test('a command that may create nothing leaves NATS as it is', async () => {
  const prefix = { stream_prefix: 'unknown' }
  await using queue = await open({ ...prefix, may_create: false })
  await expect(queue.stats()).rejects.toMatchObject({ name: 'QueueUnavailable' })
  await using made = await open(prefix)
  expect((await made.stats()).pending).toBe(0)
})

test('when the server with the leader dies, the queue works as soon as the cluster does', async () => {
  await using queue = await open()
  const all = await connect({ servers: servers.map(({ port }) => `127.0.0.1:${port}`) })
  const { leader } = await configOf('looptrace_queue', all)
  await all.close()
  const gone = servers.find(({ name }) => name === leader)
  await gone?.kill()
  const left = servers.filter((server) => server !== gone)
  const direct = await connect({ servers: left.map(({ port }) => `127.0.0.1:${port}`) })
  try {
    await eventually(
      'the cluster acknowledges',
      async () => {
        const answer = direct.request('looptrace.ingest.direct', 'x', { timeout: 300 })
        return answer.then((one) => one.string().includes('seq')).catch(() => false)
      },
      long,
    )
    // Before, preparing the streams waited up to 5 seconds for each question, and as long between two.
    await eventually('the queue is ready', () => queue.ready(), { timeout_ms: 4_000 })
    await queue.publish(message('after'))
  } finally {
    await direct.close()
    await gone?.restart()
  }
}, 90_000)
