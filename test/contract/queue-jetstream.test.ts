import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import {
  type JetStreamQueueOptions,
  migrateJetStream,
  openJetStreamQueue,
  type Queue,
  QueueUnavailable,
} from '../../src/platform/queue/index.ts'
import { eventually } from '../support/eventually.ts'
import { type NatsServer, type NatsServerOptions, startNatsServer } from '../support/nats.ts'
import { ackingHandler, consumeOptions, keepingLogger, message } from '../support/queues.ts'

const long = { timeout_ms: 30_000 }
let directory = ''
const queues: Queue[] = []
const servers: NatsServer[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-nats-'))
})

afterEach(async () => {
  for (const server of servers) server.resume()
  await Promise.all(queues.splice(0).map((queue) => queue.close()))
  await Promise.all(servers.splice(0).map((server) => server.stop()))
  await rm(directory, { recursive: true, force: true })
})

async function startServer(options: Partial<NatsServerOptions> = {}): Promise<NatsServer> {
  const server = await startNatsServer({ directory, ...options })
  servers.push(server)
  return server
}

function settingsOf(url: string, settings: Partial<JetStreamQueueOptions>): JetStreamQueueOptions {
  return {
    ...{ servers: [url], replicas: 1, max_bytes: 200_000_000, duplicate_window_ms: 120_000 },
    ...{ connect_timeout_ms: 2_000, ack_timeout_ms: 2_000, logger: keepingLogger() },
    ...settings,
  }
}

async function open(url: string, settings: Partial<JetStreamQueueOptions> = {}) {
  const logger = keepingLogger()
  const queue = await openJetStreamQueue(settingsOf(url, { logger, ...settings }))
  queues.push(queue)
  return { queue, logger }
}

/** Pauses the server and publishes m1, m2, … until one fails, which proves the stall. */
async function stall(server: NatsServer, queue: Queue): Promise<{ id: string; failure: string }> {
  server.pause()
  let id = 0
  const failure = await eventually('a publish fails', () => {
    id += 1
    return queue.publish(message(`m${id}`)).then(() => undefined, String)
  })
  return { id: `m${id}`, failure }
}

const isEmpty = async (queue: Queue) => (await queue.stats()).pending === 0

test('kill -9 of the server in mid-publish: every confirmed message is stored once', async () => {
  const server = await startServer()
  const { queue } = await open(server.url)
  const confirmed = new Set<string>()
  let failures = 0
  let killed = false
  const publishOn = async (lane: number) => {
    for (let i = 0; i < 40 || !killed; i += 1) {
      const one = message(`m-${lane}-${i}`, Buffer.alloc(5_000))
      while (!confirmed.has(one.id)) {
        try {
          await queue.publish(one)
          confirmed.add(one.id)
        } catch (error) {
          expect(error).toBeInstanceOf(QueueUnavailable)
          failures += 1
          await sleep(20)
        }
      }
    }
  }
  const publishing = Promise.all(Array.from({ length: 20 }, (_, lane) => publishOn(lane)))
  await eventually('some are confirmed', () => confirmed.size > 300, long)
  const before = [...confirmed]
  await server.kill()
  expect(await eventually('it is noticed', async () => !(await queue.ready()))).toBe(true)
  killed = true
  await server.restart()
  await publishing
  expect(failures).toBeGreaterThan(0)
  expect((await queue.stats()).pending).toBe(confirmed.size)
  const { ids, handler } = ackingHandler()
  const consumer = await queue.consume(consumeOptions, handler)
  await eventually('all are acknowledged', () => isEmpty(queue), long)
  await consumer.stop()
  expect(ids.toSorted()).toEqual([...confirmed].toSorted())
  expect(before.filter((id) => !ids.includes(id))).toEqual([])
})

