import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { confirmIncidentLink } from '../../src/capabilities/incidents/links/incident-links.ts'
import { signLink } from '../../src/capabilities/incidents/messages/link-token.ts'
import { readToken } from '../../src/capabilities/link-pages/browser/replies.js'
import { newId } from '../../src/kernel/ids.ts'
import { type OutboxBench, openOutboxBench, secret_key } from '../support/outbox-bench.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startSmtp, type TestSmtp, textOf } from '../support/smtp.ts'

/** Links of messages that answer an incident, from the message to the moved incident. */
const public_url = 'https://looptrace.example'
let receiver: Receiver
let smtp: TestSmtp
let bench: OutboxBench
beforeAll(async () => {
  receiver = await startReceiver()
  smtp = await startSmtp()
  bench = await openOutboxBench({
    ports: [receiver.port],
    smtp_port: smtp.port,
    slack_api: `${receiver.url}/slack`,
  })
  bench.ports.public_url = public_url
  bench.api.clock.ms = Date.now()
})
afterEach(() => {
  receiver.received.length = 0
  receiver.answer = (response) => response.end('ok')
})
afterAll(async () => {
  await bench?.[Symbol.asyncDispose]()
  await receiver?.close()
  await smtp?.close()
})

const base = '/api/v2/observability/incident-links'
const post = async (path: 'lookup' | 'confirm', body: object) => {
  const reply = await bench.api.call('POST', `${base}/${path}`, '', { headers: {}, body })
  return { ...reply, code: reply.body?.code }
}
/** The parts of a request that the routes of links do not read. */
const noRequest = {
  ...{ caller: null, headers: {}, request_id: 'r', network: '127.0.0.1' },
  signal: new AbortController().signal,
  authoriseAgain: () => Promise.reject(new Error('a link has no caller')),
  callRoute: () => Promise.reject(new Error('a link calls no route')),
}
const ended = { status: 404, code: 'incident_link_not_found' }

let names = 0
async function slack(section: object = {}) {
  names += 1
  const secrets = { webhook_url: `${receiver.url}/services/${names}` }
  await bench.addChannel(`slack-${names}`, 'slack', { section, secrets })
  return `slack-${names}`
}

async function opened(channel: string, more: object = {}) {
  const incident_id = await bench.addIncident()
  const message_id = await bench.addMessage({ incident_id, channel, ...more })
  await bench.drain()
  return { incident_id, message_id, tokens: tokensIn(receiver.received.at(-1)?.body ?? '') }
}

/** Returns the tokens of a Slack message by the text of their link. */
function tokensIn(body: string): Record<string, string> {
  const text: string = JSON.parse(body).text
  const links = [...text.matchAll(/<([^|>]+)\|([^>]+)>/g)]
  return Object.fromEntries(
    links.map(([, url = '', name = '']) => [name, readToken(new URL(url).hash) ?? '']),
  )
}

const token = (tokens: Record<string, string>, name: string) => tokens[name] ?? `no ${name}`

async function timeline(incident_id: string) {
  const rows = await bench.api.db
    .selectFrom('incident_events')
    .select(['type', 'actor_type', 'actor_id', 'note'])
    .where('incident_id', '=', incident_id)
    .orderBy('seq')
    .execute()
  return rows.map(({ type, actor_type, actor_id, note }) => [type, actor_type, actor_id, note])
}

const lastMail = () => {
  const mail = smtp.mails.at(-1)
  return mail === undefined ? 'no mail' : textOf(mail)
}

const stateOf = async (incident_id: string) =>
  (await bench.api.call('GET', `/${incident_id}`, bench.project_id)).body

