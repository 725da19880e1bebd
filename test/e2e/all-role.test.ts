import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routeCatalogue } from '../../src/roles/catalogues.ts'
import {
  inventedValue,
  invoiceAgent,
  invoiceSteps,
  runInvoiceAgent,
} from '../support/agents/invoice-agent.ts'
import { apiByKey, apiByToken } from '../support/clients/api-reader.ts'
import { type FirstLogin, providerSettings } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { descendants, processes } from '../support/processes.ts'
import { type ProviderProcess, startProviderProcess } from '../support/provider.ts'
import { rawPost } from '../support/raw-post.ts'
import { beginRole, runRole, type Service, startService } from '../support/service.ts'
import { indentedCommands, runShell } from '../support/shell-commands.ts'
import { budget, soakOnly } from '../support/suite/budget.ts'

/** Role `all` as `make run` starts it, over two starts on one data directory. */
let parts: AsyncDisposableStack
let directory: string
let provider: ProviderProcess
let service: Service
let login: FirstLogin
const agent = invoiceAgent('INV-7001', { ill: true })
let ready_ms: number

const settings = () => ({
  LOOPTRACE_DATA_DIRECTORY: join(directory, 'data'),
  ...providerSettings(provider),
})

async function start(env: Record<string, string> = {}): Promise<Service> {
  const started = await startService('all', { ...settings(), ...env }, { detached: true })
  parts.defer(async () => void (await started.stop()))
  return started
}

beforeAll(async () => {
  parts = new AsyncDisposableStack()
  directory = await mkdtemp(join(tmpdir(), 'looptrace-all-'))
  // Under root, PostgreSQL runs as another user, who needs access to this folder.
  await chmod(directory, 0o711)
  parts.defer(() => rm(directory, { recursive: true }))
  const slowly = { chunks: 20, delay_ms: 50 }
  provider = await startProviderProcess({
    script: { steps: [...invoiceSteps([agent]), { match: { stream: true }, stream: slowly }] },
  })
  parts.defer(() => provider.stop())
  const before_ms = performance.now()
  service = await start()
  ready_ms = performance.now() - before_ms
  const file = await readFile(join(directory, 'data', 'first-login.json'), 'utf8')
  login = JSON.parse(file)
})

afterAll(() => parts.disposeAsync())

const api = () => apiByKey({ api_url: service.base_url, login })

async function tasks(): Promise<Record<string, unknown>[]> {
  const { status, body } = await api().get('/api/v1/tasks?sort=started_at&order=asc')
  expect(status).toBe(200)
  return body['tasks'] as Record<string, unknown>[]
}

