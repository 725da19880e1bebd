import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type InvoiceAgent,
  inventedValue,
  invoiceAgent,
  invoiceSteps,
  invoiceText,
  runInvoiceAgent,
} from '../support/agents/invoice-agent.ts'
import { main } from '../support/bundle.ts'
import { type Api, apiByToken } from '../support/clients/api-reader.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import type { Json } from '../support/knowledge-api.ts'
import { type ModelServer, materialOf, replyChat, serveModel } from '../support/model-server.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { Secrets } from '../support/secrets.ts'

/** An agent that invents a figure, in the shape of a cluster: each role is a process of its own. */
let parts: AsyncDisposableStack
let cluster: Cluster
let judge: ModelServer
/** A search endpoint that lies: its only results are addresses that must not be reached. */
let search: Receiver
let webhook: Receiver
let people: Api
/** All replies to `people`. */
let replies = ''

const secrets = new Secrets()
const judgeKey = secrets.add('key of the judge', 'sk-judge-7TqW8nB1vC6xZ0pL5yHk2')
const V = '/api/v1/verification'

const ill = invoiceAgent('INV-7001', { ill: true })
const healthy = invoiceAgent('INV-7002', { ill: false })
const later = invoiceAgent('INV-7003', { ill: false })

beforeAll(async () => {
  parts = new AsyncDisposableStack()
  // The judge supports every claim with a quote that it invents.
  judge = parts.use(
    await serveModel((response, request) => {
      const { claim } = materialOf(request)
      const verdict = { verdict: 'supported', passage: 0, quote: `It is certain: ${claim}` }
      replyChat(response, verdict, { prompt_tokens: 100, completion_tokens: 20 })
    }),
  )
  search = await startReceiver()
  parts.defer(() => search.close())
  search.answer = (response) => {
    const results = [`${webhook.url}/secret`, 'http://169.254.169.254/latest/meta-data/'].map(
      (url) => ({ url, title: ill.answer, content: ill.answer }),
    )
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }))
  }
  webhook = await startReceiver()
  parts.defer(() => webhook.close())
  const model = {
    ...{ name: 'liar', type: 'openai', use: ['judge'], url: judge.url, model: 'liar-1' },
    ...{ api_key_env: 'JUDGE_KEY', cents_per_million_input: 100, cents_per_million_output: 400 },
  }
  const allowed = [new URL(judge.url).port, webhook.port].map((port) => `127.0.0.0/8:${port}`)
  cluster = parts.use(
    await startCluster({
      env: {
        LOOPTRACE_LOG_LEVEL: 'debug',
        LOOPTRACE_OUTBOUND_ALLOWED: allowed.join(','),
        LOOPTRACE_VERIFICATION_MODELS: JSON.stringify([model]),
        LOOPTRACE_VERIFICATION_SEARCH_URL: `${search.url}/search`,
        JUDGE_KEY: judgeKey,
      },
      script: { steps: invoiceSteps([ill, healthy, later]) },
    }),
  )
  people = await apiByToken({ api_url: cluster.api.base_url, login: cluster.login })
}, 120_000)
afterAll(() => parts.disposeAsync())

async function run(agent: InvoiceAgent, task_id: string): Promise<void> {
  const { base_url } = cluster.proxy
  await runInvoiceAgent({ base_url, project_key: cluster.login.project_key }, agent, { task_id })
}