test('without a server it opens, refuses at once, and works when the server starts', async () => {
  const server = await startServer()
  await server.stop()
  const { queue, logger } = await open(server.url, { connect_timeout_ms: 200 })
  expect(await queue.ready()).toBe(false)
  const refused = queue.publish(message('m1'))
  await expect(refused).rejects.toMatchObject({ name: 'QueueUnavailable', reason: 'away' })
  await expect(queue.stats()).rejects.toThrow(QueueUnavailable)
  await expect(queue.deadLetters(1)).rejects.toThrow(QueueUnavailable)
  const { ids, handler } = ackingHandler()
  const consumer = await queue.consume(consumeOptions, handler)
  await server.restart()
  await eventually('it is ready', () => queue.ready(), long)
  await queue.publish(message('m1'))
  await eventually('the early consumer has it', () => ids.includes('m1'), long)
  await consumer.stop()
  expect(logger.lines.filter((line) => line.includes('connecting to NATS failed'))).toHaveLength(1)
})

test('consumers continue after the server was down, and after it lost its files', async () => {
  const server = await startServer()
  const { queue } = await open(server.url)
  const { ids, handler } = ackingHandler()
  const consumer = await queue.consume(consumeOptions, handler)
  await queue.publish(message('before'))
  await eventually('the first is there', () => ids.includes('before'))
  await server.kill()
  await server.restart()
  await eventually('it is ready', () => queue.ready(), long)
  await queue.publish(message('between'))
  await eventually('the second is there', () => ids.includes('between'), long)
  await server.kill()
  await rm(join(directory, 'jetstream'), { recursive: true })
  await server.restart()
  await eventually('it is ready', () => queue.ready(), long)
  await queue.publish(message('after'))
  await eventually('the third is there', () => ids.includes('after'), long)
  await consumer.stop()
  expect(ids).toEqual(['before', 'between', 'after'])
})

test('a stalled server: publish gives up in time and may be repeated', async () => {
  const server = await startServer()
  const { queue } = await open(server.url, { ack_timeout_ms: 300 })
  const { id, failure } = await stall(server, queue)
  expect(failure).toContain('JetStream did not acknowledge within 300 ms')
  server.resume()
  const again = () => queue.publish(message(id))
  await eventually('it is taken', () =>
    again()
      .then(() => true)
      .catch(() => false),
  )
  expect((await queue.stats()).pending).toBe(Number(id.slice(1)))
})

test('an ack that the server did not confirm is an error', async () => {
  const server = await startServer()
  const { queue } = await open(server.url, { ack_timeout_ms: 300 })
  await queue.publish(message('first'))
  const errors: unknown[] = []
  const options = { ...consumeOptions, ack_wait_ms: 2_000 }
  const consumer = await queue.consume(options, async ([delivery]) => {
    if (delivery?.id !== 'first' || delivery.attempt > 1) return delivery?.ack()
    await stall(server, queue)
    await delivery.ack().catch((error) => errors.push(error))
    server.resume()
    await delivery.retry(0)
  })
  await eventually('all are acknowledged', () => isEmpty(queue).catch(() => false), long)
  await consumer.stop()
  expect(errors).toMatchObject([{ name: 'QueueUnavailable' }])
})

test('a deleted stream and a deleted consumer are created again', async () => {
  const server = await startServer()
  const { queue, logger } = await open(server.url)
  const { ids, handler } = ackingHandler()
  const consumer = await queue.consume(consumeOptions, handler)
  await queue.publish(message('before'))
  // Messages of a stopped consumer that are not acknowledged are redelivered.
  await eventually('the first is acknowledged', () => ids.length === 1 && isEmpty(queue))
  await server.tell('$JS.API.CONSUMER.DELETE.looptrace_queue.ingest')
  await queue.publish(message('between'))
  const isSecond = () => ids.length === 2 && isEmpty(queue)
  await eventually('the second is acknowledged', isSecond, long)
  await server.tell('$JS.API.STREAM.DELETE.looptrace_queue')
  // The consumer may have noticed first and created the stream again.
  const met: unknown = await queue.publish(message('after')).catch((error: unknown) => error)
  if (met !== undefined) expect(met).toMatchObject({ name: 'QueueUnavailable', reason: 'away' })
  let refused: unknown = met
  const again = () =>
    queue.publish(message('after')).then(
      () => true,
      (error: unknown) => {
        refused = error
        return false
      },
    )
  await eventually('it is taken', again, long).catch((cause: unknown) => {
    throw new Error(`${refused}; ${logger.lines.join('\n')}`, { cause })
  })
  await eventually('the third is there', () => ids.length === 3, long)
  await consumer.stop()
  expect(ids).toEqual(['before', 'between', 'after'])
})

