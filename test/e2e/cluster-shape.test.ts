import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routeCatalogue } from '../../src/roles/catalogues.ts'
import { type Api, apiByKey, apiByToken } from '../support/clients/api-reader.ts'
import { taskPath } from '../support/clients/shown-task.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { type RawPost, rawPost } from '../support/raw-post.ts'
import { runRole, startService } from '../support/service.ts'

/** Behaviour that depends on separate processes for the roles; the client suite tests the rest. */
let cluster: Cluster

beforeAll(async () => {
  cluster = await startCluster({
    env: {
      LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0',
      LOOPTRACE_PROXY_KEY_CACHE_TTL_MS: '100',
    },
    script: { steps: [{ match: { stream: true }, stream: { chunks: 20, delay_ms: 50 } }] },
  })
  const spent = Object.entries(cluster.start_up_ms).map(([what, ms]) => `${what} ${Math.round(ms)}`)
  console.log(`the cluster was ready after ${spent.join(', ')} ms`)
})

afterAll(() => cluster?.stop())

function complete(task_id: string, about: { url?: string; key?: string; stream?: boolean } = {}) {
  const { url = cluster.proxy.base_url, key = cluster.login.project_key, stream = false } = about
  const messages = [{ role: 'user', content: 'Hello' }]
  return rawPost(
    `${url}/v1/chat/completions`,
    { model: 'gpt-4.1-mini', messages, stream },
    { 'x-api-key': key, authorization: 'Bearer provider-key', 'x-task-id': task_id },
  )
}

async function statusOf({ answer }: RawPost): Promise<number> {
  return (await answer).status
}

const api = () => apiByKey({ api_url: cluster.api.base_url, login: cluster.login })

/** For results that follow soon, also on a busy machine. */
const patience = { timeout_ms: 30_000, interval_ms: 50 }

function callsOf(task_id: string, calls: number): Promise<Record<string, unknown>> {
  return eventually(
    `${calls} calls of ${task_id}`,
    async () => {
      const { body } = await api().get(taskPath(task_id))
      return body['calls'] === calls ? body : undefined
    },
    patience,
  )
}

async function probe(url: string, path: string): Promise<number> {
  return (await fetch(url + path)).status
}

const roles = () => [cluster.proxy, cluster.api, cluster.worker]

/** Paths that clients of providers, exporters and the SDKs of Langfuse call. */
const ofClients = /^\/(v1|v1beta|openai|api\/public)\//

describe('each role', () => {
  test.each([
    ['proxy', (url: string) => ofClients.test(url)],
    ['api', (url: string) => !ofClients.test(url)],
  ] as const)('%s serves its routes and describes exactly these', async (role, isOwn) => {
    const answer = await fetch(`${cluster[role].base_url}/openapi.json`)
    const document = (await answer.json()) as { paths: object }
    const catalogue = routeCatalogue()
    const urls = catalogue.map(({ url }) => url)
    const own = urls.filter((url) => isOwn(url) || url === '/' || url === '/openapi.json')
    // Pages are served, and are no part of the API.
    const pages = new Set(catalogue.flatMap(({ page, url }) => (page ? [url] : [])))
    expect(pages.size).toBeGreaterThan(0)
    expect(new Set(Object.keys(document.paths))).toEqual(new Set(own).difference(pages))
    const html = await (await fetch(`${cluster.api.base_url}/sign-in`)).text()
    const [, file = ''] = /assets\/([\w-]+\.js)/.exec(html) ?? []
    const others = new Set(catalogue.flatMap(({ method, url }) => (method === 'GET' ? [] : [url])))
    for (const url of own.filter((each) => pages.has(each) && !others.has(each))) {
      const page = await fetch(cluster[role].base_url + url.replace('{file}', file))
      expect([url, page.status]).toEqual([url, 200])
    }
    for (const url of urls.filter((other) => !own.includes(other))) {
      const elsewhere = await fetch(cluster[role].base_url + url)
      expect([url, elsewhere.status]).toEqual([url, 404])
    }
  })

  test('serves probes and metrics; the worker listens on no other port', async () => {
    expect(cluster.worker.base_url).toBe('')
    for (const { management_url } of roles()) {
      expect(await probe(management_url, '/livez')).toBe(200)
      expect(await probe(management_url, '/readyz')).toBe(200)
      expect(await probe(management_url, '/metrics')).toBe(200)
    }
  })
})

