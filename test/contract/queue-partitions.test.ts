import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrateJetStream, openJetStreamQueue } from '../../src/platform/queue/index.ts'
import { eventually } from '../support/eventually.ts'
import { type NatsServer, startNatsServer } from '../support/nats.ts'
import { ackingHandler, consumeOptions, keepingLogger, message } from '../support/queues.ts'

let directory: string
let server: NatsServer
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-partitions-'))
  server = await startNatsServer({ directory })
})
afterAll(async () => {
  await server?.stop()
  await rm(directory, { recursive: true, force: true })
})

async function open(stream_prefix: string, partitions: number) {
  const queue = await openJetStreamQueue(optionsOf(stream_prefix, partitions))
  return { queue, [Symbol.asyncDispose]: () => queue.close() }
}

function optionsOf(stream_prefix: string, partitions: number) {
  return {
    ...{ servers: [server.url], stream_prefix, partitions, replicas: 1, discover_ms: 200 },
    ...{ max_bytes: 50_000_000, duplicate_window_ms: 120_000, logger: keepingLogger() },
  }
}

const projects = Array.from({ length: 30 }, () => randomUUID())
const messageOf = (id: string, at: number) =>
  message(`${id}-${at}`, 'data', `ingest.${projects[at % projects.length]}`)

test('whatever number of partitions is set, no message is lost and none is delivered twice', async () => {
  const ids: string[] = []
  for (const partitions of [1, 4, 2]) {
    await using publisher = await open('changed', partitions)
    for (let at = 0; at < 60; at += 1) {
      const one = messageOf(`of-${partitions}`, at)
      await publisher.queue.publish(one)
      ids.push(one.id)
    }
    expect((await publisher.queue.stats()).pending).toBe(ids.length)
  }
  await using worker = await open('changed', 1)
  const acking = ackingHandler()
  await worker.queue.consume(consumeOptions, acking.handler)
  await eventually('all are drained', async () => (await worker.queue.stats()).pending === 0)
  expect(acking.ids.toSorted()).toEqual(ids.toSorted())
})

test('a worker that runs already takes the partitions that an edge with a larger number creates', async () => {
  await using worker = await open('grown', 1)
  const acking = ackingHandler()
  await worker.queue.consume(consumeOptions, acking.handler)
  await using edge = await open('grown', 3)
  for (let at = 0; at < 30; at += 1) await edge.queue.publish(messageOf('late', at))
  await eventually('all are delivered', () => acking.ids.length === 30)
})

test('dead letters of all partitions are one list, by pages, and each can be replayed', async () => {
  await using opened = await open('dead', 3)
  const { queue } = opened
  const burying = await queue.consume(consumeOptions, async (batch) => {
    await Promise.all(batch.map((delivery) => delivery.bury('no use')))
  })
  for (let at = 0; at < 12; at += 1) await queue.publish(messageOf('dead', at))
  await eventually('all are buried', async () => (await queue.stats()).dead === 12)
  await burying.stop()
  const pages = []
  for (let after: string | undefined; ; ) {
    const page = await queue.deadLetters(5, after === undefined ? {} : { after })
    if (page.length === 0) break
    pages.push(...page)
    after = page.at(-1)?.position
  }
  expect(new Set(pages.map(({ id }) => id)).size).toBe(12)
  expect(pages.map(({ buried_at }) => buried_at)).toEqual(
    pages.map(({ buried_at }) => buried_at).toSorted(),
  )
  for (const { id } of pages) expect(await queue.replayDeadLetter(id)).toBe(true)
  expect(await queue.stats()).toMatchObject({ dead: 0, pending: 12 })
})

test('a migration changes the settings of each partition', async () => {
  await using opened = await open('migrated', 2)
  await opened.queue.publish(messageOf('one', 1))
  const changes = await migrateJetStream(
    { ...optionsOf('migrated', 2), max_bytes: 60_000_000 },
    { may_shrink: false },
  )
  const queues = changes.filter(({ stream }) => stream.endsWith('_queue'))
  expect(queues.map(({ stream }) => stream)).toEqual(['migrated_queue', 'migrated-p1_queue'])
  expect(queues.every(({ is_changed }) => is_changed)).toBe(true)
})