test('a window of one sends one after another, in the order of the calls', async () => {
  const server = await startServer()
  const { queue } = await open(server.url, { publish_window: 1 })
  const ids = Array.from({ length: 50 }, (_, i) => `m${i}`)
  await Promise.all(ids.map((id) => queue.publish(message(id))))
  const { ids: seen, handler } = ackingHandler()
  const consumer = await queue.consume(consumeOptions, handler)
  await eventually('all are acknowledged', () => isEmpty(queue))
  await consumer.stop()
  expect(seen).toEqual(ids)
})

test('messages of a lost connection are delivered to another one after the ack wait', async () => {
  const server = await startServer()
  const [lost, kept] = [await open(server.url), await open(server.url)]
  await lost.queue.publish(message('m1'))
  const taken = Promise.withResolvers<void>()
  const options = { ...consumeOptions, ack_wait_ms: 500 }
  await lost.queue.consume(options, async (_batch, signal) => {
    taken.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
  await taken.promise
  await lost.queue.close()
  const attempts: number[] = []
  const consumer = await kept.queue.consume(options, async ([delivery]) => {
    attempts.push(delivery?.attempt ?? 0)
    await delivery?.ack()
  })
  await eventually('it is acknowledged', () => isEmpty(kept.queue), long)
  await consumer.stop()
  expect(attempts).toEqual([2])
})

test('a token in the address grants access, and is in no log line and no error', async () => {
  const token = 'tok-3n-that-is-secret'
  const server = await startServer({ token })
  const withToken = (value: string) => server.url.replace('//', `//${value}@`)
  const { queue, logger } = await open(withToken(token))
  expect(await queue.ready()).toBe(true)
  await queue.publish(message('m1'))
  const wrong = await open(withToken('wrong-but-secret-too'), { connect_timeout_ms: 300 })
  expect(await wrong.queue.ready()).toBe(false)
  const error = await wrong.queue.publish(message('m2')).catch((reason) => reason)
  expect(error).toBeInstanceOf(QueueUnavailable)
  await server.restart()
  await eventually('it is ready again', () => queue.ready(), long)
  const outputs = [...logger.lines, ...wrong.logger.lines, String(error), JSON.stringify(error)]
  expect(wrong.logger.lines.join()).toContain('Authorization Violation')
  expect(outputs.join('\n')).not.toContain('secret')
})

test('the server reports how large a message may be', async () => {
  const server = await startServer({ max_payload_bytes: 300_000 })
  const { queue } = await open(server.url)
  expect(queue.message_bytes_max).toBe(300_000 - 4_096)
})

test('migrating to other settings changes the streams and keeps the messages', async () => {
  const server = await startServer()
  const { queue } = await open(server.url)
  await queue.publish(message('m1', Buffer.alloc(50_000)))
  await migrateJetStream(settingsOf(server.url, { max_bytes: 60_000 }), { may_shrink: true })
  const smaller = await open(server.url, { max_bytes: 60_000 })
  const full = smaller.queue.publish(message('m2', Buffer.alloc(50_000)))
  await expect(full).rejects.toMatchObject({ reason: 'full' })
  expect(await smaller.queue.ready()).toBe(false)
  expect((await smaller.queue.stats()).pending).toBe(1)
})

test('two prefixes on one server do not see each other', async () => {
  const server = await startServer()
  const one = await open(server.url, { stream_prefix: 'one' })
  const two = await open(server.url, { stream_prefix: 'two' })
  await one.queue.publish(message('m1'))
  await two.queue.publish(message('m1'))
  expect((await one.queue.stats()).pending).toBe(1)
  expect((await two.queue.stats()).pending).toBe(1)
})

test.each(['http://127.0.0.1:4222', 'nats://user:pass word@', '::'])(
  'an invalid address (%s) is refused, without being quoted',
  async (address) => {
    const refused = open(address)
    await expect(refused).rejects.toThrow('NATS server 1: expected nats://host:port')
    await expect(refused).rejects.not.toThrow('pass word')
  },
)
