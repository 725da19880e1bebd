import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { newSigningSecret } from '../../src/capabilities/incidents/channels/channel-secrets.ts'
import { attemptNext } from '../../src/capabilities/incidents/channels/outbox/attempt.ts'
import { sampleMessage } from '../../src/capabilities/incidents/channels/sample-message.ts'
import { previewText } from '../../src/capabilities/incidents/channels/senders/send.ts'
import {
  alertsAgainMs,
  deleteOldDeliveries,
  refreshAlerts,
} from '../../src/capabilities/incidents/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { eventually } from '../support/eventually.ts'
import { killsOfRun } from '../support/kills-of-run.ts'
import { type OutboxBench, openOutboxBench } from '../support/outbox-bench.ts'
import { type Receiver, startReceiver, status } from '../support/receiver.ts'
import { startSmtp, type TestSmtp, textOf } from '../support/smtp.ts'

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
    names: { 'inside.example': '10.1.2.3' },
  })
  bench.ports.timeout_ms = 400
})
afterEach(async () => {
  receiver.received.length = 0
  receiver.answer = (response) => response.end('ok')
})
afterAll(async () => {
  await bench?.[Symbol.asyncDispose]()
  await receiver?.close()
  await smtp?.close()
})

let names = 0
async function webhook(more: { secrets?: Record<string, string>; fallback?: string } = {}) {
  names += 1
  const name = `hook-${names}`
  const secret = newSigningSecret()
  const secrets = {
    url: `${receiver.url}/hooks/path-token?key=query-token`,
    secret,
    ...more.secrets,
  }
  const id = await bench.addChannel(name, 'webhook', { ...more, secrets })
  return { name, secret, id }
}

const later = (minutes: number) => {
  bench.time.ahead_ms += minutes * 60_000
}
const bodies = () => receiver.received.map(({ body }) => JSON.parse(body))
const idsOf = () => receiver.received.map(({ headers }) => headers['webhook-id'])

async function opened(channel: string, more: object = {}) {
  const incident_id = await bench.addIncident()
  const message_id = await bench.addMessage({ incident_id, channel, ...more })
  return { incident_id, message_id }
}

async function timeline(incident_id: string) {
  const rows = await bench.api.db
    .selectFrom('incident_events')
    .select(['type', 'note'])
    .where('incident_id', '=', incident_id)
    .orderBy('seq')
    .execute()
  return rows.map(({ type, note }) => `${type}: ${note}`)
}

describe('a Standard Webhook', () => {
  test('is verified with each live secret, and has the id of the message', async () => {
    const previous_secret = newSigningSecret()
    const { name, secret } = await webhook({ secrets: { previous_secret } })
    const { incident_id, message_id } = await opened(name)
    expect(await bench.drain()).toBe(1)
    const [request] = receiver.received
    const headers = request?.headers as Record<string, string>
    expect(headers['webhook-id']).toBe(message_id)
    for (const live of [secret, previous_secret]) {
      const payload = new Webhook(live).verify(request?.body ?? '', headers)
      expect(payload).toMatchObject({
        type: 'incident.opened',
        data: { incident: { incident_id } },
      })
    }
    expect(() => new Webhook(newSigningSecret()).verify(request?.body ?? '', headers)).toThrow()
    expect(await bench.states(incident_id)).toEqual([`1 opened to ${name}: delivered`])
  })

  test('keeps its id over retries and a re-send', async () => {
    const { name } = await webhook()
    receiver.answer = status(500)
    const { message_id } = await opened(name)
    await bench.drain()
    later(1)
    receiver.answer = status(204)
    await bench.drain()
    const path = `/deliveries/${message_id}/resend`
    expect((await bench.api.call('POST', path, bench.project_id)).status).toBe(200)
    await bench.drain()
    expect(idsOf()).toEqual([message_id, message_id, message_id])
  })
})

