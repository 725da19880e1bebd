import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import {
  type BatchHandler,
  type Delivery,
  MessageTooLarge,
  type OutgoingMessage,
  type Queue,
  QueueUnavailable,
} from '../../src/platform/queue/index.ts'
import { eventually } from '../support/eventually.ts'
import {
  ackingHandler,
  consumeOptions,
  jetStreamDriver,
  message,
  sqliteDriver,
} from '../support/queues.ts'

const long = { timeout_ms: 20_000 }

describe.each([sqliteDriver(), jetStreamDriver(), jetStreamDriver(3)])('$name', (driver) => {
  beforeAll(() => driver.start())
  afterAll(() => driver.stop())

  const isEmpty = async (queue: Queue) => (await queue.stats()).pending === 0
  const publishAll = (queue: Queue, messages: OutgoingMessage[]) =>
    Promise.all(messages.map((one) => queue.publish(one)))

  describe('publish, consume, ack', () => {
    test('a message arrives as it was sent, once, and is removed when acknowledged', async () => {
      const { queue } = await driver.open()
      const data = Buffer.from([0, 1, 2, 255, 13, 10])
      await queue.publish(message('m1', data))
      const seen: Delivery[] = []
      const consumer = await queue.consume(consumeOptions, async (batch) => {
        seen.push(...batch)
        for (const delivery of batch) await delivery.ack()
      })
      await eventually('the message is acknowledged', () => isEmpty(queue))
      await consumer.stop()
      expect(seen).toHaveLength(1)
      expect(seen[0]).toMatchObject({ id: 'm1', subject: 'ingest.project-a', attempt: 1 })
      expect(Buffer.from(seen[0]?.data ?? [])).toEqual(data)
    })

    test('messages published before and after a consumer starts arrive in order', async () => {
      const { queue } = await driver.open()
      const ids = Array.from({ length: 300 }, (_, i) => `m${i}`)
      for (const id of ids.slice(0, 150)) await queue.publish(message(id))
      const { ids: seen, handler } = ackingHandler()
      const consumer = await queue.consume({ ...consumeOptions, batch_messages_max: 7 }, handler)
      for (const id of ids.slice(150)) await queue.publish(message(id))
      await eventually('all are acknowledged', () => isEmpty(queue), long)
      await consumer.stop()
      expect(seen).toEqual(ids)
    })

    test('the same id is stored once, also after it was consumed', async () => {
      const { queue } = await driver.open()
      await Promise.all([queue.publish(message('same')), queue.publish(message('same'))])
      await queue.publish(message('same', 'other data'))
      expect((await queue.stats()).pending).toBe(1)
      const { ids, handler } = ackingHandler()
      const consumer = await queue.consume(consumeOptions, handler)
      await eventually('it is acknowledged', () => isEmpty(queue))
      await queue.publish(message('same'))
      await queue.publish(message('next'))
      await eventually('the next one is there', () => ids.includes('next'))
      await consumer.stop()
      expect(ids).toEqual(['same', 'next'])
    })

    test('a slice of a pooled buffer is sent, and nothing beside it', async () => {
      const { queue } = await driver.open()
      const pool = Buffer.from('secret-before|payload|secret-after')
      await queue.publish(message('slice', pool.subarray(14, 21)))
      expect(pool.toString()).toBe('secret-before|payload|secret-after')
      const bodies: string[] = []
      const consumer = await queue.consume(consumeOptions, async (batch) => {
        for (const delivery of batch) {
          bodies.push(Buffer.from(delivery.data).toString())
          await delivery.ack()
        }
      })
      await eventually('it is acknowledged', () => isEmpty(queue))
      await consumer.stop()
      expect(bodies).toEqual(['payload'])
    })

    test('an empty payload is a message too', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('empty', new Uint8Array()))
      const { ids, handler } = ackingHandler()
      const consumer = await queue.consume(consumeOptions, handler)
      await eventually('it is acknowledged', () => ids.length === 1 && isEmpty(queue))
      await consumer.stop()
    })

    test('a kind gets its own subjects and no others', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('a', 'a', 'ingest.p1'))
      await queue.publish(message('b', 'b', 'analyse.p1'))
      await queue.publish(message('c', 'c', 'ingest.p2'))
      const ingest = ackingHandler()
      const consumer = await queue.consume(consumeOptions, ingest.handler)
      await eventually('ingest is done', async () => (await queue.stats()).pending === 1)
      expect(ingest.ids.toSorted()).toEqual(['a', 'c'])
      const analyse = ackingHandler()
      const other = await queue.consume({ ...consumeOptions, kind: 'analyse' }, analyse.handler)
      await eventually('analyse is done', () => isEmpty(queue))
      await Promise.all([consumer.stop(), other.stop()])
      expect(analyse.ids).toEqual(['b'])
      expect(ingest.ids).toHaveLength(2)
    })
  })

  describe('limits', () => {
    test('a batch respects its number of messages and its bytes', async () => {
      const { queue } = await driver.open()
      const messages = Array.from({ length: 40 }, (_, i) => message(`m${i}`, Buffer.alloc(10_000)))
      await publishAll(queue, messages)
      const batches: Delivery[][] = []
      const limits = { batch_messages_max: 8, batch_bytes_max: 52_000, batch_wait_ms: 20 }
      const consumer = await queue.consume({ ...consumeOptions, ...limits }, async (batch) => {
        batches.push([...batch])
        await Promise.all(batch.map((delivery) => delivery.ack()))
      })
      await eventually('all are acknowledged', () => isEmpty(queue), long)
      await consumer.stop()
      for (const batch of batches) {
        expect(batch.length).toBeLessThanOrEqual(5)
      }
      expect(Math.max(...batches.map(({ length }) => length))).toBeGreaterThan(1)
      expect(batches.flat()).toHaveLength(40)
    })

    test('a message over the bytes of a batch is delivered alone', async () => {
      const { queue } = await driver.open()
      const messages = ['a', 'b', 'c'].map((id) => message(id, Buffer.alloc(200_000, id)))
      await publishAll(queue, messages)
      const sizes: number[] = []
      const limits = { ...consumeOptions, batch_bytes_max: 1_000 }
      const consumer = await queue.consume(limits, async (batch) => {
        sizes.push(batch.length)
        await Promise.all(batch.map((delivery) => delivery.ack()))
      })
      await eventually('all are acknowledged', () => isEmpty(queue), long)
      await consumer.stop()
      expect(sizes).toEqual([1, 1, 1])
    })

    test('the largest message passes, one byte more is refused permanently', async () => {
      const { queue } = await driver.open()
      const data = Buffer.alloc(queue.message_bytes_max, 7)
      await queue.publish(message('largest', data))
      const tooLarge = queue.publish(message('over', Buffer.alloc(data.length + 1)))
      await expect(tooLarge).rejects.toThrow(MessageTooLarge)
      let received: Uint8Array = new Uint8Array()
      const consumer = await queue.consume(consumeOptions, async ([delivery]) => {
        received = delivery?.data ?? received
        await delivery?.bury('to be replayed: headers must fit too')
      })
      await eventually('it is dead-lettered', async () => (await queue.stats()).dead === 1)
      expect(data.equals(received)).toBe(true)
      expect(await queue.replayDeadLetter('largest')).toBe(true)
      await eventually('it came again', async () => (await queue.stats()).dead === 1)
      await consumer.stop()
    })

    test.each([
      ['an id with a space', { id: 'a b', subject: 'ingest.p' }],
      ['an empty id', { id: '', subject: 'ingest.p' }],
      ['an id with a line break', { id: 'a\r\nNats-Msg-Id: b', subject: 'ingest.p' }],
      ['a subject without project', { id: 'a', subject: 'ingest' }],
      ['a wildcard', { id: 'a', subject: 'ingest.*' }],
      ['a subject too deep', { id: 'a', subject: 'ingest.p.q' }],
    ])('refuses %s', async (_name, about) => {
      const { queue } = await driver.open()
      await expect(queue.publish({ ...about, data: Buffer.from('x') })).rejects.toThrow(TypeError)
      expect((await queue.stats()).pending).toBe(0)
    })

    test('the age of a subject is that of its own oldest message, waiting or in flight', async () => {
      const { queue } = await driver.open()
      const ages = () =>
        Promise.all(['ingest.project-a', 'ingest.project-b'].map((one) => queue.oldestAgeMs(one)))
      expect(await ages()).toEqual([0, 0])
      await queue.publish(message('m1'))
      await eventually('it ages', async () => ((await ages())[0] ?? 0) > 20)
      await queue.publish(message('m2'))
      await queue.publish({ ...message('m3'), subject: 'ingest.project-b' })
      const [first = 0, other = 0] = await ages()
      expect(first).toBeGreaterThan(20)
      expect(other).toBeLessThan(first)
      const held: Delivery[] = []
      const consumer = await queue.consume(consumeOptions, async (batch) => {
        held.push(...batch)
        await eventually('both are in flight', () => held.length >= 2 || undefined)
        expect((await ages())[0]).toBeGreaterThanOrEqual(first)
        for (const delivery of batch) await delivery.ack()
      })
      await eventually('all are acknowledged', () => isEmpty(queue), long)
      await consumer.stop()
      expect(await ages()).toEqual([0, 0])
    })

    test('a full queue refuses, is not ready, and accepts again after acks', async () => {
      const { queue } = await driver.open({ bytes_max: 1_000_000 })
      const data = Buffer.alloc(90_000)
      const results = await Promise.allSettled(
        Array.from({ length: 30 }, (_, i) => queue.publish(message(`m${i}`, data))),
      )
      const taken = results.filter(({ status }) => status === 'fulfilled').length
      expect(taken).toBeGreaterThan(5)
      expect(taken).toBeLessThan(12)
      for (const result of results) {
        if (result.status !== 'rejected') continue
        expect(result.reason).toBeInstanceOf(QueueUnavailable)
        expect(result.reason).toMatchObject({ reason: 'full' })
      }
      expect((await queue.stats()).pending).toBe(taken)
      const consumer = await queue.consume(consumeOptions, ackingHandler().handler)
      await eventually('all are acknowledged', () => isEmpty(queue), long)
      await consumer.stop()
      await eventually('it is ready', () => queue.ready())
      await queue.publish(message('again', data))
    })

    test('publishes in progress are bounded in bytes', async () => {
      const { queue } = await driver.open({ publish_bytes_max: 250_000 })
      const data = Buffer.alloc(100_000)
      const results = await Promise.allSettled(
        Array.from({ length: 4 }, (_, i) => queue.publish(message(`m${i}`, data))),
      )
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
      ])
      expect(results[2]).toMatchObject({ reason: { name: 'QueueUnavailable', reason: 'busy' } })
      await queue.publish(message('m2', data))
    })

    test('a consumer holds one batch at a time, and the rest stays in the queue', async () => {
      const { queue } = await driver.open()
      await publishAll(
        queue,
        Array.from({ length: 20 }, (_, i) => message(`m${i}`)),
      )
      let holding = 0
      let most = 0
      const gate = Promise.withResolvers<void>()
      const limits = { ...consumeOptions, batch_messages_max: 4 }
      const consumer = await queue.consume(limits, async (batch) => {
        holding += batch.length
        most = Math.max(most, holding)
        await gate.promise
        await Promise.all(batch.map((delivery) => delivery.ack()))
        holding -= batch.length
      })
      await eventually('the first batch is there', () => holding > 0)
      await sleep(50)
      expect(holding).toBeLessThanOrEqual(4)
      expect((await queue.stats()).pending).toBe(20)
      gate.resolve()
      await eventually('all are acknowledged', () => isEmpty(queue), long)
      await consumer.stop()
      expect(most).toBeLessThanOrEqual(4)
    })
  })

  describe('redelivery', () => {
    test('the unsettled messages of a throwing handler are redelivered with back-off, the rest is not', async () => {
      const { queue } = await driver.open()
      await publishAll(
        queue,
        ['good', 'bad', 'late'].map((id) => message(id)),
      )
      const attempts: string[] = []
      const consumer = await queue.consume(consumeOptions, async (batch) => {
        attempts.push(...batch.map(({ id, attempt }) => `${id}:${attempt}`))
        for (const delivery of batch) {
          if (delivery.id === 'bad' && delivery.attempt < 3) throw new Error('cannot')
          await delivery.ack()
        }
      })
      await eventually('all are acknowledged', () => isEmpty(queue), long)
      await consumer.stop()
      expect(attempts.filter((one) => one.startsWith('bad'))).toEqual(['bad:1', 'bad:2', 'bad:3'])
      expect(attempts).toContain('good:1')
      expect(attempts).not.toContain('good:2')
    })

    test('unsettled messages are redelivered after the ack wait', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('m1'))
      const attempts: number[] = []
      const options = { ...consumeOptions, ack_wait_ms: 200 }
      const consumer = await queue.consume(options, async ([delivery]) => {
        attempts.push(delivery?.attempt ?? 0)
        if (delivery?.attempt === 2) await delivery.ack()
      })
      await eventually('the second one is acknowledged', () => isEmpty(queue), long)
      await consumer.stop()
      expect(attempts).toEqual([1, 2])
    })

    test('the signal tells a handler that its time is over', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('m1'))
      const options = { ...consumeOptions, ack_wait_ms: 200 }
      const consumer = await queue.consume(options, async ([delivery], signal) => {
        if (delivery?.attempt !== 1) return delivery?.ack()
        const aborted = Promise.withResolvers<void>()
        signal.addEventListener('abort', () => aborted.resolve())
        await aborted.promise
      })
      await eventually('it is acknowledged', () => isEmpty(queue), long)
      await consumer.stop()
    })

    test('retry returns a message at once or after a delay', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('m1'))
      const arrivals_ms: number[] = []
      const consumer = await queue.consume(consumeOptions, async ([delivery]) => {
        arrivals_ms.push(performance.now())
        if (delivery?.attempt === 1) await delivery.retry(0)
        else if (delivery?.attempt === 2) await delivery.retry(300)
        else await delivery?.ack()
      })
      await eventually('it is acknowledged', () => isEmpty(queue), long)
      await consumer.stop()
      expect(arrivals_ms).toHaveLength(3)
      expect((arrivals_ms[2] ?? 0) - (arrivals_ms[1] ?? 0)).toBeGreaterThan(290)
    })

    test('a message that waits for its retry does not delay the others', async () => {
      const { queue } = await driver.open()
      await publishAll(queue, [message('later'), message('now')])
      const acked: string[] = []
      const consumer = await queue.consume(consumeOptions, async (batch) => {
        for (const delivery of batch) {
          if (delivery.id === 'later') await delivery.retry(60_000)
          else {
            await delivery.ack()
            acked.push(delivery.id)
          }
        }
      })
      await eventually('the other one is acknowledged', () => acked.length === 1)
      await consumer.stop()
      expect((await queue.stats()).pending).toBe(1)
    })

    test('settling twice is harmless: the first call counts', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('m1'))
      let deliveries = 0
      const consumer = await queue.consume(consumeOptions, async ([delivery]) => {
        deliveries += 1
        await delivery?.ack()
        await delivery?.ack()
        await delivery?.retry(0)
        await delivery?.bury('no')
      })
      await eventually('it is acknowledged', () => isEmpty(queue), long)
      await queue.publish(message('m2'))
      await eventually('the next one is acknowledged', () => deliveries === 2 && isEmpty(queue))
      await consumer.stop()
      expect(await queue.stats()).toMatchObject({ pending: 0, dead: 0 })
    })
  })

  describe('dead letters', () => {
    test('a message that always fails is dead-lettered with the reason after its attempts', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('poison', 'twelve bytes'))
      const attempts: number[] = []
      const options = { ...consumeOptions, attempts_max: 3 }
      const consumer = await queue.consume(options, async ([delivery]) => {
        attempts.push(delivery?.attempt ?? 0)
        throw new Error('can’t be read')
      })
      await eventually('it is dead-lettered', async () => (await queue.stats()).dead === 1, long)
      await consumer.stop()
      expect(attempts).toEqual([1, 2, 3])
      expect(await queue.stats()).toMatchObject({ pending: 0, dead: 1 })
      const [letter, ...others] = await queue.deadLetters(10)
      expect(others).toEqual([])
      expect(letter).toMatchObject({
        id: 'poison',
        subject: 'ingest.project-a',
        reason: 'Error: can’t be read',
        attempts: 3,
        bytes: 12,
      })
      expect(Math.abs(Date.now() - Date.parse(letter?.buried_at ?? ''))).toBeLessThan(60_000)
    })

    test('a message that is never settled is dead-lettered instead of delivered once more', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('ignored'))
      let deliveries = 0
      const options = { ...consumeOptions, ack_wait_ms: 100, attempts_max: 2 }
      const consumer = await queue.consume(options, async () => {
        deliveries += 1
      })
      await eventually('it is dead-lettered', async () => (await queue.stats()).dead === 1, long)
      await consumer.stop()
      expect(deliveries).toBe(2)
      expect((await queue.deadLetters(1))[0]?.attempts).toBeGreaterThanOrEqual(2)
    })

    test('a dead letter can be replayed, with its id, data and fresh attempts', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('odd.id*>#/a', 'the data'))
      const seen: string[] = []
      const consumer = await queue.consume(consumeOptions, async ([delivery]) => {
        const { id, attempt, data } = delivery ?? { id: '', attempt: 0, data: new Uint8Array() }
        seen.push(`${id} ${attempt} ${Buffer.from(data)}`)
        if (seen.length === 1) await delivery?.bury('not now')
        else await delivery?.ack()
      })
      await eventually('it is dead-lettered', async () => (await queue.stats()).dead === 1)
      expect(await queue.replayDeadLetter('other')).toBe(false)
      expect(await queue.replayDeadLetter('odd.id*>#/a')).toBe(true)
      await eventually('it is acknowledged', async () => seen.length === 2 && isEmpty(queue))
      expect(await queue.replayDeadLetter('odd.id*>#/a')).toBe(false)
      await consumer.stop()
      expect(seen).toEqual(['odd.id*>#/a 1 the data', 'odd.id*>#/a 1 the data'])
      expect(await queue.stats()).toMatchObject({ pending: 0, dead: 0 })
    })

    test('are listed in order, up to the limit', async () => {
      const { queue } = await driver.open()
      const ids = ['a', 'b', 'c', 'd']
      const consumer = await queue.consume(consumeOptions, async (batch) => {
        for (const delivery of batch) await delivery.bury(`because ${delivery.id}`)
      })
      expect(await queue.deadLetters(10)).toEqual([])
      for (const id of ids) {
        await queue.publish(message(id))
        await eventually('it is dead-lettered', () => isEmpty(queue))
      }
      await consumer.stop()
      expect((await queue.deadLetters(10)).map(({ id }) => id)).toEqual(ids)
      expect((await queue.deadLetters(2)).map(({ reason }) => reason)).toEqual([
        'because a',
        'because b',
      ])
    })

    test('are listed from page to page, by project', async () => {
      const { queue } = await driver.open()
      const sent = ['ingest.p1', 'ingest.p2', 'ledger.p1', 'ingest.p1', 'ingest.p1-2']
      const bury: BatchHandler = async (batch) => {
        for (const delivery of batch) await delivery.bury('no')
      }
      const kinds = ['ingest', 'ledger']
      const consumers = await Promise.all(
        kinds.map((kind) => queue.consume({ ...consumeOptions, kind }, bury)),
      )
      for (const [at, subject] of sent.entries()) {
        await queue.publish(message(`m${at}`, 'x', subject))
        await eventually('it is dead-lettered', () => isEmpty(queue))
      }
      await Promise.all(consumers.map((consumer) => consumer.stop()))
      const ofProject = { project_id: 'p1' }
      const first = await queue.deadLetters(2, ofProject)
      expect(first.map(({ id, subject }) => [id, subject])).toEqual([
        ['m0', 'ingest.p1'],
        ['m2', 'ledger.p1'],
      ])
      const after = first[1]?.position ?? ''
      expect((await queue.deadLetters(2, { ...ofProject, after })).map(({ id }) => id)).toEqual([
        'm3',
      ])
      expect((await queue.deadLetters(9, { after })).map(({ id }) => id)).toEqual(['m3', 'm4'])
      expect(await queue.deadLetters(9, { project_id: 'p3' })).toEqual([])
      expect(await queue.replayDeadLetter('m1', ofProject)).toBe(false)
      expect(await queue.replayDeadLetter('m1', { project_id: 'p2' })).toBe(true)
    })
  })

  describe('many at once', () => {
    test('two consumers share the work and no message goes to both', async () => {
      const { queue, peer } = await driver.open()
      const other = await peer()
      const ids = Array.from({ length: 200 }, (_, i) => `m${i}`)
      const options = { ...consumeOptions, batch_messages_max: 5 }
      const [first, second] = [ackingHandler(), ackingHandler()]
      const slow = (handler: typeof first.handler): typeof first.handler => {
        return async (batch, signal) => {
          await sleep(2)
          await handler(batch, signal)
        }
      }
      const consumers = await Promise.all([
        queue.consume(options, slow(first.handler)),
        other.consume(options, slow(second.handler)),
      ])
      await publishAll(
        queue,
        ids.map((id) => message(id)),
      )
      await eventually('all are acknowledged', () => isEmpty(queue), long)
      await Promise.all(consumers.map((consumer) => consumer.stop()))
      expect([...first.ids, ...second.ids].toSorted()).toEqual(ids.toSorted())
      expect(first.ids.length).toBeGreaterThan(0)
      expect(second.ids.length).toBeGreaterThan(0)
    })

    test('stop lets the running batch end, and nothing is delivered after it', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('m1'))
      const started = Promise.withResolvers<void>()
      const gate = Promise.withResolvers<void>()
      const handled: string[] = []
      const consumer = await queue.consume(consumeOptions, async (batch) => {
        started.resolve()
        await gate.promise
        await Promise.all(batch.map((delivery) => delivery.ack()))
        handled.push(...batch.map(({ id }) => id))
      })
      await started.promise
      const stopped = consumer.stop()
      await queue.publish(message('m2'))
      gate.resolve()
      await stopped
      expect(handled).toEqual(['m1'])
      expect((await queue.stats()).pending).toBe(1)
    })

    test('messages published after a consumer stopped are at once available to the next', async () => {
      const { queue } = await driver.open()
      const first = await queue.consume(consumeOptions, ackingHandler().handler)
      await sleep(20)
      await first.stop()
      await queue.publish(message('m1'))
      const { ids, handler } = ackingHandler()
      const second = await queue.consume(consumeOptions, handler)
      await eventually('it is acknowledged', () => isEmpty(queue))
      await second.stop()
      expect(ids).toEqual(['m1'])
    })
  })

  describe('stats and close', () => {
    test('count pending messages, their bytes and age', async () => {
      const { queue } = await driver.open()
      expect(await queue.stats()).toMatchObject({ pending: 0, dead: 0, oldest_age_ms: 0 })
      await publishAll(queue, [message('a', Buffer.alloc(1000)), message('b', Buffer.alloc(500))])
      await sleep(20)
      const stats = await queue.stats()
      expect(stats.pending).toBe(2)
      expect(stats.pending_bytes).toBeGreaterThanOrEqual(1500)
      expect(stats.pending_bytes).toBeLessThan(2500)
      expect(stats.oldest_age_ms).toBeGreaterThanOrEqual(15)
      expect(stats.oldest_age_ms).toBeLessThan(60_000)
    })

    test('close waits for publishes in flight and refuses later ones', async () => {
      const { queue } = await driver.open()
      expect(await queue.ready()).toBe(true)
      const inFlight = Array.from({ length: 50 }, (_, i) => queue.publish(message(`m${i}`)))
      const closed = queue.close()
      expect((await Promise.allSettled(inFlight)).map(({ status }) => status)).toEqual(
        Array.from({ length: 50 }, () => 'fulfilled'),
      )
      await closed
      expect(await queue.ready()).toBe(false)
      const late = queue.publish(message('late'))
      await expect(late).rejects.toMatchObject({ name: 'QueueUnavailable', reason: 'closed' })
      await queue.close()
    })

    test('close ends idle and working consumers; the signal tells them', async () => {
      const { queue } = await driver.open()
      await queue.publish(message('m1'))
      const started = Promise.withResolvers<void>()
      let told = false
      await queue.consume({ ...consumeOptions, kind: 'analyse' }, ackingHandler().handler)
      await queue.consume(consumeOptions, async (_batch, signal) => {
        started.resolve()
        const aborted = Promise.withResolvers<void>()
        signal.addEventListener('abort', () => aborted.resolve())
        await aborted.promise
        told = true
      })
      await started.promise
      await queue.close()
      expect(told).toBe(true)
    })
  })
})
