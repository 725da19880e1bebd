import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../support/incident-api.ts'
import { type OutboxBench, openOutboxBench } from '../support/outbox-bench.ts'
import { type Receiver, startReceiver, status } from '../support/receiver.ts'
import { keyOf, operatorOf, tokenOf } from '../support/task-api.ts'

let receiver: Receiver
let bench: OutboxBench
let project: string
beforeAll(async () => {
  receiver = await startReceiver()
  bench = await openOutboxBench({ ports: [receiver.port] })
  project = bench.project_id
})
afterAll(async () => {
  await bench?.[Symbol.asyncDispose]()
  await receiver?.close()
})

let names = 0
const webhookOf = (more: object = {}) => ({
  name: `channel-${++names}`,
  webhook: { url: `${receiver.url}/hooks/path-token?key=query-token` },
  ...more,
})
const call = (...args: Parameters<OutboxBench['api']['call']>) => bench.api.call(...args)
const codeOf = ({ status: code, body }: { status: number; body: Json }) => [code, body?.code]

async function created(body: object = webhookOf(), project_id = project): Promise<Json> {
  const reply = await call('POST', '/channels', project_id, { body })
  expect([reply.status, reply.body.detail]).toEqual([201, undefined])
  return reply.body
}

async function sent(channel_id: string): Promise<Record<string, string>> {
  receiver.received.length = 0
  const reply = await call('POST', `/channels/${channel_id}/test`, project)
  expect(reply.body).toMatchObject({ delivered: true, status: 200 })
  return receiver.received[0]?.headers as Record<string, string>
}

describe('an address that is not public', () => {
  const addresses = [
    ...['http://127.0.0.1/', 'http://0x7f.1:80/', 'http://2130706433/', 'http://[::1]/'],
    ...['http://[::ffff:10.0.0.1]/', 'http://10.1.2.3:8080/', 'http://192.168.0.1/'],
    ...['http://169.254.169.254/', 'http://100.64.0.1/', 'http://0.0.0.0/', 'http://[fd00::1]/'],
    ...['http://localhost/', 'http://api.LOCALHOST./', 'http://224.0.0.1/', 'https://172.16.0.1/'],
  ]
  const sections: [string, (url: string) => object, string][] = [
    ['webhook', (url) => ({ url: `${url}path-token?key=query-token` }), '/webhook/url'],
    ['slack', (url) => ({ webhook_url: `${url}path-token?key=query-token` }), '/slack/webhook_url'],
    ['pagerduty', (url) => ({ routing_key: 'k'.repeat(32), url }), '/pagerduty/url'],
    ['alertmanager', (url) => ({ url }), '/alertmanager/url'],
  ]
  test.each(sections)(
    'in the section %s is refused when it is saved',
    async (type, of, pointer) => {
      const { channel_id } = await created()
      for (const address of addresses) {
        const body = { name: `private-${++names}`, [type]: of(address) }
        for (const reply of [
          await call('POST', '/channels', project, { body }),
          await call('PUT', `/channels/${channel_id}`, project, { body }),
        ]) {
          expect([address, ...codeOf(reply)]).toEqual([address, 400, 'invalid_request'])
          expect(reply.body.errors).toEqual([
            {
              pointer,
              detail: expect.stringContaining('expected a public address on port 80 or 443'),
            },
          ])
          expect(reply.text).not.toMatch(/path-token|query-token/)
        }
      }
    },
  )

  test('is accepted in an allowed network, and a name is checked when it is used', async () => {
    await created({ name: `allowed-${++names}`, webhook: { url: `${receiver.url}/x` } })
    await created({
      name: `named-${++names}`,
      webhook: { url: 'http://alertmanager.monitoring/x' },
    })
  })
})

const types: readonly (readonly [string, object, object])[] = [
  [
    'slack',
    { token: 'xoxb-1234567890-abc', channel: '#ops' },
    { channel: '#ops', answer_links: true },
  ],
  [
    'slack',
    { webhook_url: 'https://hooks.example/T0/B0/x' },
    { answer_links: true, webhook_host: 'https://hooks.example' },
  ],
  [
    'pagerduty',
    { routing_key: 'k'.repeat(32) },
    { url: 'https://events.pagerduty.com/v2/enqueue' },
  ],
  [
    'alertmanager',
    { url: 'http://am:9093', authorization: 'Basic YTpi' },
    { url: 'http://am:9093' },
  ],
  ['email', { to: ['ada@example.com'] }, { to: ['ada@example.com'], answer_links: true }],
]