describe('Slack', () => {
  const hostile = {
    title: '<!channel> <https://evil.example|Runbook> & *x*',
    group: { model: '<@U1>' },
  }
  const token = 'xoxb-1234567890-secret'

  test('a bot posts, edits its first message, and answers below it', async () => {
    await bench.addChannel('bot', 'slack', { section: { channel: '#on-call' }, secrets: { token } })
    receiver.answer = (response) =>
      response.end(JSON.stringify({ ok: true, channel: 'C123456', ts: '17.5' }))
    const { incident_id } = await opened('bot', { incident: hostile })
    await bench.drain()
    await bench.addMessage({ incident_id, channel: 'bot', event_seq: 2, reason: 'reminder' })
    await bench.drain()
    await bench.addMessage({ incident_id, channel: 'bot', event_seq: 3, reason: 'resolved' })
    await bench.drain()
    expect(receiver.received.map(({ path }) => path.replace('/slack/', ''))).toEqual([
      ...['chat.postMessage', 'chat.update', 'chat.postMessage', 'chat.update'],
    ])
    const [first, , answer, last] = bodies()
    expect(first).toMatchObject({ channel: '#on-call', link_names: false, parse: 'none' })
    expect(first.text).not.toMatch(/<[!@h]/)
    expect(first.text).toContain('&lt;!channel&gt;')
    expect(answer).toMatchObject({ channel: 'C123456', thread_ts: '17.5', reply_broadcast: true })
    expect(last).toMatchObject({ channel: 'C123456', ts: '17.5' })
    expect(receiver.received[0]?.headers.authorization).toBe(`Bearer ${token}`)
  })

  test('an answer that is not ok is final, or attempted again', async () => {
    const section = { channel: '#gone' }
    await bench.addChannel('gone', 'slack', { section, secrets: { token } })
    receiver.answer = (response) => response.end('{"ok":false,"error":"is_archived"}')
    const { incident_id } = await opened('gone')
    await bench.drain()
    expect(await bench.states(incident_id)).toEqual(['1 opened to gone: dead'])
    receiver.answer = (response) => response.end('{"ok":false,"error":"ratelimited"}')
    const next = await opened('gone')
    await bench.drain()
    expect(await bench.states(next.incident_id)).toEqual(['1 opened to gone: waiting'])
    await bench.api.db.deleteFrom('notification_outbox').where('channel', '=', 'gone').execute()
  })

  test('an incoming webhook posts the incidents of a rule together', async () => {
    const secrets = { webhook_url: `${receiver.url}/services/T0/B0/hook-secret` }
    await bench.addChannel('incoming', 'slack', { secrets })
    for (let at = 0; at < 3; at += 1) await opened('incoming')
    await opened('incoming', { rule: 'another-rule' })
    await bench.drain()
    const texts = bodies().map(({ text }) => text.split('\n')[0])
    expect(texts).toHaveLength(2)
    expect(texts).toContain('3 incidents of rule slow-answers: 3 open')
  })
})

test('PagerDuty: the incident is the key of the alert', async () => {
  const routing_key = 'R'.repeat(32)
  const section = { url: `${receiver.url}/v2/enqueue` }
  await bench.addChannel('pager', 'pagerduty', { section, secrets: { routing_key } })
  receiver.answer = status(202)
  const { incident_id } = await opened('pager')
  await bench.drain()
  await bench.addMessage({ incident_id, channel: 'pager', event_seq: 2, reason: 'resolved' })
  await bench.drain()
  const known = { routing_key, dedup_key: incident_id }
  expect(bodies()).toMatchObject([
    { ...known, event_action: 'trigger', payload: { severity: 'info', source: 'looptrace' } },
    { ...known, event_action: 'resolve' },
  ])
})

