import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kinds } from '../../src/operator/index.ts'
import { scenarioScript, scenarios } from '../support/agents/scenarios.ts'
import { runAgent } from '../support/agents/tool-agent.ts'
import { main } from '../support/bundle.ts'
import { accessToken } from '../support/clients/api-reader.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  startApiServer,
} from '../support/kube/api-server.ts'
import { grantProject } from '../support/kube/grants.ts'
import { installKinds } from '../support/kube/resources.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'

/** From an agent that loops to the person who is woken, with each part as its own process. */
let parts: AsyncDisposableStack
let server: ApiServer
let cluster: Cluster
let operator: Service
let receiver: Receiver
let namespace: string
let token: string

const signing_secret = `whsec_${Buffer.from('a signing secret of this test').toString('base64')}`
const operator_key = `lt_op_abcdefgh_${'0'.repeat(32)}`

beforeAll(async () => {
  parts = new AsyncDisposableStack()
  receiver = await startReceiver()
  parts.defer(() => receiver.close())
  server = parts.use(await startApiServer())
  await installKinds(server, kinds)
  namespace = await server.namespace()
  cluster = parts.use(
    await startCluster({
      env: {
        LOOPTRACE_OPERATOR_KEY: operator_key,
        LOOPTRACE_OUTBOUND_ALLOWED: `127.0.0.0/8:${receiver.port}`,
        LOOPTRACE_PUBLIC_URL: 'https://looptrace.example',
      },
    }),
  )
  operator = await startService('operator', {
    KUBECONFIG: await server.kubeconfig(),
    LOOPTRACE_SERVICE_URL: cluster.api.base_url,
    LOOPTRACE_OPERATOR_KEY: operator_key,
    LOOPTRACE_OPERATOR_LEADER_ELECTION: 'false',
    LOOPTRACE_OPERATOR_NAMESPACE: namespace,
  })
  parts.defer(async () => void (await operator.stop()))
  await grantProject(server, namespace, { organization: 'default', name: 'default' })
  token = await accessToken({ api_url: cluster.api.base_url, login: cluster.login })
}, apiServerStartTimeoutMs)
afterAll(() => parts.disposeAsync())

const channel = () => `
apiVersion: v1
kind: Secret
metadata: { name: on-call, labels: { looptrace.dev/channel: "true" } }
stringData: { secret: ${signing_secret} }
---
apiVersion: looptrace.dev/v1alpha1
kind: NotificationChannel
metadata: { name: on-call }
spec:
  projectRef: { organization: default, name: default }
  webhook: { url: "${receiver.url}", secretRef: { name: on-call, key: secret } }
`

const rule = (severity: string) => `
apiVersion: looptrace.dev/v1alpha1
kind: IncidentRule
metadata: { name: loops }
spec:
  projectRef: { organization: default, name: default }
  event: { match: { source: finding, kinds: [loop] } }
  severity: ${severity}
  grouping: { wait: 0s, interval: 0s }
  reopenWithin: 15m
  notify: [on-call]
`

test('a loop wakes a person, who handles the incident; the rule is YAML', async () => {
  await apply(channel())
  await apply(rule('high'))
  await waitFor('notificationchannel/on-call', 'Ready')
  await waitFor('incidentrule/loops', 'Ready')

  await loopOnce()
  const opened = await message('opened')
  expect(opened.incident).toMatchObject({ state: 'open', severity: 'high', rule: 'loops' })
  expect(opened.incident.evidence).toContainEqual(
    expect.objectContaining({ kind: 'finding', type: 'repeat_call' }),
  )
  await reconcile('incidentrule/loops')
  await waitFor('incidentrule/loops', 'Firing')

  const { incident_id } = opened.incident
  const seen = await call('GET', `/${incident_id}`)
  expect(seen.body).toMatchObject({ state: 'open', number: 1 })
  const acknowledged = await call('POST', `/${incident_id}/ack`, { note: 'on it' }, seen.etag)
  expect(acknowledged).toMatchObject({ status: 200, body: { state: 'acknowledged' } })
  expect(await call('POST', `/${incident_id}/ack`)).toMatchObject({ status: 200 })
  expect(await call('POST', `/${incident_id}/resolve`, {}, seen.etag)).toMatchObject({
    status: 412,
  })
  const assignee = cluster.login.admin_email
  expect(await call('POST', `/${incident_id}/assign`, { assignee })).toMatchObject({ status: 200 })
  expect(await call('POST', `/${incident_id}/resolve`, { note: 'deployed a fix' })).toMatchObject({
    ...{ status: 200, body: { state: 'resolved' } },
  })
  expect(await message('resolved')).toMatchObject({ incident: { incident_id } })
  expect(await call('POST', `/${incident_id}/ack`)).toMatchObject({
    ...{ status: 409, body: { code: 'incident_state_conflict' } },
  })
  expect(await call('POST', `/${incident_id}/reopen`)).toMatchObject({
    ...{ status: 200, body: { state: 'open' } },
  })
  expect(await message('reopened')).toMatchObject({ incident: { incident_id } })
  const { body } = await call('GET', `/${incident_id}`)
  const { events } = body['timeline'] as { events: { type: string }[] }
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['opened', 'acknowledged', 'assigned', 'resolved', 'reopened']),
  )

  await apply(rule('critical'))
  await eventually('the incident of the edited rule is orphaned', async () => {
    const now = await call('GET', `/${incident_id}`)
    return now.body['orphaned'] === true
  })
  await waitFor('incidentrule/loops', 'Ready')
  expect(await call('POST', `/${incident_id}/resolve`)).toMatchObject({ status: 200 })
  await loopOnce()
  const raised = await message('reopened', { severity: 'critical' })
  expect(raised.incident).toMatchObject({ incident_id, severity: 'critical' })
})