describe('a link in Slack', () => {
  test('shows what it does and changes nothing, then acknowledges once, with a note', async () => {
    const channel = await slack()
    const { incident_id, tokens } = await opened(channel)
    expect(Object.keys(tokens)).toEqual(['Acknowledge', 'Resolve', 'Silence this'])
    const body = { token: token(tokens, 'Acknowledge') }
    const shown = await post('lookup', body)
    expect([shown.status, shown.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(shown.body).toMatchObject({ action: 'ack', state: 'open', title: 'Answers are slow' })
    expect((await stateOf(incident_id)).state).toBe('open')

    const done = await post('confirm', { ...body, note: 'ada: on it' })
    expect(done).toMatchObject({ status: 200, body: { action: 'ack', state: 'acknowledged' } })
    expect(await timeline(incident_id)).toEqual([
      ['acknowledged', 'channel', channel, 'ada: on it'],
    ])
    expect(await post('confirm', body)).toMatchObject(ended)
    expect(await post('lookup', body)).toMatchObject(ended)
    const resolved = await post('confirm', { token: token(tokens, 'Resolve') })
    expect(resolved.body).toMatchObject({ state: 'resolved' })
    expect((await stateOf(incident_id)).state).toBe('resolved')
  })

  test('is looked up once when it is confirmed', async () => {
    const { tokens } = await opened(await slack())
    const { db } = bench.api
    const statements: string[] = []
    const counted = db.withPlugin({
      transformQuery: ({ node }) => {
        if (node.kind === 'RawNode') statements.push(node.sqlFragments.join('?'))
        return node
      },
      transformResult: async ({ result }) => result,
    })
    const clock = { now_ms: () => bench.api.clock.ms }
    const route = confirmIncidentLink({ db: counted, clock, secret_key })
    const asked = { body: { token: token(tokens, 'Acknowledge') }, params: {}, query: {} }
    const answer = await route.run({ ...asked, ...noRequest })
    expect(answer.body).toMatchObject({ state: 'acknowledged' })
    const lookups = statements.filter((text) => text.includes('from notification_outbox'))
    expect(lookups).toHaveLength(1)
  })

  test('silences one incident for the chosen time', async () => {
    const { incident_id, tokens } = await opened(await slack())
    const body = { token: token(tokens, 'Silence this') }
    for (const given of [{}, { for: '1m' }, { for: '8d' }, { for: 'long' }]) {
      const refused = await post('confirm', { ...body, ...given })
      expect([given, refused.status, refused.code]).toEqual([given, 400, 'invalid_request'])
    }
    const done = await post('confirm', { ...body, for: '4h' })
    const until = new Date(bench.api.clock.ms + 4 * 3_600_000).toISOString()
    expect(done.body).toMatchObject({ action: 'snooze', snoozed_until: until })
    expect(await stateOf(incident_id)).toMatchObject({ suppressed_by: ['person'] })
  })

  test('of ten calls at once, one succeeds', async () => {
    const { incident_id, tokens } = await opened(await slack())
    const body = { token: token(tokens, 'Acknowledge') }
    const all = await Promise.all(Array.from({ length: 10 }, () => post('confirm', body)))
    const statuses = all.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 404)])
    expect(await timeline(incident_id)).toHaveLength(1)
  })

  test('is not used up by a move that the incident refuses', async () => {
    const { incident_id, tokens } = await opened(await slack())
    await bench.api.call('POST', `/${incident_id}/resolve`, bench.project_id)
    const body = { token: token(tokens, 'Acknowledge') }
    const refused = await post('confirm', body)
    expect([refused.status, refused.code]).toEqual([409, 'incident_state_conflict'])
    await bench.api.call('POST', `/${incident_id}/reopen`, bench.project_id)
    expect((await post('confirm', body)).status).toBe(200)
  })

  test('is the same in each attempt', async () => {
    receiver.answer = (response) => {
      response.statusCode = 500
      response.end()
    }
    const first = await opened(await slack())
    receiver.answer = (response) => response.end('ok')
    bench.time.ahead_ms += 60_000
    await bench.drain()
    expect(tokensIn(receiver.received.at(-1)?.body ?? '')).toEqual(first.tokens)
    bench.time.ahead_ms = 0
  })

  test('ends with its channel, its message, and after seven days', async () => {
    const channel = await slack()
    const { tokens, message_id } = await opened(channel)
    const body = { token: token(tokens, 'Resolve') }
    const channels = bench.api.db.updateTable('notification_channels').where('name', '=', channel)
    await channels.set({ disabled_at: new Date(), disabled_reason: 'test' }).execute()
    expect(await post('confirm', body)).toMatchObject(ended)
    await channels.set({ disabled_at: null, disabled_reason: null }).execute()
    const config = (section: object) => JSON.stringify({ section, templates: {} })
    await channels.set({ config: config({ answer_links: false }) }).execute()
    expect(await post('lookup', body)).toMatchObject(ended)
    await channels.set({ config: config({}) }).execute()
    expect((await post('lookup', body)).status).toBe(200)
    const now_ms = bench.api.clock.ms
    bench.api.clock.ms = now_ms + 7 * 86_400_000 + 60_000
    expect(await post('confirm', body)).toMatchObject(ended)
    bench.api.clock.ms = now_ms
    await bench.api.db.deleteFrom('notification_outbox').where('id', '=', message_id).execute()
    expect(await post('confirm', body)).toMatchObject(ended)
  })
})