describe('messages say what happened', () => {
  const origin = 'https://looptrace.example.com'
  const links = () => ({ ...bench.ports, public_url: origin })
  const never = new AbortController().signal
  const attempt = (channel_name: string, ports = links()) =>
    attemptNext({ project_id: bench.project_id, channel_name }, ports, never)
  const at = new Date().toISOString()

  async function finding() {
    const [finding_id, task_id, trace_id] = [newId(), `task-${newId()}`, newId()]
    const { db } = bench.api
    const { project_id } = bench
    await db
      .insertInto('tasks')
      .values({
        project_id,
        task_id,
        name: 'plan',
        implicit: false,
        started_at: at,
        last_activity_at: at,
      } as never)
      .execute()
    await db
      .insertInto('findings')
      .values({
        ...{ finding_id, project_id, task_id, kind: 'loop', type: 'repeat_call', start_step: 4 },
        ...{ detector: 'repeat_call', detector_version: 1, severity: 'high', state: 'open' },
        places: JSON.stringify([{ trace_id, observation_id: 'o1' }]),
        ...{ trace_ids: [trace_id], wasted_tokens: 0, wasted_cost_usd: '0', confidence: 1 },
        ...{ recovered: false, evidence: '{}', summary: 'called search 9 times', started_at: at },
        ...{ first_detected_at: at, updated_at: at },
      } as never)
      .execute()
    const summary = 'called search 9 times with the same arguments'
    return {
      evidence: { kind: 'finding', id: finding_id, task_id, summary, at } as const,
      trace_id,
    }
  }

  test('the sentence of the finding, its task, trace and step, and links', async () => {
    const { name } = await webhook()
    const { evidence, trace_id } = await finding()
    const { incident_id } = await opened(name, { incident: { evidence: [evidence] } })
    await attempt(name)
    const [{ data }] = bodies()
    const project = `${origin}/p/${bench.project_id}`
    expect(data.text.split('\n')).toEqual(
      expect.arrayContaining([
        'Found: called search 9 times with the same arguments',
        `Task: ${evidence.task_id}`,
        `Trace: ${trace_id}`,
        'Step: 5',
        `Open the incident: ${project}/incidents/${incident_id}`,
        `Open the task: ${project}/tasks/${evidence.task_id}?step=5`,
      ]),
    )
    expect(data.links.trace).toBe(`${project}/traces/${trace_id}`)
    expect(data.details).toMatchObject({ task_id: evidence.task_id, trace_id, step: 4 })
  })

  test('value, limit and three examples of a measured rule, equal in all attempts', async () => {
    const { name } = await webhook()
    const body = {
      ...{ name: 'costly', severity: 'high', notify: [name] },
      condition: { signal: 'cost', window: '10m', threshold: 5 },
    }
    await bench.api.call('POST', '/rules', bench.project_id, { body })
    const value = { kind: 'value', value: 7.25, samples: 9, at } as const
    await opened(name, { incident: { rule: 'costly', signal: 'cost', evidence: [value] } })
    let asked = 0
    const examples = async () => {
      asked += 1
      return [1, 2, 3, 4].map((one) => {
        const task_id = `t${one}-${asked}`
        return { kind: 'trace', summary: `A call with ${one} US dollars.`, task_id, at } as const
      })
    }
    receiver.answer = status(500)
    await attempt(name, { ...links(), examples } as never)
    receiver.answer = status(200)
    later(1)
    await attempt(name, { ...links(), examples } as never)
    const [first, second] = bodies()
    expect(second).toEqual(first)
    expect(asked).toBe(1)
    expect(first.data.text).toContain(
      'Found: cost is 7.25 US dollars\nLimit: > 5 US dollars over 10m',
    )
    expect(first.data.text.split('\n').slice(-4)).toEqual([
      'For example:',
      '- A call with 1 US dollars. task t1-1',
      '- A call with 2 US dollars. task t2-1',
      '- A call with 3 US dollars. task t3-1',
    ])
  })

  test('each receiver has its field: PagerDuty `client_url`, Alertmanager `generatorURL`', async () => {
    const url = receiver.url
    const secrets = { routing_key: 'c'.repeat(32) }
    await bench.addChannel('pages-2', 'pagerduty', { section: { url: `${url}/pd` }, secrets })
    await bench.addChannel('am-2', 'alertmanager', { section: { url: `${url}/am` } })
    await bench.addChannel('slack-2', 'slack', { secrets: { webhook_url: `${url}/slack-hook` } })
    const ids: string[] = []
    for (const channel of ['pages-2', 'am-2', 'slack-2']) {
      ids.push((await opened(channel)).incident_id)
      await attempt(channel)
    }
    const linkOf = (id = '') => `${origin}/p/${bench.project_id}/incidents/${id}`
    const [pages, alerts, slack] = bodies()
    expect(pages).toMatchObject({ client_url: linkOf(ids[0]), payload: { source: linkOf(ids[0]) } })
    expect(alerts[0].generatorURL).toBe(linkOf(ids[1]))
    expect(slack.text).toContain(`<${linkOf(ids[2])}>`)
  })

  test('templates have placeholders for all of it', async () => {
    const { evidence } = await finding()
    const message = {
      ...sampleMessage('opened', { project_id: bench.project_id, incident_id: newId(), now_ms: 0 }),
    }
    const details = { limit: '> 1', unit: '', task_id: 't', trace_id: 'tr', step: 2, examples: [] }
    const full = {
      ...message,
      ...{ details, links: { incident: 'https://l/i', task: 'https://l/t' } },
      incident: { ...message.incident, evidence: [evidence] },
    }
    const body =
      '{{evidence}}|{{threshold}}|{{task}}|{{link}}|{{trace}}|{{step}}|{{task_link}}|{{trace_link}}'
    expect(previewText('webhook', full, { body }).body).toBe(
      'called search 9 times with the same arguments|> 1|t|https://l/i|tr|3|https://l/t|',
    )
  })
})

test('Alertmanager: alerts that fire are sent again before their end, and never after a resolve', async () => {
  await bench.addChannel('am-3', 'alertmanager', { section: { url: `${receiver.url}/am` } })
  const ports = { ...bench.ports, public_url: 'https://looptrace.example.com' }
  const never = new AbortController().signal
  const [first, second] = [await opened('am-3'), await opened('am-3')]
  await bench.drain()
  receiver.received.length = 0
  const again = async () => {
    await refreshAlerts(ports, never)
    const sent = receiver.received.splice(0).flatMap(({ body }) => JSON.parse(body))
    return sent.filter(({ labels }) =>
      [first, second].some(({ incident_id }) => incident_id === labels.incident_id),
    )
  }
  const alerts = await again()
  expect(alerts.map(({ labels }) => labels.incident_id).toSorted()).toEqual(
    [first.incident_id, second.incident_id].toSorted(),
  )
  for (const { endsAt, generatorURL } of alerts) {
    const ahead_ms = Date.parse(endsAt) - (Date.now() + bench.time.ahead_ms)
    expect(ahead_ms).toBeGreaterThan(2 * alertsAgainMs)
    expect(ahead_ms).toBeLessThan(3_600_000)
    expect(generatorURL).toContain('https://looptrace.example.com/')
  }
  // The end waits: an alert that fires must not overtake it.
  await bench.addMessage({
    incident_id: first.incident_id,
    channel: 'am-3',
    event_seq: 2,
    reason: 'resolved',
  })
  expect((await again()).map(({ labels }) => labels.incident_id)).toEqual([second.incident_id])
  await bench.api.db
    .updateTable('incidents')
    .set({ state: 'resolved' })
    .where('id', '=', second.incident_id)
    .execute()
  expect(await again()).toEqual([])
  await bench.drain()
})