test('a person acknowledges by the link of a Slack message, once, and the trail says so', async () => {
  const slack = { name: 'chat', slack: { webhook_url: `${receiver.url}/services/T0/B0/x` } }
  expect(await call('POST', '/channels', slack)).toMatchObject({ status: 201 })
  const condition = { signal: 'tokens', window: '1m', threshold: 0 }
  const timing = { interval: '10s', delay: '0s', grouping: { wait: '0s' } }
  const body = { name: 'chatty', severity: 'low', condition, ...timing, notify: ['chat'] }
  expect(await call('POST', '/rules', body)).toMatchObject({ status: 201 })
  await loopOnce()
  const text = await eventually('Slack has the message', async () => {
    const posted = receiver.received.find(({ path }) => path?.startsWith('/services/'))
    return posted === undefined ? undefined : String(JSON.parse(posted.body).text)
  })
  const [, link = ''] = /<([^|>]+)\|Acknowledge>/.exec(text) ?? []
  const url = new URL(link)
  expect(url.origin + url.pathname).toBe('https://looptrace.example/incident')
  const page = await fetch(`${cluster.api.base_url}${url.pathname}`)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Acknowledge')])
  const use = async (path: string, sent: object = {}) => {
    const reply = await fetch(
      `${cluster.api.base_url}/api/v2/observability/incident-links/${path}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: url.hash.replace('#token=', ''), ...sent }),
      },
    )
    return [reply.status, await reply.json()]
  }
  expect(await use('lookup')).toEqual([200, expect.objectContaining({ action: 'ack' })])
  const acknowledged = expect.objectContaining({ state: 'acknowledged' })
  expect(await use('confirm', { note: 'ada: mine' })).toEqual([200, acknowledged])
  const gone = expect.objectContaining({ code: 'incident_link_not_found' })
  expect(await use('confirm')).toEqual([404, gone])
  const trail = await fetch(
    `${cluster.api.base_url}/api/v2/audit/events?action=confirmIncidentLink`,
    { headers: { authorization: `Bearer ${token}` } },
  )
  const { events } = (await trail.json()) as { events: object[] }
  const project_id = cluster.login.project_id
  expect(events).toContainEqual(expect.objectContaining({ outcome: 'succeeded', project_id }))
  expect(JSON.stringify(events)).not.toContain('lta_')
}, 120_000)

test('a rule on tokens opens in time, with the calls that raised it; the backtest agrees', async () => {
  const condition = { signal: 'tokens', window: '1m', threshold: 0 }
  const timing = { interval: '10s', delay: '0s', grouping: { wait: '0s' } }
  const body = { name: 'tokens', severity: 'low', condition, ...timing, notify: ['on-call'] }
  expect(await call('POST', '/rules', body)).toMatchObject({ status: 201 })
  await loopOnce()
  const { incident } = await message('opened', { rule: 'tokens' })
  const { body: shown } = await call('GET', `/${incident.incident_id}`)
  const traces = (shown['evidence'] as { kind: string; links: object }[]).filter(
    ({ kind }) => kind === 'trace',
  )
  expect(traces[0]?.links).toHaveProperty('trace')
  expect(shown['series']).toMatchObject({ threshold: 0 })

  const file = join(server.directory, 'tokens.yaml')
  await writeFile(file, tokensYaml)
  const keys = `${cluster.api.base_url}/api/v2/access/projects/${cluster.login.project_id}/api-keys`
  const made = await fetch(keys, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'backtest', scopes: ['incidents:read'] }),
  })
  const { key } = (await made.json()) as { key: string }
  // A window counts in a backtest once it is wholly after the first stored row.
  await exportSpan(Date.now() - 600_000)
  await eventually('the backtest fires', async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [main, 'rules', 'backtest', file, '--days', '1', '-o', 'json'],
      { env: { ...process.env, LOOPTRACE_URL: cluster.api.base_url, LOOPTRACE_API_KEY: key } },
    )
    return /"type": ?"fired"/.test(stdout)
  })
}, 120_000)

const tokensYaml = `
apiVersion: looptrace.dev/v1alpha1
kind: IncidentRule
metadata: { name: tokens }
spec:
  projectRef: { organization: default, name: default }
  condition: { signal: tokens, window: 1m, threshold: "0" }
  interval: 10s
  delay: 0s
  severity: low
`

type Message = {
  reason: string
  incident: { incident_id: string; severity: string; evidence: readonly object[] }
}

/** Waits for a message whose signature the published package accepts. */
async function message(reason: string, incident: object = {}): Promise<Message> {
  const webhook = new Webhook(signing_secret)
  return eventually(`the message ${reason}`, () => {
    const signed = receiver.received.filter(({ headers }) => 'webhook-id' in headers)
    const messages = signed.map(({ headers, body }) => {
      const { data } = webhook.verify(body, headers as Record<string, string>) as { data: Message }
      return data
    })
    return messages.find((one) => one.reason === reason && isSubset(incident, one.incident))
  })
}

function isSubset(part: object, whole: object): boolean {
  return Object.entries(part).every(([name, value]) => Reflect.get(whole, name) === value)
}

/** Runs the agent that repeats a call, through the proxy. */
async function loopOnce(): Promise<void> {
  await cluster.provider.script(scenarioScript)
  const client = new OpenAI({
    baseURL: `${cluster.proxy.base_url}/v1`,
    apiKey: 'provider-key-of-the-agent',
    defaultHeaders: {
      'X-API-Key': cluster.login.project_key,
      'X-Task-ID': `loop-${randomUUID()}`,
      'X-Task-Name': 'refunds',
    },
  })
  const loop = scenarios.find(({ ill }) => ill.finding.kind === 'loop')
  if (loop === undefined) throw new Error('no scenario has a loop')
  await runAgent(client, loop.ill.run)
}

/** Exports a span of this instant over OTLP. */
async function exportSpan(time_ms: number): Promise<void> {
  const startTimeUnixNano = `${time_ms}000000`
  const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
  const span = { ...ids, name: 'earlier', startTimeUnixNano, endTimeUnixNano: startTimeUnixNano }
  const reply = await fetch(`${cluster.proxy.base_url}/v1/traces`, {
    method: 'POST',
    headers: { 'x-api-key': cluster.login.project_key, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
  })
  if (!reply.ok) throw new Error(await reply.text())
}

async function apply(yaml: string): Promise<void> {
  const { status, stderr } = await server.kubectl(['apply', '-n', namespace, '-f', '-'], {
    input: yaml,
  })
  if (status !== 0) throw new Error(stderr)
}

/** Requests a reconcile, instead of waiting for the next one of the operator. */
async function reconcile(resource: string): Promise<void> {
  const requested = `looptrace.dev/reconcile-requested-at=${new Date().toISOString()}`
  const { status, stderr } = await server.kubectl([
    'annotate',
    resource,
    '-n',
    namespace,
    requested,
  ])
  if (status !== 0) throw new Error(stderr)
}

async function waitFor(resource: string, condition: string): Promise<void> {
  const args = ['wait', resource, '-n', namespace, `--for=condition=${condition}`, '--timeout=90s']
  const { status, stderr } = await server.kubectl(args, { timeout_ms: 100_000 })
  if (status === 0) return
  const { stdout } = await server.kubectl(['get', resource, '-n', namespace, '-o', 'yaml'])
  throw new Error(`${stderr}\n${stdout}\n${operator.output().slice(-4000)}`)
}

type Reply = { status: number; body: Record<string, unknown>; etag: string | undefined }

async function call(
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  etag?: string,
): Promise<Reply> {
  const url = `${cluster.api.base_url}/api/v2/observability/incidents${path}`
  const reply = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'x-project-id': cluster.login.project_id,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...(etag !== undefined && { 'if-match': etag }),
    },
    ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
  })
  const json = (await reply.json()) as Record<string, unknown>
  return { status: reply.status, body: json, etag: reply.headers.get('etag') ?? undefined }
}