describe('channels', () => {
  test.each(types)(
    'of type %s are created and read without their secrets',
    async (type, given, shown) => {
      const body = { name: `of-${type}-${++names}`, [type]: given }
      const channel = await created(body)
      expect(channel).toMatchObject({ name: body.name, type, disabled: false, fallback: null })
      expect(channel[type]).toEqual(shown)
      const one = await call('GET', `/channels/${channel.channel_id}`, project)
      expect([one.status, one.headers['etag'], one.body]).toEqual([
        200,
        expect.stringMatching(/^"1-/),
        channel,
      ])
      const list = await call('GET', `/channels?name=${body.name}`, project)
      expect(list.body).toEqual({ channels: [channel], total: 1, next_cursor: null })
      const secrets = Object.values(given).filter((value) => !JSON.stringify(shown).includes(value))
      for (const secret of secrets) expect(list.text).not.toContain(secret)
    },
  )

  test('a webhook has a generated secret, shown once; its URL is shown without the path', async () => {
    const headers = { ...tokenOf('admin', project), 'idempotency-key': 'one' }
    const body = webhookOf()
    const first = await call('POST', '/channels', project, { body, headers })
    expect(first.body.generated_secret).toMatch(/^whsec_.{44}$/)
    const repeated = await call('POST', '/channels', project, { body, headers })
    expect([repeated.status, repeated.body.generated_secret]).toEqual([201, null])
    const read = await call('GET', `/channels/${first.body.channel_id}`, project)
    expect(read.text).not.toMatch(/whsec_|path-token|query-token/)
    expect(read.body.webhook.url).toBe(`${receiver.url}/…`)
    expect(read.body.secrets).toEqual({
      ...{ url: { set: true }, secret: { set: true }, previous_secret: { set: false } },
    })
  })

  test.each([
    ['two types', { email: { to: ['a@example.com'] } }, ''],
    ['itself as fallback', { name: 'selfish', fallback: 'selfish' }, '/fallback'],
    ['a URL with a password', { webhook: { url: 'https://u:p@example.com' } }, '/webhook/url'],
    ['a URL with U+0000', { webhook: { url: 'https://x.example/\0' } }, '/webhook/url'],
    [
      'an address of Alertmanager with U+0000',
      { webhook: undefined, alertmanager: { url: 'https://x.example/\0' } },
      '/alertmanager/url',
    ],
    ['a URL with a space', { webhook: { url: 'https://x.example/a b' } }, '/webhook/url'],
    ['a file', { webhook: { url: 'file:///etc/passwd' } }, '/webhook/url'],
    ['no URL', { webhook: {} }, '/webhook/url'],
    [
      'a short secret',
      { webhook: { url: 'https://x.example', secret: 'whsec_AAAA' } },
      '/webhook/secret',
    ],
    ['an unknown placeholder', { templates: { title: '{{ secret }}' } }, '/templates/title'],
    [
      'a header in the credential',
      {
        webhook: undefined,
        alertmanager: { url: 'https://x.example', authorization: 'Bearer a\r\nx: y' },
      },
      '/alertmanager/authorization',
    ],
    [
      'Slack with both ways',
      { webhook: undefined, slack: { token: 'xoxb-123456789', webhook_url: 'https://x.example' } },
      '/slack/webhook_url',
    ],
  ])('with %s are refused', async (_, change, pointer) => {
    const reply = await call('POST', '/channels', project, { body: webhookOf(change) })
    expect(codeOf(reply)).toEqual([400, 'invalid_request'])
    expect(reply.body.errors.map((fault: Json) => fault.pointer)).toContain(pointer)
  })

  test('a refusal quotes no secret', async () => {
    const slack = { token: 'not-a-token-but-secret', channel: '#x' }
    const body = webhookOf({ webhook: undefined, slack })
    const reply = await call('POST', '/channels', project, { body })
    expect(reply.status).toBe(400)
    expect(reply.text).not.toContain(slack.token)
    expect(bench.logged()).not.toContain(slack.token)
  })

  test('a PUT keeps secrets that it leaves out; a new secret keeps the last one valid', async () => {
    const channel = await created()
    const path = `/channels/${channel.channel_id}`
    const { name } = channel
    const renamed = { name, webhook: {}, templates: { title: '{{title}}!' } }
    const reply = await call('PUT', path, project, { body: renamed, if_match: '"1"' })
    expect([reply.status, reply.body.version]).toEqual([200, 2])
    const before = await sent(channel.channel_id)
    expect(before['webhook-signature']).toMatch(/^v1,\S+$/)
    const secret = `whsec_${'B'.repeat(43)}=`
    await call('PUT', path, project, { body: { name, webhook: { secret } } })
    expect((await sent(channel.channel_id))['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    const again = await call('PUT', path, project, { body: { name, webhook: { secret } } })
    expect(again.body.version).toBe(3)
    await call('PUT', path, project, { body: { name, webhook: { previous_secret: null } } })
    expect((await sent(channel.channel_id))['webhook-signature']).toMatch(/^v1,\S+$/)
    const stale = await call('PUT', path, project, { body: renamed, if_match: '"1"' })
    expect(codeOf(stale)).toEqual([412, 'precondition_failed'])
  })

  test.each([
    ['alertmanager', { url: 'http://am:9093', authorization: 'Bearer secret-token' }],
    [
      'pagerduty',
      { url: 'https://events.eu.pagerduty.com/v2/enqueue', routing_key: 'k'.repeat(32) },
    ],
  ])('%s: a credential is not kept for another server', async (type, given) => {
    const { channel_id, name } = await created({ name: `moved-${++names}`, [type]: given })
    const body = { name, [type]: { url: `${receiver.url}/mine` } }
    const reply = await call('PUT', `/channels/${channel_id}`, project, { body })
    expect(codeOf(reply)).toEqual([400, 'invalid_request'])
    const kept = { name, [type]: { url: given.url } }
    expect((await call('PUT', `/channels/${channel_id}`, project, { body: kept })).status).toBe(200)
  })

  test('names are unique in a project, and a channel can be deleted', async () => {
    const { channel_id, name } = await created()
    const reply = await call('POST', '/channels', project, { body: webhookOf({ name }) })
    expect(codeOf(reply)).toEqual([409, 'name_taken'])
    const other = await bench.api.newProject()
    await created(webhookOf({ name }), other)
    expect((await call('DELETE', `/channels/${channel_id}`, project)).status).toBe(204)
    const gone = await call('GET', `/channels/${channel_id}`, project)
    expect(codeOf(gone)).toEqual([404, 'channel_not_found'])
  })

  test('a project has at most 100', async () => {
    const other = await bench.api.newProject()
    for (let at = 0; at < 100; at += 1) {
      const secrets = { url: receiver.url }
      await bench.addChannel(`c-${at}`, 'webhook', { secrets, project_id: other })
    }
    const reply = await call('POST', '/channels', other, { body: webhookOf() })
    expect(codeOf(reply)).toEqual([409, 'limit_reached'])
  })

  test('of another project are not found by any route', async () => {
    const { channel_id } = await created()
    const other = await bench.api.newProject()
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', webhookOf()],
      ['DELETE', '', undefined],
      ['POST', '/test', undefined],
      ['GET', '/deliveries', undefined],
    ] as const) {
      const reply = await call(method, `/channels/${channel_id}${path}`, other, { body })
      expect([method, path, ...codeOf(reply)]).toEqual([method, path, 404, 'channel_not_found'])
    }
  })

  test('viewers and keys read, and only admins write', async () => {
    const { channel_id } = await created()
    const path = `/channels/${channel_id}`
    for (const headers of [tokenOf('viewer', project), keyOf(project, 'incidents:read')]) {
      expect((await call('GET', path, project, { headers })).status).toBe(200)
      const put = await call('PUT', path, project, { headers, body: webhookOf() })
      expect([401, 403]).toContain(put.status)
    }
    const headers = tokenOf('editor', project)
    const reply = await call('POST', `${path}/test`, project, { headers })
    expect(codeOf(reply)).toEqual([403, 'permission_denied'])
  })
})

describe('an operator', () => {
  const owner = (namespace: string, name = 'on-call') => ({
    ...{ kind: 'NotificationChannel', namespace, name, uid: `uid-${namespace}` },
    installation: '01890000-0000-7000-8000-000000000001',
  })

  test('declares a channel once, reads its whole URL, and alone may change it', async () => {
    const headers = operatorOf(project)
    const managed_by = owner('team-a')
    const body = webhookOf({ managed_by })
    const first = await call('POST', '/channels', project, { headers, body })
    expect([first.status, first.body.webhook.url]).toEqual([201, body.webhook.url])
    const second = await call('POST', '/channels', project, { headers, body })
    expect([second.status, second.body.channel_id]).toEqual([200, first.body.channel_id])
    const { installation } = managed_by
    const query = `managed_by=NotificationChannel/team-a/on-call/${installation}`
    const found = await call('GET', `/channels?${query}`, project, { headers })
    expect(found.body.channels).toHaveLength(1)
    const path = `/channels/${first.body.channel_id}`
    const person = await call('PUT', path, project, { body: webhookOf() })
    expect(codeOf(person)).toEqual([409, 'managed_by_kubernetes'])
    const foreign = { ...body, managed_by: owner('team-b') }
    const reply = await call('POST', '/channels', project, { headers, body: foreign })
    expect(codeOf(reply)).toEqual([409, 'name_taken'])
    expect(reply.text).not.toContain('team-a')
    const gone = `${path}?managed_by=NotificationChannel/team-a/on-call/${installation}`
    expect((await call('DELETE', gone, project, { headers })).status).toBe(204)
  })

  test('does not read the whole URL of a channel that a person created', async () => {
    const { channel_id } = await created()
    const headers = operatorOf(project)
    const one = await call('GET', `/channels/${channel_id}`, project, { headers })
    const all = await call('GET', '/channels', project, { headers })
    expect([one.status, all.status]).toEqual([200, 200])
    expect(one.body.webhook.url).toBe(`${receiver.url}/…`)
    expect(all.body.channels.find((row: Json) => row.channel_id === channel_id)).toEqual(one.body)
  })
})

describe('texts', () => {
  const preview = (body: object) => call('POST', '/channels/preview', project, { body })

  test('read well by default', async () => {
    const { body } = await preview({ reason: 'opened' })
    expect(body.title).toBe('#0 Test message from Looptrace')
    expect(body.body.split('\n')).toEqual([
      'Opened (info) at 2026-11-23 12:00 UTC',
      'This message tests the channel. No incident was opened.',
      'Found: ttft_p95 is 5120 ms',
      'Limit: > 4000 ms over 10m',
      'Where: model = example-model',
      'Rule test, open since 2026-11-23 12:00 UTC',
      'For example:',
      '- A call with 6480 ms. task example-task',
    ])
    const ended = await preview({ reason: 'resolved' })
    expect(ended.body.body).toContain('Found: ttft_p95 is 1240 ms at the end')
  })

  test('of an incident follow the templates, and its values are escaped for the receiver', async () => {
    const incident_id = await bench.api.insertIncident(project, {
      title: '<!here> {{title}} https://evil.example\r\nBcc: x',
      group_values: JSON.stringify({ model: '<@U1>' }),
      labels: JSON.stringify({ team: 'a&b' }),
    })
    const templates = {
      title: '{{ title }} / {{group.model}}',
      body: '{{labels.team}}{{labels.constructor}}',
    }
    const slack = await preview({ type: 'slack', templates, incident_id })
    expect(slack.body).toEqual({
      title: '&lt;!here&gt; {{title}} https:\u2060//evil.example Bcc: x / &lt;@U1&gt;',
      body: 'a&amp;b',
    })
    const mail = await preview({ type: 'email', templates, incident_id })
    expect(mail.body.body).toBe('a&b')
    const other = await bench.api.newProject()
    const reply = await call('POST', '/channels/preview', other, { body: { incident_id } })
    expect(codeOf(reply)).toEqual([404, 'incident_not_found'])
  })
})

test('a test says what the receiver answered, and is limited', async () => {
  const { channel_id } = await created()
  receiver.answer = status(403, {}, 'who are you')
  const reply = await call('POST', `/channels/${channel_id}/test`, project)
  expect(reply.body).toMatchObject({
    ...{ delivered: false, status: 403, error: 'the receiver answered 403' },
    response: 'who are you',
  })
  const list = await call('GET', `/channels/${channel_id}/deliveries`, project)
  expect(list.body.deliveries).toMatchObject([{ message_id: null, status: 403, attempt: 1 }])
  const codes: number[] = []
  for (let at = 0; at < 12; at += 1) {
    codes.push((await call('POST', `/channels/${channel_id}/test`, project)).status)
  }
  expect(codes).toContain(429)
})

test('the messages of an incident are listed with their state; only its project reads them', async () => {
  const { name } = await created()
  const incident_id = await bench.addIncident()
  const message_id = await bench.addMessage({ incident_id, channel: name })
  const reply = await call('GET', `/${incident_id}/deliveries`, project)
  expect(reply.body).toMatchObject({
    messages: [{ message_id, channel: name, reason: 'opened', state: 'waiting', attempts: 0 }],
    total: 1,
  })
  const { number } = await bench.api.db
    .selectFrom('incidents')
    .select('number')
    .where('id', '=', incident_id)
    .executeTakeFirstOrThrow()
  expect((await call('GET', `/${number}/deliveries`, project)).body).toEqual(reply.body)
  const preview = await call('POST', '/channels/preview', project, {
    body: { incident_id: `${number}` },
  })
  expect(preview.status).toBe(200)
  const other = await bench.api.newProject()
  const foreign = await call('GET', `/${incident_id}/deliveries`, other)
  expect(codeOf(foreign)).toEqual([404, 'incident_not_found'])
})
