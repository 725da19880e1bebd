import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { hostileIds } from '../support/isolation/hostile-ids.ts'
import {
  ackingHandler,
  consumeOptions,
  jetStreamDriver,
  message,
  sqliteDriver,
} from '../support/queues.ts'

/** What NATS reads as more than one subject, as more tokens, or as another line of its protocol. */
const hasSpecialMeaning = (token: string) => /[*>.\s\p{Cc}]/u.test(token)

/**
 * The last token of a subject is the project. If a caller could choose it, `*` or `>` would name
 * the messages of every project.
 */
describe.each([sqliteDriver(), jetStreamDriver()])('subjects of $name', (driver) => {
  beforeAll(() => driver.start())
  afterAll(() => driver.stop())

  test.each(hostileIds)('a project %j is refused, and nothing is stored', async (project_id) => {
    const { queue } = await driver.open()
    const published = queue.publish(message('m', 'm', `ingest.${project_id}`))
    await expect(published).rejects.toThrow(TypeError)
    expect((await queue.stats()).pending).toBe(0)
  })

  test('a filter of dead letters for no project of its own shows and replays none', async () => {
    const { queue } = await driver.open()
    const id = newId()
    const consumer = await queue.consume(consumeOptions, async (batch) => {
      for (const delivery of batch) await delivery.bury('a test')
    })
    await queue.publish(message(id, 'm', `ingest.${newId()}`))
    await expect.poll(async () => (await queue.stats()).dead).toBe(1)
    await consumer.stop()
    for (const project_id of [...hostileIds, '']) {
      await expect(queue.deadLetters(10, { project_id })).rejects.toThrow(TypeError)
      await expect(queue.replayDeadLetter(id, { project_id })).rejects.toThrow(TypeError)
    }
    expect(await queue.deadLetters(10, { project_id: newId() })).toEqual([])
    expect(await queue.deadLetters(10)).toHaveLength(1)
  })

  test.each(hostileIds)('a kind %j is refused', async (kind) => {
    const { queue } = await driver.open()
    const published = queue.publish(message('m', 'm', `${kind}.${newId()}`))
    await expect(published).rejects.toThrow(TypeError)
  })

  test('any other text is refused, or is one token without a special meaning', async () => {
    const { queue } = await driver.open()
    const accepted: string[] = []
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...hostileIds), fc.uuid()),
        async (project_id) => {
          const id = newId()
          const error = await queue
            .publish(message(id, 'm', `ingest.${project_id}`))
            .catch((fault: unknown) => fault)
          if (error === undefined) {
            accepted.push(id)
            expect(hasSpecialMeaning(project_id)).toBe(false)
          } else expect(error).toBeInstanceOf(TypeError)
        },
      ),
      { numRuns: 200 },
    )
    const { ids, handler } = ackingHandler()
    const consumer = await queue.consume(consumeOptions, handler)
    await expect.poll(() => ids.length, { timeout: 20_000 }).toBe(accepted.length)
    await consumer.stop()
    expect(accepted.length).toBeGreaterThan(10)
    expect(ids.toSorted()).toEqual(accepted.toSorted())
  })
})
