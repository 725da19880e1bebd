import { afterAll, beforeAll, expect, test } from 'vitest'
import { deadLetterRoutes } from '../../src/capabilities/ledger/dead-letters/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Queue } from '../../src/platform/queue/index.ts'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'
import { eventually } from '../support/eventually.ts'
import { hostileIds } from '../support/isolation/hostile-ids.ts'
import { consumeOptions, jetStreamDriver, message } from '../support/queues.ts'

/** The routes of dead letters with real sign-in, on JetStream, whose filters are subjects. */
const list = '/api/v2/observability/dead-letters'
const driver = jetStreamDriver()
const letter_id = newId()
let queue: Queue
let app: AccessApp
let token: string

beforeAll(async () => {
  await driver.start()
  queue = (await driver.open()).queue
  app = await startAccessApp({ routes: deadLetterRoutes({ queue }) })
  token = await app.signIn(app.first.admin_email, app.first.admin_password)
  const consumer = await queue.consume(consumeOptions, async (batch) => {
    for (const delivery of batch) await delivery.bury('a test')
  })
  // Of a project that the person does not see.
  await queue.publish(message(letter_id, 'm', `ingest.${newId()}`))
  await eventually('it is dead-lettered', async () => (await queue.stats()).dead === 1)
  await consumer.stop()
})
afterAll(async () => {
  await app?.close()
  await driver.stop()
})

/** Texts that HTTP can send in a header. */
const sendable = hostileIds.filter((id) => /^[\x20-\x7e]+$/.test(id))

test.each(sendable)('the project %j shows and replays no dead letter of others', async (id) => {
  const calls = [
    { headers: { 'x-project-id': id }, query: '' },
    { headers: {}, query: `?project_id=${encodeURIComponent(id)}` },
  ]
  for (const { headers, query } of calls) {
    const listed = await app.call('GET', `${list}${query}`, { token, headers })
    const url = `${list}/${letter_id}/replay${query}`
    const replayed = await app.call('POST', url, { token, headers })
    for (const { status, body } of [listed, replayed]) {
      expect([status, body.code]).toEqual([404, 'project_not_found'])
    }
    expect(listed.text).not.toContain(letter_id)
  }
  expect(await queue.stats()).toMatchObject({ dead: 1, pending: 0 })
})

test('the own project shows its dead letters only', async () => {
  const headers = { 'x-project-id': app.first.project_id }
  const { status, body } = await app.call('GET', list, { token, headers })
  expect([status, body.dead_letters]).toEqual([200, []])
})