describe('migrate', () => {
  test('twice at once, on current stores: both succeed, without a second login', async () => {
    const runs = await Promise.all([
      runRole('migrate', cluster.env),
      runRole('migrate', cluster.env),
    ])
    for (const { status, output } of runs) {
      expect(status).toBe(0)
      expect(output).toContain('{"schema":"current"}')
      expect(output).not.toContain('first_login')
    }
  })

  test('check says that both stores are current', async () => {
    const { status, output } = await runRole('migrate check', cluster.env)
    expect(status).toBe(0)
    expect(JSON.parse(output.split('\n')[0] ?? '')).toMatchObject({
      postgres: expect.any(Object),
      clickhouse: expect.any(Object),
    })
  })
})

describe('a second process of each role', () => {
  test('shares the work, keys and tokens with the first', async () => {
    await using parts = new AsyncDisposableStack()
    const start = async (role: string) => {
      const data = `${cluster.directory}/second-${role}`
      const env = { ...cluster.env, LOOPTRACE_DATA_DIRECTORY: data }
      const service = await startService(role, env)
      parts.defer(async () => void (await service.stop()))
      return service
    }
    const [proxy, secondApi] = await Promise.all(['proxy', 'api', 'worker'].map(start))
    const url = proxy?.base_url ?? ''
    const both = [complete('shared'), complete('shared', { url })]
    expect(await Promise.all(both.map(statusOf))).toEqual([200, 200])
    await callsOf('shared', 2)

    const token = await tokenApi()
    const elsewhere = token.at(secondApi?.base_url ?? '')
    expect(await elsewhere.get(taskPath('shared'))).toEqual(await token.get(taskPath('shared')))
  })
})

test('a key created at the api works at the proxy, and stops working when it is revoked', async () => {
  const token = await tokenApi()
  const keys = `/api/v2/access/projects/${cluster.login.project_id}/api-keys`
  const made = await token.post(keys, { name: 'short-lived' })
  expect(made.status).toBe(201)
  const key = String(made.body['key'])
  expect(await statusOf(complete('short-lived', { key }))).toBe(200)
  expect((await token.post(`${keys}/${made.body['id']}/revoke`)).status).toBe(200)
  await eventually(
    'the refusal of the revoked key',
    async () => (await statusOf(complete('short-lived', { key }))) === 401,
    patience,
  )
})

describe('a role that stops', () => {
  test('as proxy ends its streams first, and starts again on its port', async () => {
    const stream = complete('rolling', { stream: true })
    await stream.firstBytes
    const stopped = cluster.proxy.stop()
    const { body, complete: isWhole } = await stream.answer
    expect([isWhole, body.toString().endsWith('data: [DONE]\n\n')]).toEqual([true, true])
    expect(await stopped).toBe(0)
    await cluster.proxy.start()
    expect(await callsOf('rolling', 1)).toMatchObject({ errors: 0, cancelled: 0 })
  })

  test('as worker leaves messages that arrive in between in the queue', async () => {
    expect(await cluster.worker.stop()).toBe(0)
    const calls = Array.from({ length: 5 }, () => complete('while no worker runs'))
    expect(await Promise.all(calls.map(statusOf))).toEqual(Array(5).fill(200))
    expect((await api().get(taskPath('while no worker runs'))).status).toBe(404)
    await cluster.worker.start()
    await callsOf('while no worker runs', 5)
  })
})

function tokenApi(): Promise<Api> {
  return apiByToken({ api_url: cluster.api.base_url, login: cluster.login })
}