function complete(task_id: string, body: object = {}) {
  const call = { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Hello' }], ...body }
  return rawPost(`${service.base_url}/v1/chat/completions`, call, {
    'x-api-key': login.project_key,
    authorization: 'Bearer provider-key',
    'x-task-id': task_id,
  })
}

describe('the first start', () => {
  test('prints its address, the key, the login and a call to paste', async () => {
    console.log(`role all was ready ${Math.round(ready_ms)} ms after an empty folder`)
    // Log lines are written in the background, so `ready` may come before the greeting.
    const call = 'curl $LOOPTRACE_URL/v1/chat/completions'
    await eventually('the greeting', () => service.output().includes(call))
    const output = service.output()
    expect(output).toContain(`  Base URL   ${service.base_url}\n`)
    expect(output).toMatch(/^ {2}Key {8}lt_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/m)
    expect(output).toContain(`  Key        ${login.project_key}\n`)
    expect(output).toContain(`  Login      ${login.admin_email}\n`)
    expect(output).toContain(`  Password   ${login.admin_password}\n`)
    expect(output).toContain(`  Data       ${join(directory, 'data')}\n`)
    expect(output).toContain(`export LOOPTRACE_URL=${service.base_url}\n`)
  })

  test('logs JSON if it does not write to a terminal, and only a few lines', async () => {
    // Log lines are written in the background, so the greeting may come before the last one.
    const messages = await eventually('the last line of the start', () => {
      const lines = service
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{"level"'))
      const logged = lines.map((line) => JSON.parse(line).msg)
      return logged.includes('ready') && logged
    })
    expect(messages.indexOf('ready')).toBeLessThan(6)
  })

  test('plays the sample and prints the verdicts that the API gives', async () => {
    await eventually('the sample', () => service.output().includes('See the loop'), {
      timeout_ms: 60_000,
    })
    const played = await tasks()
    expect(played.map(({ task_id, calls, state }) => [task_id, calls, state])).toEqual([
      ['refund-1042', 7, 'completed'],
      ['refund-1043', 5, 'completed'],
    ])
    const output = service.output().replaceAll(/\s+/g, ' ')
    for (const { verdict } of played) {
      const { summary } = verdict as { summary: string }
      expect(output).toContain(` ${summary} `)
    }
    expect(played[0]).toMatchObject({ verdict: { root_cause: { type: 'repeat_call', step: 1 } } })
    expect(played[1]).toMatchObject({ verdict: { worst_severity: null, root_cause: null } })
    expect(output).toContain('refund-1042 went wrong at step 2 of 7: repeat_call')
    expect(output).toContain('refund-1043 nothing wrong found')
    const timeline = await api().get('/api/v1/tasks/refund-1042/timeline')
    const entries = timeline.body['entries'] as Record<string, unknown>[]
    expect(entries.filter(({ role }) => role === 'tool_call')).toHaveLength(6)
    expect(entries.filter(({ streamed }) => streamed === true)).toHaveLength(2)
    expect((await provider.seen()).total).toBe(0)
  })

  test('tags the sample, so that it can be identified', async () => {
    const { body } = await api().get('/api/v1/tasks?user_id=looptrace-sample')
    expect(body['tasks']).toHaveLength(2)
    for (const { name } of body['tasks'] as { name: string }[]) expect(name).toMatch(/^Sample: /)
  })

  test('logs no line for reads', async () => {
    const before = service.output().length
    await api().get('/api/v1/tasks/refund-1042/timeline')
    await api().post('/api/v2/observability/query', {
      entity: 'tasks',
      window: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
    })
    await fetch(`${service.management_url}/readyz`)
    await fetch(service.base_url)
    expect(service.output().slice(before)).toBe('')
  })

  test('keeps its secrets in files that only their owner can read', async () => {
    const data = join(directory, 'data')
    const modes = Object.fromEntries(
      await Promise.all(
        ['first-login.json', 'secret-key', 'clickhouse/password', 'postgres/password'].map(
          async (file) => [file, (await stat(join(data, file))).mode & 0o777] as const,
        ),
      ),
    )
    expect(new Set(Object.values(modes))).toEqual(new Set([0o600]))
    expect(await readdir(data)).toEqual(
      expect.arrayContaining(['clickhouse', 'first-login.json', 'postgres', 'queue', 'secret-key']),
    )
  })

  test('serves probes and metrics on a separate port', async () => {
    const get = async (path: string) => {
      const answer = await fetch(service.management_url + path)
      return { status: answer.status, text: await answer.text() }
    }
    expect(await get('/livez')).toEqual({ status: 200, text: 'ok\n' })
    const ready = await get('/readyz')
    expect(ready.status).toBe(200)
    expect(ready.text).toMatch(/^ok postgres\nok clickhouse\n/)
    // The edge's ledger entries follow within a second of the recorded calls.
    await eventually('nothing waits in the queue', async () => {
      const { status, text } = await get('/metrics')
      return status === 200 && /^looptrace_queue_messages\{state="pending"\} 0$/m.test(text)
    })
    expect((await fetch(`${service.base_url}/metrics`)).status).toBe(404)
  })

  test('describes its routes, and no others', async () => {
    const document = await (await fetch(`${service.base_url}/openapi.json`)).json()
    const paths = Object.entries((document as { paths: Record<string, object> }).paths)
    const served = paths.flatMap(([url, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${url}`),
    )
    const [routes, pages] = [false, true].map((isPage) =>
      routeCatalogue().filter(({ page }) => (page ?? false) === isPage),
    )
    expect(served.toSorted()).toEqual(
      routes?.map(({ method, url }) => `${method} ${url}`).toSorted(),
    )
    expect(pages?.map(({ url }) => url)).toContain('/invitation')
    const page = await (await fetch(`${service.base_url}/sign-in`)).text()
    const [, file = ''] = /assets\/([\w-]+\.js)/.exec(page) ?? []
    for (const { url, method } of pages ?? []) {
      if (method !== 'GET') continue
      const { status } = await fetch(service.base_url + url.replace('{file}', file))
      expect([url, status]).toEqual([url, 200])
    }
    const docs = await readFile(
      join(import.meta.dirname, '../../docs/reference/openapi.json'),
      'utf8',
    )
    expect(document).toEqual(JSON.parse(docs))
  })
})

describe('an impossible start', () => {
  test.concurrent.each([
    [{ LOOPTRACE_HTTP_PORT: 'eighty' }, /LOOPTRACE_HTTP_PORT: got "eighty", expected .*65535/],
    [{ LOOPTRACE_HTP_PORT: '80' }, /LOOPTRACE_HTP_PORT: unknown setting/],
    [{ LOOPTRACE_SECRET_KEY: 'short one' }, /LOOPTRACE_SECRET_KEY: got \(a secret\), .*32/],
  ])('names the setting: %j', async (env, message) => {
    const data = join(directory, 'never')
    const { status, output } = await runRole('all', { LOOPTRACE_DATA_DIRECTORY: data, ...env })
    expect(status).toBe(1)
    expect(output).toMatch(message)
    expect(output).not.toContain('short one')
    expect(output).not.toMatch(/\n\s+at /)
    expect(await readdir(directory)).not.toContain('never')
  })

  test('on the data of a running service reports it, and leaves that service alone', async () => {
    const ports = { LOOPTRACE_HTTP_PORT: '0', LOOPTRACE_MANAGEMENT_PORT: '0' }
    const { status, output, stderr } = await runRole('all', { ...settings(), ...ports })
    expect(status).toBe(1)
    const { pid } = service
    expect(stderr).toMatch(/^looptrace all: [^\n]+\n$/)
    expect(stderr).toContain(
      `${join(directory, 'data')} is in use by process ${pid}. Stop it first`,
    )
    expect(output).toBe(stderr)
    expect(await tasks()).toHaveLength(2)
  })
})

describe('Ctrl-C', () => {
  let pids: number[]

  test('stops it and its servers, after the streams in progress have ended', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => complete('right before the end').answer),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const stream = complete('under way', { stream: true })
    await stream.firstBytes
    pids = await descendants(service.pid)
    expect(pids.length).toBeGreaterThan(2)

    process.kill(-service.pid, 'SIGINT')
    const { body, complete: isWhole } = await stream.answer
    expect(isWhole).toBe(true)
    expect(body.toString()).toMatch(/data: \[DONE\]\n\n$/)
    expect(await service.ended).toBe(0)
  })

  test('leaves no process behind', async () => {
    const running = await processes()
    expect(running.filter(({ pid }) => pids.includes(pid))).toEqual([])
    expect(running.filter(({ command }) => command.includes(directory))).toEqual([])
  })
})

describe('the second start', () => {
  test('on a port in use is refused, with the address', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const env = { ...settings(), LOOPTRACE_HTTP_PORT: `${port}` }
    const { status, output } = await runRole('all', env)
    other.close()
    expect(status).toBe(1)
    expect(output).toContain(`127.0.0.1:${port}`)
    expect(output).not.toMatch(/\n\s+at /)
    const left = (await processes()).filter(({ command }) => command.includes(directory))
    expect(left).toEqual([])
  })

  test('finds its data, including the last calls, and plays no sample', async () => {
    const before_ms = performance.now()
    service = await start()
    const again_ms = Math.round(performance.now() - before_ms)
    console.log(`role all was ready ${again_ms} ms after a start on its data`)
    const known = await eventually(
      'the calls before Ctrl-C',
      async () => {
        const found = await tasks()
        return found.length === 4 ? found : undefined
      },
      { timeout_ms: 20_000, interval_ms: 100 },
    )
    expect(known.map(({ calls }) => calls)).toEqual([7, 5, 20, 1])
    expect(known.map(({ errors, cancelled }) => [errors, cancelled])).toEqual(Array(4).fill([0, 0]))
    expect(service.output()).not.toContain('refund-1042')
  })

  test('accepts the same key and login, and prints neither', async () => {
    const answer = await complete('after the restart').answer
    expect(answer.status).toBe(200)
    const token = await apiByToken({ api_url: service.base_url, login })
    expect((await token.get('/api/v1/tasks')).status).toBe(200)
    const output = service.output()
    expect(output).not.toContain(login.project_key)
    expect(output).not.toContain(login.admin_password)
    expect(output).toMatch(/key and login are in first-login\.json/)
    const commands = `${indentedCommands(output)
      .match(/^export .*$/gm)
      ?.join('\n')}
      printf %s "$LOOPTRACE_API_KEY"`
    expect(await runShell(commands, {})).toBe(login.project_key)
  })

  test('verifies an answer: the value of the tool is supported, the invented one is found', async () => {
    const task_id = randomUUID()
    const { base_url } = service
    const { project_key } = login
    await runInvoiceAgent({ base_url, project_key }, agent, { task_id })
    const findings = await eventually('the finding', async () => {
      const { body } = await api().get(`/api/v1/tasks/${task_id}/findings`)
      const list = (body['findings'] ?? []) as {
        evidence: { values: { at: [number, number] }[] }
      }[]
      return list.length > 0 && list
    })
    expect(findings).toMatchObject([{ type: 'unsupported_value' }])
    const [value] = findings[0]?.evidence.values ?? []
    expect(agent.answer.slice(...(value?.at ?? []))).toBe(inventedValue)
    const people = await apiByToken({ api_url: base_url, login })
    const path = `/api/v1/verification/tasks/${task_id}/verify`
    const { status, body } = await people.post(path, { async_mode: false })
    expect([status, body['status']]).toEqual([200, 'verified'])
    const claims = `/api/v1/verification/traces/${body['trace_id']}/claims`
    expect((await people.get(`${claims}?verdict=supported`)).body).toMatchObject({
      ...{ total: 1, claims: [{ text: agent.claims.seen }] },
    })
  })
})

describe('the sample run', () => {
  test(
    'is skipped if disabled',
    soakOnly('Every single machine of the other e2e tests starts without the sample.'),
    async () => {
      const data = join(directory, 'quiet')
      const quiet = await start({ LOOPTRACE_DATA_DIRECTORY: data, LOOPTRACE_DEMO: 'false' })
      const file = await readFile(join(data, 'first-login.json'), 'utf8')
      const quietApi = apiByKey({ api_url: quiet.base_url, login: JSON.parse(file) })
      const { body } = await quietApi.get('/api/v1/tasks')
      expect(body).toMatchObject({ tasks: [], total: 0 })
      expect(await quiet.stop()).toBe(0)
      expect(quiet.output()).not.toContain('refund-1042')
      expect(quiet.output()).not.toContain('sample')
    },
  )

  test('is played by the next start if the first one was killed before it', async () => {
    const data = join(directory, 'killed')
    const env = { ...settings(), LOOPTRACE_DATA_DIRECTORY: data, LOOPTRACE_HTTP_PORT: '0' }
    const first = beginRole('all', { ...env, LOOPTRACE_MANAGEMENT_PORT: '0' })
    await eventually('the first login', () => existsSync(join(data, 'sample-run-pending')), {
      timeout_ms: 90_000,
    })
    first.signal('SIGKILL')
    await first.ended
    // That a later start plays nothing is shown above too.
    const starts = budget({ test: 1, soak: 2 })
    for (const isPlayed of [true, false].slice(0, starts)) {
      const next = await start({ LOOPTRACE_DATA_DIRECTORY: data })
      const isReported = () => next.output().includes('See the loop')
      if (isPlayed) await eventually('the sample', isReported, { timeout_ms: 60_000 })
      const file = await readFile(join(data, 'first-login.json'), 'utf8')
      const { body } = await apiByKey({ api_url: next.base_url, login: JSON.parse(file) }).get(
        '/api/v1/tasks?sort=started_at&order=asc',
      )
      expect((body['tasks'] as { calls: number }[]).map(({ calls }) => calls)).toEqual([7, 5])
      expect([await next.stop(), isReported()]).toEqual([0, isPlayed])
    }
  })

  test(
    'may fail, and the service continues',
    soakOnly('test/api/sample-run.test.ts shows what a run reports when a call fails.'),
    async () => {
      const limited = await start({
        LOOPTRACE_DATA_DIRECTORY: join(directory, 'limited'),
        LOOPTRACE_PROXY_REQUESTS_PER_MINUTE_MAX: '1',
      })
      await eventually('the failure', () => limited.output().includes('the sample run failed'), {
        timeout_ms: 20_000,
      })
      expect((await fetch(`${limited.management_url}/readyz`)).status).toBe(200)
      expect(await limited.stop()).toBe(0)
    },
  )
})