test('Alertmanager: equal labels, and the alert of a lower severity ends', async () => {
  const secrets = { authorization: 'Bearer am-secret-token' }
  await bench.addChannel('am', 'alertmanager', { section: { url: `${receiver.url}/am/` }, secrets })
  const incident = { severity: 'low', labels: { team: 'search', alertname: 'forged' } }
  const { incident_id } = await opened('am', { incident })
  await bench.drain()
  const raised = { incident_id, channel: 'am', incident: { ...incident, severity: 'high' } }
  await bench.addMessage({ ...raised, event_seq: 2, reason: 'raised' } as never)
  await bench.drain()
  await bench.addMessage({ ...raised, event_seq: 3, reason: 'resolved' } as never)
  await bench.drain()
  const [first, second, third] = bodies()
  const isEnded = ({ endsAt }: { endsAt: string }) =>
    Date.parse(endsAt) <= Date.now() + bench.time.ahead_ms + 1000
  expect(receiver.received[0]).toMatchObject({ path: '/am/api/v2/alerts' })
  expect(receiver.received[0]?.headers.authorization).toBe('Bearer am-secret-token')
  expect(first[0].labels).toMatchObject({
    alertname: 'slow-answers',
    team: 'search',
    severity: 'low',
    incident_id,
  })
  expect(first.map(isEnded)).toEqual([false])
  expect(second.map(isEnded)).toEqual([true, false])
  expect(second[0].labels).toEqual(first[0].labels)
  expect(third[0].labels).toEqual(second[1].labels)
  expect(third.map(isEnded)).toEqual([true])
})

test('a mail is one conversation per incident, and no value of a payload is a header', async () => {
  const to = ['ada@example.com', 'bob@example.com']
  await bench.addChannel('mail', 'email', { section: { to } })
  const title = 'slow\r\nBcc: eve@example.com\r\n\r\nhttps://evil.example'
  const { incident_id, message_id } = await opened('mail', { incident: { title } })
  await bench.drain()
  await bench.addMessage({ incident_id, channel: 'mail', event_seq: 2, reason: 'resolved' })
  await bench.drain()
  const [first, last] = smtp.mails
  expect([first?.to, smtp.mails.length]).toEqual([to, 2])
  const head = (mail = first) => mail?.source.split('\r\n\r\n')[0] ?? ''
  expect(head()).not.toMatch(/^bcc/im)
  expect(head()).toContain(`Message-ID: <${message_id}@incidents.looptrace>`)
  for (const mail of [first, last]) {
    expect(head(mail)).toContain(`References: <${incident_id}@incidents.looptrace>`)
  }
  expect(head(last)).toMatch(/^Subject: \[Resolved\]/m)
  expect(first && textOf(first)).not.toContain('https://evil.example')
})

