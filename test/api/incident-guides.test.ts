import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newSigningSecret } from '../../src/capabilities/incidents/channels/channel-secrets.ts'
import { callsOfGuide } from '../support/guide-calls.ts'
import { type OutboxBench, openOutboxBench } from '../support/outbox-bench.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const calls = await callsOfGuide('docs/guides/wake-the-right-person.md')
let receiver: Receiver
let bench: OutboxBench
beforeAll(async () => {
  receiver = await startReceiver()
  bench = await openOutboxBench({ ports: [receiver.port] })
})
afterAll(async () => {
  await bench?.[Symbol.asyncDispose]()
  await receiver?.close()
})

describe('the guide to channels', () => {
  test('creates each type, and shows an answer to each call', () => {
    const types = calls.flatMap(({ body }) => Object.keys(body as object))
    expect(types).toEqual(
      expect.arrayContaining(['slack', 'pagerduty', 'email', 'alertmanager', 'webhook']),
    )
    expect(calls.map(({ answer }) => answer)).not.toContain(undefined)
  })

  test.each(calls)('$heading', async ({ path, body, answer }) => {
    const reply = await bench.api.call('POST', path, bench.project_id, { body })
    expect([reply.status < 300, reply.body.detail]).toEqual([true, undefined])
    expect(reply.body).toMatchObject(answer as object)
  })
})

test('the receiver of the guide accepts genuine requests only', async () => {
  const guide = await readFile('docs/guides/receive-webhooks.md', 'utf8')
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(guide) ?? []
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  const secret = newSigningSecret()
  const secrets = { url: receiver.url, secret, previous_secret: newSigningSecret() }
  await bench.addChannel('genuine', 'webhook', { secrets })
  const incident_id = await bench.addIncident()
  await bench.addMessage({ incident_id, channel: 'genuine' })
  await bench.drain()
  const [request] = receiver.received
  const { headers, body } = request ?? { headers: {}, body: '' }
  expect(isGenuine(headers, body, secret)).toBe(true)
  expect(isGenuine(headers, `${body} `, secret)).toBe(false)
  expect(isGenuine(headers, body, newSigningSecret())).toBe(false)
  expect(isGenuine({ ...headers, 'webhook-id': 'other' }, body, secret)).toBe(false)
  expect(isGenuine(headers, body, secret, Date.now() / 1000 + 301)).toBe(false)
})