async function get(path: string): Promise<Json> {
  const { status, body } = await people.get(path)
  replies += JSON.stringify(body)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

/** Reads the task once its last call was analysed. */
async function detected(task_id: string): Promise<Json> {
  await eventually(`task ${task_id} was analysed`, async () => {
    const { status, body } = await people.get(`/api/v1/tasks/${task_id}/findings`)
    return status === 200 && body['is_current'] === true && body['detected_at'] !== null
  })
  return get(`/api/v1/tasks/${task_id}/findings`)
}

async function verifyTask(task_id: string, more: object = {}): Promise<Json> {
  const reply = await people.post(`${V}/tasks/${task_id}/verify`, { async_mode: false, ...more })
  expect(reply).toMatchObject({ status: 200, body: { status: 'verified' } })
  return reply.body
}

/** From the agent's last call to the finding. */
const finding_ms_max = 5_000
let trace_id: string
let run_id: string

test('an invented figure is found at its offsets within 5 s, and wakes a person', async () => {
  const incidents = '/api/v2/observability/incidents'
  const of = `?project_id=${cluster.login.project_id}`
  const channel = { name: 'on-call', webhook: { url: `${webhook.url}/hook` } }
  expect(await people.post(`${incidents}/channels${of}`, channel)).toMatchObject({ status: 201 })
  const rule = {
    ...{ name: 'invented-value', severity: 'high', notify: ['on-call'] },
    event: { match: { source: 'finding', kinds: ['claim'], types: ['unsupported_value'] } },
    grouping: { wait: '0s', interval: '0s' },
  }
  expect(await people.post(`${incidents}/rules${of}`, rule)).toMatchObject({ status: 201 })
  await run(ill, 'ill')
  const ended_ms = Date.now()
  const findings = await eventually('the finding', async () => {
    const { status, body } = await people.get('/api/v1/tasks/ill/findings')
    const list = (status === 200 ? body['findings'] : []) as Json[]
    return list.length > 0 && list
  })
  const took_ms = Date.now() - ended_ms
  process.stdout.write(`unsupported_value: found ${took_ms} ms after the answer\n`)
  expect(took_ms).toBeLessThan(finding_ms_max)
  expect(findings).toMatchObject([{ kind: 'claim', type: 'unsupported_value', severity: 'medium' }])
  const [value, ...others] = findings[0].evidence.values
  expect(others).toEqual([])
  expect(value).toMatchObject({ note: 'not found in what the agent saw' })
  expect(ill.answer.slice(...value.at)).toBe(inventedValue)
  const message = await eventually('the webhook', () => webhook.received[0])
  expect(JSON.parse(message.body)).toMatchObject({
    data: { reason: 'opened', incident: { rule: 'invented-value', severity: 'high' } },
  })
})

test('the verified claims: one has its quote, one is named, and the judge supports none', async () => {
  ;({ trace_id, run_id } = await verifyTask('ill', { verifiers: ['kb', 'citation', 'web'] }))
  const { claims } = await get(`${V}/traces/${trace_id}/claims`)
  const [seen, open, invented] = claims
  for (const { at, text } of claims) expect(ill.answer.slice(...at)).toBe(text)
  expect(claims.map((claim: Json) => claim.verdict)).toEqual([
    'supported',
    expect.stringMatching(/^(?:unverifiable|not_found)$/),
    'not_found',
  ])
  expect(seen.text).toBe(ill.claims.seen)
  const quotes = seen.results.flatMap(({ evidence }: Json) => evidence)
  expect(quotes).toContainEqual(
    expect.objectContaining({ kind: 'trace', source: 'tool get_invoice' }),
  )
  for (const { quote, at } of quotes) expect(invoiceText(ill.id).slice(...at)).toBe(quote)
  expect(open.text).toBe(ill.claims.open)
  const unsupported = invented.values.filter((value: Json) => value.verdict === 'unsupported')
  expect(unsupported).toHaveLength(1)
  expect(ill.answer.slice(...unsupported[0].at)).toBe(inventedValue)
  expect(invented.results[0].note).toContain('not found in what the agent saw')
})

test('the lying judge and search endpoint were asked, and only addresses of the installation', async () => {
  const { calls } = await get(`${V}/runs/${run_id}/calls`)
  const judged = calls.filter(({ model }: Json) => model === 'liar')
  expect(judged).not.toHaveLength(0)
  expect(judged).toHaveLength(judge.seen.length)
  for (const call of judged) {
    // 100 tokens at a dollar and 20 at four dollars per million.
    expect(call).toMatchObject({ outcome: 'answered', verifier: 'kb', cost_usd: '0.00018' })
  }
  for (const { authorization } of judge.seen) expect(authorization).toBe(`Bearer ${judgeKey}`)
  expect(search.received).not.toHaveLength(0)
  expect(webhook.received.map(({ path }) => path)).not.toContain('/secret')
  for (const { path } of search.received) expect(path).not.toContain('INV-7001')
})

test('the healthy twin is clean', async () => {
  await run(healthy, 'healthy')
  expect(await detected('healthy')).toMatchObject({ findings: [], total: 0 })
  await verifyTask('healthy', { verifiers: [{ name: 'kb', options: { judge: false } }] })
  const task = await get('/api/v1/tasks/healthy')
  expect(task).toMatchObject({ verification_state: 'verified', verdict: { root_cause: null } })
  expect(task.trust_score).toBeGreaterThan(0.8)
})

test('a document decides the claim that the agent could not know', async () => {
  const content = `Payments of ${ill.id}.\n\nYou have already paid ${inventedValue} of it. The rest is open.`
  const document = { name: 'payments', format: 'text', content }
  const added = await people.post(`${V}/documents`, document)
  expect(added).toMatchObject({ status: 201 })
  const more = { verifiers: [{ name: 'kb', options: { judge: false } }], force_reverify: true }
  const again = await verifyTask('ill', more)
  const diff = await get(`${V}/traces/${trace_id}/diff`)
  expect(diff).toMatchObject({
    ...{ same_answer: true, added: [], removed: [] },
    changed: [{ from: { verdict: 'not_found' }, to: { verdict: 'supported' } }],
  })
  const { claims } = await get(`${V}/traces/${trace_id}/claims?run_id=${again.run_id}`)
  const [evidence] = claims[2].results[0].evidence
  const { document_id } = added.body
  expect(evidence).toMatchObject({ kind: 'document', document: { document_id, version: 1 } })
  expect(content.slice(...evidence.at)).toBe(evidence.quote)
  // The agent did not see the document.
  expect(await detected('ill')).toMatchObject({ total: 1 })
})

test('the command line computes the same score, from the export and its sources', async () => {
  expect(await people.post(`${V}/runs/${run_id}/recompute`)).toMatchObject({
    ...{ status: 200, body: { identical: true, differences: [] } },
  })
  const folder = join(cluster.directory, 'sources')
  await mkdir(folder)
  const file = join(cluster.directory, 'run.json')
  await writeFile(file, JSON.stringify(await get(`${V}/runs/${run_id}/export`)))
  await writeFile(join(folder, 'answer.txt'), ill.answer)
  await writeFile(join(folder, 'invoice.txt'), invoiceText(ill.id))
  const recompute = () =>
    promisify(execFile)(process.execPath, [
      ...[main, 'trust', 'recompute', '--file', file, '--source', folder],
    ])
  expect((await recompute()).stdout).toContain('identical')
  const exported = await get(`${V}/runs/${run_id}/export`)
  exported.run.trust_score -= 0.01
  await writeFile(file, JSON.stringify(exported))
  await expect(recompute()).rejects.toMatchObject({ code: 1 })
})

test('a policy verifies the next completed task by itself', async () => {
  const policy = { enabled: true, sample_percent: 100, verifiers: ['kb'] }
  expect(await people.put(`${V}/policy`, policy)).toMatchObject({ status: 200 })
  await run(later, 'later')
  await detected('later')
  expect(await people.put('/api/v1/tasks/later/complete', {})).toMatchObject({ status: 200 })
  const task = await eventually(
    'the task is verified',
    async () => {
      const now = await get('/api/v1/tasks/later')
      return now.verification_state === 'verified' && now
    },
    { timeout_ms: 15_000 },
  )
  expect(task.trust_score).toBeGreaterThan(0.8)
  const { runs } = await get(`${V}/tasks/later`)
  expect(runs).toMatchObject([{ trigger: 'policy', requested_by: 'policy', state: 'verified' }])
})

test('verification is in no statistic of the project, and its key appears nowhere', async () => {
  const asked = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) }
  const { status, body } = await people.post('/api/v2/observability/query/aggregate', {
    ...{ entity: 'observations', window: asked, group_by: ['model'] },
    measures: [{ fn: 'count', as: 'n' }],
    where: { field: 'is_call', op: 'eq', value: true },
  })
  expect(status).toBe(200)
  // Three agents with two calls each.
  expect(body['rows']).toEqual([{ model: 'gpt-4.1-mini', n: 6 }])
  const { tasks } = await get('/api/v1/tasks')
  expect(tasks.map(({ task_id }: Json) => task_id).toSorted()).toEqual(['healthy', 'ill', 'later'])
  const { trust_score, calls } = await get('/api/v1/tasks/ill')
  expect([calls, typeof trust_score]).toEqual([2, 'number'])
  replies += JSON.stringify(await get(`${V}/config`))
  const metrics = await Promise.all(
    [cluster.api, cluster.worker, cluster.proxy].map(async ({ management_url }) =>
      (await fetch(`${management_url}/metrics`)).text(),
    ),
  )
  expect(metrics[1]).toContain('looptrace_verification')
  expect(secrets.in([...metrics, replies, cluster.output()].join('\n'))).toEqual([])
  for (const text of [cluster.output(), ...metrics]) expect(text).not.toContain(inventedValue)
  expect(await secrets.inFiles(cluster.directory)).toEqual([])
})