describe('a receiver that fails', () => {
  test.each([
    ['500', status(500)],
    ['a redirect to a private address', status(302, { location: 'http://127.0.0.1:1/' })],
    ['429 with Retry-After', status(429, { 'retry-after': '1200' })],
    [
      'a connection that is reset',
      (response: Parameters<Receiver['answer']>[0]) => response.destroy(),
    ],
    ['no answer in time', () => undefined],
    [
      'an answer that drips',
      (response: Parameters<Receiver['answer']>[0]) => {
        response.writeHead(200)
        const drip = setInterval(() => response.write('.'), 50)
        response.on('close', () => clearInterval(drip))
      },
    ],
  ])('with %s is asked again, with the same id', async (_, answer) => {
    const { name, id } = await webhook()
    receiver.answer = answer
    const { incident_id, message_id } = await opened(name)
    await bench.drain()
    expect(await bench.states(incident_id)).toEqual([`1 opened to ${name}: waiting`])
    receiver.answer = status(200)
    await bench.drain()
    expect(receiver.received).toHaveLength(1)
    later(25)
    await bench.drain()
    expect(idsOf()).toEqual([message_id, message_id])
    expect(await bench.states(incident_id)).toEqual([`1 opened to ${name}: delivered`])
    const list = await bench.api.call('GET', `/channels/${id}/deliveries`, bench.project_id)
    expect(list.body.deliveries.map((one: { attempt: number }) => one.attempt)).toEqual([2, 1])
  })

  test('with Retry-After is not asked earlier', async () => {
    const { name } = await webhook()
    receiver.answer = status(503, { 'retry-after': '600' })
    await opened(name)
    await bench.drain()
    later(9)
    await bench.drain()
    expect(receiver.received).toHaveLength(1)
    later(2)
    receiver.answer = status(200)
    await bench.drain()
    expect(receiver.received).toHaveLength(2)
  })

  test('with 404 for good: dead, in the timeline, and the fallback receives the message', async () => {
    const other = await webhook()
    const { name } = await webhook({ fallback: other.name })
    receiver.answer = (response, { headers }) =>
      response.writeHead(headers['webhook-id'] === dead ? 404 : 200).end()
    const { incident_id, message_id: dead } = await opened(name)
    await bench.drain()
    expect((await bench.states(incident_id)).toSorted()).toEqual(
      [`1 opened to ${name}: dead`, `1 opened to ${other.name}: delivered`].toSorted(),
    )
    expect(await timeline(incident_id)).toEqual([
      `undelivered: The message "opened" was not delivered to the channel ${name}: the receiver answered 404. The channel ${other.name} receives it instead.`,
    ])
    expect(await bench.exposed()).toMatch(
      /notifications_total\{outcome="dead",type="webhook"\} [1-9]/,
    )
  })

  test('with 410 disables the channel, with the reason; the next message is dead', async () => {
    const { name, id } = await webhook()
    receiver.answer = status(410)
    await opened(name)
    await bench.drain()
    const channel = await bench.api.call('GET', `/channels/${id}`, bench.project_id)
    expect(channel.body).toMatchObject({
      ...{ disabled: true, disabled_reason: 'the receiver answered 410 Gone', version: 2 },
    })
    const next = await opened(name)
    await bench.drain()
    expect(receiver.received).toHaveLength(1)
    expect(await timeline(next.incident_id)).toEqual([
      expect.stringContaining('the channel is disabled: the receiver answered 410 Gone'),
    ])
  })

  test.each(['http://127.0.0.1:1/', 'http://169.254.169.254/latest'])(
    'at the private address %s is never asked',
    async (url) => {
      const { name } = await webhook({ secrets: { url } })
      const { incident_id } = await opened(name)
      await bench.drain()
      expect(await bench.states(incident_id)).toEqual([`1 opened to ${name}: dead`])
      expect(await timeline(incident_id)).toEqual([expect.stringContaining('is not allowed')])
    },
  )

  test('does not show whether its name exists inside the cluster', async () => {
    const seen = async (host: string) => {
      const { name, id } = await webhook({ secrets: { url: `http://${host}/` } })
      const tested = await bench.api.call('POST', `/channels/${id}/test`, bench.project_id)
      const { incident_id } = await opened(name)
      await bench.drain()
      const { body } = await bench.api.call('GET', `/channels/${id}/deliveries`, bench.project_id)
      const [state] = await bench.states(incident_id)
      const { error, error_kind, status } = body.deliveries[0]
      const { duration_ms: _, ...answer } = tested.body
      const all = { answer, error, error_kind, status, state: state?.split(': ')[1] }
      return JSON.stringify(all).replaceAll(host, 'HOST')
    }
    const inside = await seen('inside.example')
    expect(inside).toContain("The address HOST can't be used: expected a name that exists")
    expect(inside).toBe(await seen('unknown.example'))
    expect(bench.logged()).toContain('inside.example port 80 is not allowed')
    expect(bench.logged()).toContain('unknown.example is not known to the name server')
  })

  test('for an hour loses nothing: each incident in order, and all of them', async () => {
    const { name } = await webhook()
    receiver.answer = status(503)
    const incidents = await Promise.all([1, 2, 3].map(() => opened(name)))
    await bench.drain()
    for (const { incident_id } of incidents) {
      await bench.addMessage({ incident_id, channel: name, event_seq: 2, reason: 'resolved' })
    }
    for (let at = 0; at < 6; at += 1) {
      await bench.drain()
      later(10)
    }
    receiver.answer = status(200)
    receiver.received.length = 0
    for (let at = 0; at < 3; at += 1) {
      later(60)
      await bench.drain()
    }
    for (const { incident_id } of incidents) {
      const mine = bodies().filter(({ data }) => data.incident.incident_id === incident_id)
      expect(mine.map(({ type }) => type)).toEqual(['incident.opened', 'incident.resolved'])
    }
  })
})

test('a resolve supersedes an opening that was never attempted, but not a late one', async () => {
  const { name } = await webhook()
  const grouping = { wait: '30s', interval: '5m', repeat: '4h' }
  const { incident_id } = await opened(name, { grouping })
  await bench.drain()
  expect(receiver.received).toHaveLength(0)
  await bench.addMessage({ incident_id, channel: name, event_seq: 2, reason: 'resolved', grouping })
  const late = await opened(name, { grouping, late: true })
  await bench.addMessage({
    incident_id: late.incident_id,
    channel: name,
    event_seq: 2,
    reason: 'resolved',
    grouping,
  })
  later(1)
  await bench.drain()
  expect(
    bodies()
      .map(({ type }) => type)
      .toSorted(),
  ).toEqual(['incident.opened', 'incident.opened_and_resolved'])
  later(6)
  await bench.drain()
  expect(await bench.states(incident_id)).toEqual([
    `1 opened to ${name}: superseded`,
    `2 opened_and_resolved to ${name}: delivered`,
  ])
  expect(await bench.states(late.incident_id)).toEqual([
    `1 opened to ${name}: delivered`,
    `2 resolved to ${name}: delivered`,
  ])
})

