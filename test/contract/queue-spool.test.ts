import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  MessageTooLarge,
  openJetStreamQueue,
  openSqliteQueue,
  type Queue,
  type SpooledPublisher,
  withSpool,
} from '../../src/platform/queue/index.ts'
import { eventually } from '../support/eventually.ts'
import { type NatsServer, startNatsServer } from '../support/nats.ts'
import { ackingHandler, consumeOptions, keepingLogger, message } from '../support/queues.ts'

const long = { timeout_ms: 30_000 }
let directory = ''
let server: NatsServer
const opened: (Queue | SpooledPublisher)[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-spool-'))
  server = await startNatsServer({ directory })
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
  await server.stop()
  await rm(directory, { recursive: true, force: true })
})

async function openQueue(): Promise<Queue> {
  const queue = await openJetStreamQueue({
    servers: [server.url],
    replicas: 1,
    max_bytes: 200_000_000,
    duplicate_window_ms: 120_000,
    connect_timeout_ms: 1_000,
    ack_timeout_ms: 2_000,
    logger: keepingLogger(),
  })
  opened.push(queue)
  return queue
}

/** The proxy's publisher, with its reports. */
async function openPublisher(
  spool_bytes_max = 100_000_000,
  more: Partial<Parameters<typeof withSpool>[0]> = {},
) {
  const counts = { spooled: 0, replayed: 0 }
  const path = join(directory, 'spool.sqlite')
  const logger = keepingLogger()
  const publisher = await withSpool({
    queue: await openQueue(),
    spool: await openSqliteQueue({ path, bytes_max: spool_bytes_max, logger }),
    kinds: ['ingest', 'ledger'],
    logger,
    replay_check_ms: 20,
    ...more,
    on_spooled: () => {
      counts.spooled += 1
    },
    on_replayed: (messages) => {
      counts.replayed += messages
    },
  })
  opened.push(publisher)
  return { publisher, counts }
}

async function consumeAll(messages: number): Promise<string[]> {
  const queue = await openQueue()
  const { ids, handler } = ackingHandler()
  const consumer = await queue.consume(consumeOptions, handler)
  await eventually('all are there', () => ids.length >= messages, long)
  await consumer.stop()
  return ids
}

const isReplayed = async (publisher: SpooledPublisher) => (await publisher.stats()).spooled === 0

test('with the queue available, nothing is written to disk', async () => {
  const { publisher, counts } = await openPublisher()
  await publisher.publish(message('m1'))
  expect(await publisher.stats()).toMatchObject({ spooled: 0, refused: 0 })
  expect(counts).toEqual({ spooled: 0, replayed: 0 })
  expect(await consumeAll(1)).toEqual(['m1'])
})

test('with the queue unavailable messages go to disk, and later to the queue in order', async () => {
  const { publisher, counts } = await openPublisher()
  await server.kill()
  const ids = Array.from({ length: 150 }, (_, i) => `m${i}`)
  for (const id of ids) await publisher.publish(message(id))
  expect(await publisher.ready()).toBe(true)
  expect(await publisher.stats()).toMatchObject({ spooled: 150 })
  expect((await publisher.stats()).spooled_bytes).toBeGreaterThan(150)
  await server.restart()
  await eventually('the spool is empty', () => isReplayed(publisher), long)
  expect(counts).toEqual({ spooled: 150, replayed: 150 })
  expect(await consumeAll(150)).toEqual(ids)
})

test('an outage in the middle of everything loses nothing and duplicates nothing', async () => {
  const { publisher, counts } = await openPublisher()
  const ids = Array.from({ length: 600 }, (_, i) => `m${i}`)
  let published = 0
  const publishing = Promise.all(
    Array.from({ length: 12 }, async (_, lane) => {
      for (let i = lane; i < ids.length; i += 12) {
        await publisher.publish(message(ids[i] ?? '', Buffer.alloc(2_000)))
        published += 1
      }
    }),
  )
  await eventually('some are published', () => published > 100, long)
  await server.kill()
  await eventually('some are spooled', () => counts.spooled > 50, long)
  await server.restart()
  await publishing
  await eventually('the spool is empty', () => isReplayed(publisher), long)
  expect((await consumeAll(600)).toSorted()).toEqual(ids.toSorted())
})

