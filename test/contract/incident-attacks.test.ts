import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../src/platform/relational/index.ts'
import { type OutboxBench, openOutboxBench } from '../support/outbox-bench.ts'
import { type Receiver, startReceiver, status } from '../support/receiver.ts'

let receiver: Receiver
let bench: OutboxBench
beforeAll(async () => {
  receiver = await startReceiver()
  bench = await openOutboxBench({
    ports: [receiver.port],
    slack_api: `${receiver.url}/slack`,
  })
})
afterEach(() => {
  receiver.received.length = 0
  receiver.answer = status(202)
})
afterAll(async () => {
  await bench?.[Symbol.asyncDispose]()
  await receiver?.close()
})

const bodies = () => receiver.received.map(({ body }) => JSON.parse(body))

/** Copies a waiting message to further incidents of the project. */
async function flood(message_id: string, copies: number): Promise<void> {
  await sql`
    with source as (
      select incident.* from incidents as incident
      join notification_outbox as row on row.incident_id = incident.id
      where row.id = ${message_id}
    ), copied as (
      insert into incidents select (jsonb_populate_record(null::incidents, to_jsonb(source) ||
        jsonb_build_object('id', gen_random_uuid(), 'number', 100000 + n, 'dedup_key', 'flood ' || n)
      )).* from source, generate_series(1, ${copies}) as n
      returning id
    )
    insert into notification_outbox
    select (jsonb_populate_record(null::notification_outbox, to_jsonb(row) ||
      jsonb_build_object('id', gen_random_uuid(), 'incident_id', copied.id)
    )).* from notification_outbox as row, copied where row.id = ${message_id}
  `.execute(bench.api.db)
}

describe('messages that wait', () => {
  test('of a rule with very many groups do not delay those of another rule', async () => {
    const section = { url: `${receiver.url}/am` }
    await bench.addChannel('shared', 'alertmanager', { section })
    const noisy = await bench.addMessage({
      ...{ incident_id: await bench.addIncident(), channel: 'shared', rule: 'noisy' },
      grouping: { wait: '1h', interval: '1d', repeat: '1d' },
    })
    await flood(noisy, 510)
    await bench.drain()
    expect(receiver.received).toHaveLength(0)
    const incident_id = await bench.addIncident()
    await bench.addMessage({ incident_id, channel: 'shared', rule: 'urgent' })
    await bench.drain()
    expect(bodies().map(([alert]) => alert.labels.alertname)).toEqual(['urgent'])
    expect(await bench.states(incident_id)).toEqual(['1 opened to shared: delivered'])
  })
})

describe('a message that is sent again', () => {
  const channels = [
    ['pagerduty', { url: '/v2/enqueue' }, { routing_key: 'R'.repeat(32) }],
    ['alertmanager', { url: '/am' }, {}],
    ['slack', { channel: '#on-call' }, { token: 'xoxb-1234567890-secret' }],
  ] as const

  test.each(channels)('does not open the ended alert of %s again', async (type, at, secrets) => {
    const section = 'url' in at ? { url: `${receiver.url}${at.url}` } : at
    receiver.answer = (response) =>
      response.end(JSON.stringify({ ok: true, channel: 'C123456', ts: '17.5' }))
    const channel = `again-${type}`
    await bench.addChannel(channel, type, { section, secrets })
    const incident_id = await bench.addIncident()
    const opened = await bench.addMessage({ incident_id, channel })
    await bench.drain()
    await bench.addMessage({ incident_id, channel, event_seq: 2, reason: 'resolved' })
    await bench.drain()
    receiver.received.length = 0
    const reply = await bench.api.call('POST', `/deliveries/${opened}/resend`, bench.project_id)
    await bench.drain()
    expect([reply.status, reply.body.code]).toEqual([409, 'incident_state_conflict'])
    expect(receiver.received).toEqual([])
  })
})

test('a receiver that quotes a secret in another spelling does not bring it into replies', async () => {
  const password = 'pass/word+of&ours'
  const credentials = Buffer.from(`looptrace:${password}`).toString('base64')
  const id = await bench.addChannel('echo', 'alertmanager', {
    section: { url: receiver.url },
    secrets: { authorization: `Basic ${credentials}` },
  })
  const spellings = [
    password,
    encodeURIComponent(password),
    encodeURIComponent(`Basic ${credentials}`),
    JSON.stringify({ key: password }).replaceAll('/', '\\/'),
    password.replaceAll('&', '&amp;'),
  ]
  receiver.answer = (response) => response.writeHead(400).end(spellings.join(' | '))
  const reply = await bench.api.call('POST', `/channels/${id}/test`, bench.project_id)
  expect(reply.body.response).toContain('[secret]')
  expect(reply.body.response).not.toMatch(/word|ours|bG9vcHRyYWNl/)
})
