import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BatchHandler, Delivery, Queue } from '../../src/platform/queue/index.ts'
import { eventually } from '../support/eventually.ts'
import { consumeOptions, jetStreamDriver, message, sqliteDriver } from '../support/queues.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

/** A handler's reaction to a delivery, by the message's number. */
type Fate = 'ack' | 'retry' | 'bury' | 'throw' | 'ignore' | 'ack late'

type Step =
  | { do: 'publish'; messages: number; again: boolean }
  | { do: 'consume'; batch_messages_max: number }
  | { do: 'replay' }

const fates: Fate[] = ['ack', 'retry', 'bury', 'throw', 'ignore', 'ack late']

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('publish' as const),
    messages: fc.integer({ min: 1, max: 12 }),
    again: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('consume' as const),
    batch_messages_max: fc.integer({ min: 1, max: 6 }),
  }),
  fc.record({ do: fc.constant('replay' as const) }),
)

const plan = fc.record({
  steps: fc.array(step, { minLength: 3, maxLength: 10 }),
  fates: fc.array(fc.constantFrom(...fates), { minLength: 5, maxLength: 9 }),
})

describe.each([sqliteDriver(), jetStreamDriver()])('$name', (driver) => {
  beforeAll(() => driver.start())
  afterAll(() => driver.stop())

  test('accepted = acknowledged + pending + dead, whatever handlers do', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ steps, fates }) => {
        const { queue } = await driver.open()
        const books = { accepted: 0, acked: new Set<string>() }
        for (const one of steps) {
          await take(one, { queue, books, fates })
          // A server may count a message until it has processed its acknowledgement.
          await eventually(`${books.accepted} messages are accounted for`, async () => {
            const { pending, dead } = await queue.stats()
            return pending + dead + books.acked.size === books.accepted
          })
        }
        const letters = await queue.deadLetters(1000)
        expect(letters).toHaveLength((await queue.stats()).dead)
        await queue.close()
      }),
      { numRuns: fuzzRuns(12), interruptAfterTimeLimit: 40_000, markInterruptAsFailure: true },
    )
  })
})

type World = {
  queue: Queue
  books: { accepted: number; acked: Set<string> }
  fates: readonly Fate[]
}

async function take(one: Step, world: World): Promise<void> {
  const { queue, books } = world
  if (one.do === 'publish') {
    const ids = Array.from({ length: one.messages }, () => `m${books.accepted++}`)
    const messages = (one.again ? [...ids, ...ids] : ids).map((id) => message(id))
    await Promise.all(messages.map((each) => queue.publish(each)))
  }
  if (one.do === 'consume') await consumeSome(one.batch_messages_max, world)
  if (one.do === 'replay') {
    const [letter] = await queue.deadLetters(1)
    if (letter !== undefined) expect(await queue.replayDeadLetter(letter.id)).toBe(true)
  }
}

/** Gives a consumer a few batches, then stops it in the middle of its work. */
async function consumeSome(batch_messages_max: number, world: World): Promise<void> {
  if ((await world.queue.stats()).pending === 0) return
  let batches = 0
  const handle: BatchHandler = async (batch, signal) => {
    batches += 1
    for (const delivery of batch) await meetFate(delivery, world, signal)
  }
  const options = { ...consumeOptions, batch_messages_max, ack_wait_ms: 60, attempts_max: 3 }
  const consumer = await world.queue.consume(options, handle)
  const done = async () => batches >= 4 || (await world.queue.stats()).pending === 0
  await eventually('some batches were handled', done, { timeout_ms: 20_000 })
  await consumer.stop()
}

async function meetFate(delivery: Delivery, world: World, signal: AbortSignal): Promise<void> {
  const number = Number(delivery.id.slice(1)) + delivery.attempt
  const fate = world.fates[number % world.fates.length]
  if (fate === 'throw') throw new Error('as planned')
  if (fate === 'bury') await delivery.bury('as planned')
  if (fate === 'retry') await delivery.retry(10)
  if (fate === 'ack late') await aborted(signal)
  if (fate === 'ack' || fate === 'ack late') {
    await delivery.ack()
    world.books.acked.add(delivery.id)
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}