test('a mail has the links; a webhook, a preview, an end and a channel without them do not', async () => {
  await bench.addChannel('mail', 'email', { section: { to: ['ops@example.com'] } })
  const incident_id = await bench.addIncident()
  await bench.addMessage({ incident_id, channel: 'mail' })
  await bench.drain()
  const mail = lastMail()
  const [, url = ''] = /Resolve: (https:\S+)/.exec(mail) ?? []
  expect(mail).toMatch(/^Acknowledge: https:/m)
  expect(mail).toMatch(/^Silence this: https:/m)
  const used = await post('confirm', { token: readToken(new URL(url).hash) })
  expect(used.body).toMatchObject({ state: 'resolved' })
  await bench.addMessage({ incident_id, channel: 'mail', event_seq: 2, reason: 'resolved' })
  await bench.drain()
  expect(lastMail()).not.toContain('lta_')

  await opened(await slack({ answer_links: false }))
  expect(receiver.received.at(-1)?.body).not.toContain('lta_')
  await bench.addChannel('hook', 'webhook', {
    secrets: { url: `${receiver.url}/hook`, secret: `whsec_${'A'.repeat(32)}` },
  })
  await bench.addMessage({ incident_id: await bench.addIncident(), channel: 'hook' })
  await bench.drain()
  const hook = JSON.parse(receiver.received.at(-1)?.body ?? '')
  expect(JSON.stringify(hook)).toContain(`${public_url}/p/`)
  expect(JSON.stringify(hook)).not.toContain('lta_')
  const body = { type: 'slack', templates: { body: 'x {{ack_link}}' }, incident_id }
  const preview = await bench.api.call('POST', '/channels/preview', bench.project_id, { body })
  expect(preview.body.body).toBe('x ')
})

test('a token that the receiver quotes is not stored, logged or shown', async () => {
  receiver.answer = (response, { body }) => {
    response.statusCode = 500
    response.end(`cannot post ${body}`)
  }
  const { incident_id, tokens } = await opened(await slack())
  const kept = await bench.api.db.selectFrom('notification_deliveries').selectAll().execute()
  const outbox = await bench.api.db.selectFrom('notification_outbox').selectAll().execute()
  const path = `/${incident_id}/deliveries`
  const shown = await bench.api.call('GET', path, bench.project_id)
  const all = JSON.stringify([kept, outbox]) + shown.text + bench.logged()
  expect(all).toContain('cannot post')
  for (const value of Object.values(tokens)) expect(all).not.toContain(value)
  expect(all).not.toMatch(/lta_[A-Za-z0-9_-]{20}/)
})

test('no token moves an incident of another project, or one that the service did not sign', async () => {
  const { message_id, incident_id } = await opened(await slack())
  const expires_s = Math.ceil(bench.api.clock.ms / 1000) + 3600
  const project_id = await bench.api.newProject()
  const link = { action: 'resolve', project_id, message_id, expires_s } as const
  const signed = signLink(link, secret_key)
  expect(await post('confirm', { token: signed })).toMatchObject(ended)
  const mine = { ...link, project_id: bench.project_id }
  for (const bad of [
    ...[signLink(mine, 'another secret of at least 32 chars'), `${signLink(mine, secret_key)}A`],
    ...[signLink({ ...mine, message_id: newId() }, secret_key), 'lta_', 'x'.repeat(256)],
  ]) {
    expect(await post('confirm', { token: bad })).toMatchObject(ended)
  }
  expect(await post('confirm', { token: 'x'.repeat(257) })).toMatchObject({ status: 400 })
  expect((await stateOf(incident_id)).state).toBe('open')
})