describe('the end of an incident', () => {
  const end = (incident_id: string, channel: string, more: object = {}) =>
    bench.addMessage({ incident_id, channel, event_seq: 2, reason: 'resolved', ...more })

  /** Leaves the opening as a killed process does: claimed and counted, without an outcome. */
  async function killOpening(channel_name: string) {
    const target = { project_id: bench.project_id, channel_name }
    await expect(attemptNext(target, bench.ports, AbortSignal.abort())).rejects.toThrow()
  }

  test('whose opening was refused tells both, to the channel and to PagerDuty', async () => {
    const { name } = await webhook()
    const routing_key = 'a'.repeat(32)
    await bench.addChannel('pages', 'pagerduty', {
      section: { url: `${receiver.url}/pd` },
      secrets: { routing_key },
    })
    receiver.answer = status(401)
    const { incident_id } = await opened(name)
    await bench.addMessage({ incident_id, channel: 'pages' })
    await bench.drain()
    receiver.received.length = 0
    receiver.answer = status(200)
    await end(incident_id, name)
    await end(incident_id, 'pages')
    await bench.drain()
    const hook = bodies().find(({ type }) => type !== undefined)
    expect(hook.type).toBe('incident.opened_and_resolved')
    expect(hook.data.text).toContain('Opened and resolved')
    const events = bodies().filter(({ event_action }) => event_action !== undefined)
    expect(events.map(({ event_action }) => event_action)).toEqual(['trigger', 'resolve'])
    expect(new Set(events.map(({ dedup_key }) => dedup_key))).toEqual(new Set([incident_id]))
  })

  test('whose opening may have arrived, or was delivered, is only an end', async () => {
    const killed = await webhook()
    const one = await opened(killed.name)
    await killOpening(killed.name)
    await bench.api.db
      .updateTable('notification_outbox')
      .set({ state: 'dead', claim: null, claimed_until: null })
      .where('id', '=', one.message_id)
      .execute()
    const fine = await webhook()
    const other = await opened(fine.name)
    await bench.drain()
    receiver.received.length = 0
    await end(one.incident_id, killed.name)
    await end(other.incident_id, fine.name)
    await bench.drain()
    expect(bodies().map(({ type }) => type)).toEqual(['incident.resolved', 'incident.resolved'])
  })

  test('that was muted and never announced is not told', async () => {
    const { name } = await webhook()
    const grouping = { wait: '30s', interval: '5m', repeat: '4h' }
    const { incident_id } = await opened(name, { grouping })
    await end(incident_id, name, { grouping, incident: { suppressed: true } })
    later(1)
    await bench.drain()
    expect(receiver.received).toHaveLength(0)
    expect(await bench.states(incident_id)).toEqual([
      `1 opened to ${name}: superseded`,
      `2 resolved to ${name}: superseded`,
    ])
  })

  test('is told to the fallback that was told the opening', async () => {
    const { name: fallback } = await webhook()
    const { name } = await webhook({ fallback })
    const { incident_id } = await opened(name)
    receiver.answer = status(404)
    const never = new AbortController().signal
    await attemptNext({ project_id: bench.project_id, channel_name: name }, bench.ports, never)
    receiver.answer = status(200)
    await bench.drain()
    const row = await bench.api.db
      .selectFrom('incidents')
      .select('core')
      .where('id', '=', incident_id)
      .executeTakeFirst()
    expect(row?.core['announced_to']).toEqual([fallback])
    receiver.received.length = 0
    await end(incident_id, fallback)
    await bench.drain()
    expect(bodies().map(({ type }) => type)).toEqual(['incident.resolved'])
  })

  test('a killed attempt delays its channel by 15 s at most', async () => {
    const { name } = await webhook()
    const { incident_id } = await opened(name)
    await killOpening(name)
    const next = await opened(name)
    bench.time.ahead_ms += 14_000
    await bench.drain()
    for (const id of [incident_id, next.incident_id]) {
      expect(await bench.states(id)).toEqual([`1 opened to ${name}: delivered`])
    }
  })

  test('an attempt keeps its lease while its process lives', async () => {
    const { name } = await webhook()
    const { message_id } = await opened(name)
    const answered = Promise.withResolvers<void>()
    receiver.answer = async (response) => {
      await answered.promise
      response.end()
    }
    const until = async () => {
      const { db } = bench.api
      const row = db.selectFrom('notification_outbox').where('id', '=', message_id)
      return (await row.select('claimed_until').executeTakeFirst())?.claimed_until ?? undefined
    }
    const settings = { ...bench.ports.settings, lease_ms: 60 }
    const target = { project_id: bench.project_id, channel_name: name }
    const never = new AbortController().signal
    const ports = { ...bench.ports, settings, timeout_ms: 20_000 }
    const attempt = attemptNext(target, ports, never)
    const first = await eventually('a lease', until)
    await eventually('a longer lease', async () => ((await until()) ?? '') > first)
    answered.resolve()
    expect(await attempt).toBe(true)
  })
})

/** Kills at each statement. */
const kills_each = killsOfRun({ test: 2, soak: 20 })