test('the messages on disk survive the process', async () => {
  const first = await openPublisher()
  await server.kill()
  await first.publisher.publish(message('m1'))
  await first.publisher.close()
  const second = await openPublisher()
  expect(await second.publisher.stats()).toMatchObject({ spooled: 1 })
  await server.restart()
  await eventually('the spool is empty', () => isReplayed(second.publisher), long)
  expect(await consumeAll(1)).toEqual(['m1'])
})

test('a full spool refuses: the caller counts the loss', async () => {
  const { publisher, counts } = await openPublisher(100_000)
  await server.kill()
  const data = Buffer.alloc(30_000)
  const results = await Promise.allSettled(
    ['a', 'b', 'c', 'd', 'e'].map((id) => publisher.publish(message(id, data))),
  )
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ])
  expect(results[3]).toMatchObject({ reason: { name: 'QueueUnavailable', reason: 'full' } })
  expect(counts.spooled).toBe(3)
})

test('a message that is too large is refused, not spooled', async () => {
  const { publisher } = await openPublisher()
  expect(publisher.message_bytes_max).toBe(1_048_576 - 4_096)
  const tooLarge = publisher.publish(message('m1', Buffer.alloc(1_048_576)))
  await expect(tooLarge).rejects.toThrow(MessageTooLarge)
  expect(await publisher.stats()).toMatchObject({ spooled: 0 })
})

test('close with the queue unavailable keeps messages in progress on disk', async () => {
  const { publisher } = await openPublisher()
  await server.kill()
  const publishes = Array.from({ length: 20 }, (_, i) => publisher.publish(message(`m${i}`)))
  await publisher.close()
  await Promise.all(publishes)
  const again = await openPublisher()
  expect(await again.publisher.stats()).toMatchObject({ spooled: 20 })
})

test('a publisher that closes in an outage waits for the queue, and takes nothing along', async () => {
  const { publisher } = await openPublisher()
  await server.kill()
  await Promise.all(Array.from({ length: 20 }, (_, i) => publisher.publish(message(`m${i}`))))
  const closed = publisher.close({ drain_ms: 30_000 })
  await server.restart()
  expect(await closed).toEqual({ messages: 0, kept_elsewhere: 0 })
  expect(new Set(await consumeAll(20)).size).toBe(20)
})

test('what is left after an outage that lasts is told, and its ledger is kept elsewhere', async () => {
  const kept: string[] = []
  const take = async ({ id, subject }: { id: string; subject: string }) => {
    kept.push(`${subject.split('.')[0]} ${id}`)
  }
  const { publisher } = await openPublisher(100_000_000, {
    keepElsewhere: { kind: 'ledger', take },
  })
  await server.kill()
  for (let i = 0; i < 3; i += 1) await publisher.publish(message(`m${i}`))
  for (let i = 0; i < 70; i += 1) {
    await publisher.publish({ ...message(`l${i}`), subject: 'ledger.p1' })
  }
  expect(await publisher.close({ drain_ms: 50 })).toEqual({ messages: 3, kept_elsewhere: 70 })
  expect(kept.toSorted()).toEqual(Array.from({ length: 70 }, (_, i) => `ledger l${i}`).toSorted())
  const again = await openPublisher()
  expect(await again.publisher.stats()).toMatchObject({ spooled: 3 })
})

test('a ledger that cannot be kept elsewhere stays on the disk', async () => {
  const take = () => Promise.reject(new Error('PostgreSQL is away too'))
  const { publisher } = await openPublisher(100_000_000, {
    keepElsewhere: { kind: 'ledger', take },
  })
  await server.kill()
  await publisher.publish({ ...message('l1'), subject: 'ledger.p1' })
  expect(await publisher.close()).toEqual({ messages: 1, kept_elsewhere: 0 })
  const again = await openPublisher()
  expect(await again.publisher.stats()).toMatchObject({ spooled: 1 })
})