test(`${kills_each} kills at each statement of an attempt: nothing is lost, and no event has two ids`, async () => {
  const channels = await Promise.all(Array.from({ length: kills_each }, () => webhook()))
  const never = new AbortController().signal
  let kills = 0
  for (let at = 1; at <= 40; at += 1) {
    const messages = await Promise.all(channels.map(({ name }) => opened(name)))
    const killed = await Promise.all(
      channels.map(async ({ name: channel_name }) => {
        let statements = 0
        const db = bench.ports.db.withPlugin({
          transformQuery: ({ node }) => {
            statements += 1
            if (statements === at) throw new Error('killed')
            return node
          },
          transformResult: async ({ result }) => result,
        })
        const target = { project_id: bench.project_id, channel_name }
        const attempt = attemptNext(target, { ...bench.ports, db }, never)
        return attempt.then(
          () => 0,
          () => 1,
        )
      }),
    )
    const count = killed.reduce((sum, one) => sum + one, 0)
    kills += count
    // On a busy machine an attempt can take longer than its time-out; the next one follows.
    const isDelivered = async ({ incident_id }: { incident_id: string }) =>
      /delivered$/.test((await bench.states(incident_id))[0] ?? '')
    for (let rounds = 0; rounds < 5; rounds += 1) {
      later(2)
      await bench.drain()
      if ((await Promise.all(messages.map(isDelivered))).every(Boolean)) break
    }
    for (const { incident_id, message_id } of messages) {
      const mine = receiver.received.filter(({ body }) => body.includes(incident_id))
      expect(mine.length, `statement ${at}`).toBeGreaterThan(0)
      expect(new Set(mine.map(({ headers }) => headers['webhook-id']))).toEqual(
        new Set([message_id]),
      )
      expect((await bench.states(incident_id))[0]).toMatch(/delivered$/)
    }
    receiver.received.length = 0
    if (count === 0) break
  }
  expect(kills).toBeGreaterThan(10 * kills_each)
})

test('two senders at once, one of them slower than its lease: one id, in order', async () => {
  const { name } = await webhook()
  const { incident_id, message_id } = await opened(name)
  await bench.addMessage({ incident_id, channel: name, event_seq: 2, reason: 'raised' })
  const target = { project_id: bench.project_id, channel_name: name }
  const never = new AbortController().signal
  let overtaken: Promise<unknown> | undefined
  let attempts: Promise<boolean>[] = []
  receiver.answer = async (response) => {
    if (overtaken === undefined) {
      // The other sender finds the message taken.
      await Promise.race(attempts)
      const settings = { ...bench.ports.settings, ahead_ms: () => bench.time.ahead_ms + 61_000 }
      overtaken = attemptNext(target, { ...bench.ports, settings }, never)
      await overtaken
    }
    response.end()
  }
  attempts = [attemptNext(target, bench.ports, never), attemptNext(target, bench.ports, never)]
  expect((await Promise.all(attempts)).toSorted()).toEqual([false, true])
  expect(idsOf()).toEqual([message_id, message_id])
  later(2)
  await bench.drain()
  expect(bodies().map(({ type }) => type)).toEqual([
    ...['incident.opened', 'incident.opened', 'incident.raised'],
  ])
})

test('a slow receiver delays neither other channels nor other projects', async () => {
  const slow = await webhook()
  const { name } = await webhook()
  const other_project = await bench.api.newProject()
  const secrets = { url: receiver.url, secret: newSigningSecret() }
  await bench.addChannel('calm', 'webhook', { secrets, project_id: other_project })
  const delayed = new Set<string>()
  receiver.answer = (response, { headers }) => {
    if (delayed.has(String(headers['webhook-id']))) setTimeout(() => response.end(), 350)
    else response.end()
  }
  for (let at = 0; at < 5; at += 1) delayed.add((await opened(slow.name)).message_id)
  const quick = await opened(name)
  const incident_id = await bench.addIncident(other_project)
  const calm = await bench.addMessage({ incident_id, channel: 'calm', project_id: other_project })
  const started = performance.now()
  const notifications = bench.start()
  const arrived = async () => {
    while (![quick.message_id, calm].every((id) => idsOf().includes(id))) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  await arrived()
  const took_ms = performance.now() - started
  await notifications.stop()
  const slowOnes = idsOf().filter((id) => delayed.has(String(id)))
  expect([took_ms < 1500, slowOnes.length < 5]).toEqual([true, true])
  await bench.drain()
})

test('a wake delivers within 2 s what a transaction has just written', async () => {
  const { name } = await webhook()
  const notifications = bench.start()
  const delays: number[] = []
  for (let at = 0; at < 20; at += 1) {
    const { message_id } = await opened(name)
    const written = performance.now()
    notifications.wake()
    while (!idsOf().includes(message_id)) await new Promise((resolve) => setTimeout(resolve, 2))
    delays.push(performance.now() - written)
  }
  await notifications.stop()
  expect(delays.toSorted((a, b) => a - b)[18]).toBeLessThan(2000)
})

describe('a neighbour', () => {
  test('cannot use the channel of another project by its name', async () => {
    const { name } = await webhook()
    const project_id = await bench.api.newProject()
    const incident_id = await bench.addIncident(project_id)
    await bench.addMessage({ incident_id, channel: name, project_id })
    await bench.drain()
    expect(receiver.received).toHaveLength(0)
    expect(await timeline(incident_id)).toEqual([
      expect.stringContaining(`no channel has the name ${name}`),
    ])
  })

  test('with write access to the store cannot move a secret to another channel or field', async () => {
    const victim = await webhook()
    const thief = await webhook()
    const { db } = bench.api
    const rows = await db
      .selectFrom('notification_channels')
      .select(['id', 'secrets'])
      .where('id', 'in', [victim.id, thief.id])
      .execute()
    const stolen = rows.find(({ id }) => id === victim.id)?.secrets ?? {}
    for (const secrets of [stolen, { ...stolen, url: stolen['secret'] ?? '' }]) {
      await db
        .updateTable('notification_channels')
        .set({ secrets: JSON.stringify(secrets) })
        .where('id', '=', thief.id)
        .execute()
      const { incident_id } = await opened(thief.name)
      await bench.drain()
      expect(receiver.received).toHaveLength(0)
      expect(await timeline(incident_id)).toEqual([
        expect.stringContaining('stored with another LOOPTRACE_SECRET_KEY'),
      ])
    }
  })

  test('without the secret key of the service, messages are dead with the reason', async () => {
    const { name } = await webhook()
    const { incident_id } = await opened(name)
    const settings = { ...bench.ports.settings, secret_key: undefined }
    const target = { project_id: bench.project_id, channel_name: name }
    await attemptNext(target, { ...bench.ports, settings }, new AbortController().signal)
    expect(await timeline(incident_id)).toEqual([
      expect.stringContaining('Set LOOPTRACE_SECRET_KEY for workers'),
    ])
  })
})

test('a receiver that quotes its secrets does not bring them into replies, logs or the store', async () => {
  const { name, id, secret } = await webhook()
  receiver.answer = (response, { path, headers }) =>
    response.writeHead(400).end(`${path} ${JSON.stringify(headers)} ${secret}`)
  const { incident_id } = await opened(name)
  await bench.drain()
  await bench.api.call('POST', `/channels/${id}/test`, bench.project_id)
  const replies = await Promise.all(
    ['', `/${id}`, `/${id}/deliveries`].map((path) =>
      bench.api.call('GET', `/channels${path}`, bench.project_id),
    ),
  )
  const shown = [
    ...replies.map(({ text }) => text),
    (await bench.api.call('GET', `/${incident_id}/deliveries`, bench.project_id)).text,
    bench.logged(),
    JSON.stringify(await bench.api.db.selectFrom('notification_deliveries').selectAll().execute()),
    JSON.stringify(await bench.api.db.selectFrom('incident_events').selectAll().execute()),
  ].join('\n')
  for (const hidden of ['path-token', 'query-token', secret, secret.slice(6)]) {
    expect(shown.includes(hidden), hidden).toBe(false)
  }
  expect(shown).toContain('[secret]')
})

test('an accepted announcement is noted on the incident, an accepted resolve is not', async () => {
  const { name } = await webhook()
  const core = async (id: string) =>
    (
      await bench.api.db
        .selectFrom('incidents')
        .select('core')
        .where('id', '=', id)
        .executeTakeFirst()
    )?.core['opened_delivered']
  const { incident_id } = await opened(name)
  const other = await opened(name, { reason: 'resolved' })
  await bench.drain()
  expect([await core(incident_id), await core(other.incident_id)]).toEqual([true, false])
})

test('a message of an unknown incident or a foreign id cannot be sent again', async () => {
  const other = await bench.api.newProject()
  const { name } = await webhook()
  const { message_id } = await opened(name)
  await bench.drain()
  for (const [id, project] of [
    [message_id, other],
    [newId(), bench.project_id],
    ['x', bench.project_id],
  ] as const) {
    const reply = await bench.api.call('POST', `/deliveries/${id}/resend`, project)
    expect([reply.status, reply.body.code]).toEqual([404, 'message_not_found'])
  }
  await bench.drain()
  expect(receiver.received).toHaveLength(1)
})

test('the outcome of an attempt that was overtaken is not written', async () => {
  const { name, id } = await webhook()
  const { incident_id } = await opened(name)
  const target = { project_id: bench.project_id, channel_name: name }
  const never = new AbortController().signal
  let requests = 0
  receiver.answer = async (response) => {
    requests += 1
    if (requests > 1) return status(500)(response)
    const settings = { ...bench.ports.settings, ahead_ms: () => bench.time.ahead_ms + 61_000 }
    await attemptNext(target, { ...bench.ports, settings }, never)
    return response.end()
  }
  await attemptNext(target, bench.ports, never)
  expect(await bench.states(incident_id)).toEqual([`1 opened to ${name}: waiting`])
  const { body } = await bench.api.call('GET', `/channels/${id}/deliveries`, bench.project_id)
  expect(body.deliveries.map((one: { status: number }) => one.status)).toEqual([500])
  receiver.answer = status(200)
  later(3)
  await bench.drain()
  expect(await bench.states(incident_id)).toEqual([`1 opened to ${name}: delivered`])
})

test('deliveries are kept 30 days, and messages that wait for ever', async () => {
  const { name } = await webhook()
  const old = await opened(name)
  const recent = await opened(name)
  await bench.drain()
  const { db } = bench.api
  const long_ago = new Date(Date.now() - 31 * 86_400_000)
  await db
    .updateTable('notification_outbox')
    .set({ ended_at: long_ago })
    .where('id', '=', old.message_id)
    .execute()
  const waiting = await opened(name)
  await db
    .updateTable('notification_outbox')
    .set({ created_at: long_ago, next_attempt_at: long_ago })
    .where('id', '=', waiting.message_id)
    .execute()
  await deleteOldDeliveries(db, new AbortController().signal)
  expect(await bench.states(old.incident_id)).toEqual([])
  expect(await bench.states(recent.incident_id)).toHaveLength(1)
  expect(await bench.states(waiting.incident_id)).toHaveLength(1)
  await bench.drain()
})
