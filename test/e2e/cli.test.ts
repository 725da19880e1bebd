import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { main } from '../support/bundle.ts'
import { childEnv } from '../support/child-env.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  startApiServer,
} from '../support/kube/api-server.ts'
import { quarterOf } from '../support/suite/budget.ts'

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-cli-'))
})

afterAll(() => rm(directory, { recursive: true }))

type Result = { status: number; stdout: string; stderr: string }

/** The command line as a separate process, with no environment except the given variables. */
function looptrace(
  line: string,
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
): Promise<Result> {
  const args = [main, ...line.split(' ').filter((word) => word !== '')]
  const options = { cwd: directory, env: childEnv({ HOME: directory, ...env }) }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr })
    })
    child.stdin?.end(input)
  })
}

describe('help', () => {
  test.each(quarterOf(['--help', 'help', '-h']))(
    '%s lists every command, on standard output',
    async (word) => {
      const { status, stdout, stderr } = await looptrace(word)
      expect([status, stderr]).toEqual([0, ''])
      for (const name of ['all', 'migrate check', 'dead-letters replay', 'get', 'lint', 'ledger']) {
        expect(stdout).toContain(`  ${name} `)
      }
    },
  )

  test.each(quarterOf(['lint --help', 'help lint', 'lint -f x --help']))(
    '%s describes one command',
    async (line) => {
      expect(await looptrace(line)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('usage: looptrace lint -f <file|folder|->'),
      })
    },
  )

  test('an unknown command has status 2 and the list on standard error', async () => {
    expect(await looptrace('lnt -f x')).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('unknown role or command "lnt -f x"'),
    })
  })

  test('--version is that of the package', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(await looptrace('--version')).toMatchObject({ status: 0, stdout: `${version}\n` })
  })
})

describe('lint', () => {
  const policy = (days: number) =>
    `apiVersion: looptrace.dev/v1alpha1\nkind: RetentionPolicy\nmetadata: {name: a}\nspec: {projectRef: {name: a}, observations: {days: ${days}}}\n`

  test('behaves as in the guide', async () => {
    const guide = await readFile('docs/guides/lint-policies-in-ci.md', 'utf8')
    const [, path = '', yaml = ''] = /`(\S+\.yaml)`\n\n```yaml\n([\s\S]*?)```/.exec(guide) ?? []
    const [, command = ''] = /```sh\nlooptrace (.*)\n```/.exec(guide) ?? []
    const reports = [...guide.matchAll(/```text\n((?:policies|\d)[\s\S]*?)```/g)].map(
      ([, text]) => text,
    )
    expect(reports).toHaveLength(3)
    await mkdir(join(directory, dirname(path)), { recursive: true })
    const mended = yaml.replace('enable: true', 'enabled: true\n    afterDays: 7')
    const versions = [yaml, mended, mended.replace('days: 90', 'days: 30')]
    for (const [i, text] of versions.entries()) {
      await writeFile(join(directory, path), text)
      const { status, stdout } = await looptrace(command)
      expect([status, stdout]).toEqual([i === 2 ? 0 : 1, reports[i]])
    }
  })

  test('reads the standard input, and answers as JSON and YAML', async () => {
    const input = `${policy(1)}---\n${policy(0)}`
    const { status, stdout } = await looptrace('lint -f - -o json', { input })
    expect(status).toBe(1)
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({
      resources: 2,
      findings: [
        {
          file: '(stdin)',
          line: 8,
          message: expect.stringContaining('is also defined at (stdin):1'),
        },
        { file: '(stdin)', line: 9, column: 52, path: 'spec.observations.days', level: 'error' },
      ],
    })
    expect(parse((await looptrace('lint -f - -o yaml', { input })).stdout)).toEqual(report)
  })

  test('reads folders recursively, and several paths', async () => {
    await mkdir(join(directory, 'many/deep'), { recursive: true })
    await writeFile(join(directory, 'many/a.yaml'), policy(1))
    await writeFile(join(directory, 'many/deep/b.yml'), policy(0).replace('name: a}', 'name: b}'))
    await writeFile(join(directory, 'many/deep/notes.txt'), 'no: [yaml')
    const { status, stdout } = await looptrace('lint -f many -f many/a.yaml')
    expect(status).toBe(1)
    expect(stdout).toContain(
      'many/deep/b.yml:4:52: error: RetentionPolicy b: spec.observations.days',
    )
    expect(stdout).toContain(
      'many/a.yaml:3:18: error: RetentionPolicy a: metadata.name: is also defined at',
    )
    expect(stdout).toContain('3 resources: 2 errors')
  })

  test.each(
    quarterOf([
      ['nothing of ours', 'apiVersion: v1\nkind: Pod\n', 0],
      ['nothing of ours, strictly', 'apiVersion: v1\nkind: Pod\n', 1],
    ]),
  )('%s', async (name, input, expected) => {
    const line = name.endsWith('strictly') ? 'lint -f - --strict' : 'lint -f -'
    const { status, stdout } = await looptrace(line, { input })
    expect(status).toBe(expected)
    expect(stdout).toContain('warning: no resource of looptrace.dev found')
    expect(stdout).toContain('1 of other kinds skipped (1 Pod)')
  })

  test.each(
    quarterOf([
      ['lint', 'expected -f <file|folder|->'],
      ['lint -f nowhere.yaml', 'nowhere.yaml: no such file'],
      ['lint -f - -o csv', '--output: got "csv", expected one of table, json, yaml'],
      ['lint policies', 'got "policies", expected no further argument'],
    ]),
  )('%s has status 2', async (line, message) => {
    const { status, stdout, stderr } = await looptrace(line)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })

  test('has colours if requested, and none in a pipe or with NO_COLOR', async () => {
    const colour = String.fromCharCode(27)
    const input = policy(0)
    const run = async (env: Record<string, string>) =>
      (await looptrace('lint -f -', { input, env })).stdout.includes(colour)
    expect([await run({}), await run({ NO_COLOR: '1' })]).toEqual([false, false])
  })
})

test('test behaves as in the guide', async () => {
  const guide = await readFile('docs/guides/test-your-rules.md', 'utf8')
  const files = [...guide.matchAll(/`(rules\/\S+\.yaml)`\n\n```yaml\n([\s\S]*?)```/g)]
  const [, command = ''] = /```sh\nlooptrace (test .*)\n```/.exec(guide) ?? []
  const outputs = [...guide.matchAll(/```text\n([\s\S]*?)```/g)].map(([, text]) => text)
  expect([files.length, outputs.length]).toEqual([2, 2])
  await mkdir(join(directory, 'rules'), { recursive: true })
  const write = (path: string, text: string) => writeFile(join(directory, path), text)
  for (const [, path = '', text = ''] of files) await write(path, text)
  expect(await looptrace(command)).toEqual({ status: 0, stdout: outputs[0], stderr: '' })
  const [, path = '', rule = ''] = files[0] ?? []
  await write(path, rule.replace('"4000"', '"5000"'))
  expect(await looptrace(command)).toEqual({ status: 1, stdout: outputs[1], stderr: '' })
  await write(path, rule.replace('ttft_p95', 'error_rate'))
  const invalid = await looptrace(`${command} -o junit`)
  expect(invalid).toMatchObject({ status: 2, stdout: expect.stringContaining('errors="1"') })
  expect(invalid.stderr).toContain('threshold: expected 0 to 1')
})

describe('ledger', () => {
  const sums = { requests: 2, accepted: 10, stored: 6, rejected: 1, pending: 3, lost: 0 }
  const ledger = (lost: number) => {
    const all = { ...sums, accepted: 10 + lost, lost }
    const lost_by_reason = lost === 0 ? [] : [{ reason: 'not_settled', items: lost }]
    const rejected_by_reason = [{ reason: 'too_old', items: 1 }]
    return {
      window: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
      totals: all,
      paths: [{ path: 'otlp', ...all, rejected_by_reason, lost_by_reason }],
      queue: { reachable: true, pending_messages: 1, oldest_pending_at: null },
      as_of: '2026-01-02T00:00:00Z',
    }
  }
  let answer: { status: number; body: unknown }
  let asked: { url: string | undefined; key: unknown }
  const api = createServer(({ url, headers }, response) => {
    asked = { url, key: headers['x-api-key'] }
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer.body))
  })
  let env: Record<string, string>

  beforeAll(async () => {
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
    const { port } = api.address() as AddressInfo
    env = { LOOPTRACE_URL: `http://127.0.0.1:${port}`, LOOPTRACE_API_KEY: 'lt_key' }
  })
  afterAll(() => api.close())

  test('sends the key, and shows the outcome of every item', async () => {
    answer = { status: 200, body: ledger(0) }
    const { status, stdout } = await looptrace('ledger --from 2026-01-01T00:00:00Z', { env })
    expect(status).toBe(0)
    expect(asked).toEqual({
      url: '/api/v2/observability/ledger?from=2026-01-01T00%3A00%3A00Z',
      key: 'lt_key',
    })
    expect(stdout).toMatch(
      /PATH +REQUESTS +ACCEPTED +STORED +REJECTED +PENDING +LOST\notlp +2 +10 +6 +1 +3 +0\n/,
    )
    expect(stdout).toContain('otlp: 1 rejected: too_old')
  })

  test('has status 1 if an item is lost', async () => {
    answer = { status: 200, body: ledger(4) }
    const { status, stdout } = await looptrace('ledger', { env })
    expect([status, stdout]).toEqual([1, expect.stringContaining('4 items are lost.')])
    expect(JSON.parse((await looptrace('ledger -o json', { env })).stdout)).toEqual(ledger(4))
  })

  test.each(
    quarterOf<[number, unknown, number, string]>([
      [401, { detail: 'the key is not good' }, 3, '401 the key is not good'],
      [503, {}, 3, '503'],
      [400, { detail: 'from: expected an instant' }, 2, '400 from: expected an instant'],
      [200, { hello: 1 }, 3, 'the answer is not a ledger: check LOOPTRACE_URL'],
    ]),
  )('an answer of %d has its status', async (status, body, expected, message) => {
    answer = { status, body }
    const result = await looptrace('ledger', { env })
    expect([result.status, result.stdout]).toEqual([expected, ''])
    expect(result.stderr).toContain(message)
    expect(result.stderr).not.toContain('lt_key')
  })

  test('no answer is 3; a missing key or an unknown setting is 2', async () => {
    const gone = { ...env, LOOPTRACE_URL: `http://127.0.0.1:${await freePort()}` }
    expect(await looptrace('ledger', { env: gone })).toMatchObject({ status: 3 })
    expect(await looptrace('ledger')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('LOOPTRACE_API_KEY is not set'),
    })
    expect(await looptrace('ledger', { env: { ...env, LOOPTRACE_URL: 'x' } })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('LOOPTRACE_URL: got "x"'),
    })
  })
})

describe('rules backtest', () => {
  const rule = (threshold: number) =>
    `apiVersion: looptrace.dev/v1alpha1\nkind: IncidentRule\nmetadata: {name: errors}\nspec:\n  projectRef: {name: a}\n  severity: high\n  groupBy: [task_name]\n  condition: {signal: error_rate, window: 5m, threshold: "${threshold}"}\n`
  const group = { task_name: 'check\u001bout' }
  const preview = {
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-08T00:00:00.000Z',
    available_from: '2026-01-05T12:00:00.000Z',
    transitions: [
      { at: '2026-01-06T00:00:00.000Z', group, type: 'fired', severity: 'high' },
      { at: '2026-01-06T00:10:00.000Z', group, type: 'ended', severity: null },
    ],
    ...{ minutes_firing: 10, pages_per_week: 2.8, recipients: ['pager'], groups: 1, overflow: 0 },
    series: [{ group, points: [{ at: '2026-01-06T00:00:00.000Z', value: 0.5 }] }],
  }
  let answer: { status: number; body: unknown }
  let asked: { line: string; key: unknown; body: Record<string, unknown> }
  const api = createServer((request, response) => {
    let body = ''
    request.on('data', (data) => (body += data))
    request.on('end', () => {
      const { method, url, headers } = request
      asked = { line: `${method} ${url}`, key: headers['x-api-key'], body: JSON.parse(body) }
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer.body))
    })
  })
  let env: Record<string, string>

  beforeAll(async () => {
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
    const { port } = api.address() as AddressInfo
    env = { LOOPTRACE_URL: `http://127.0.0.1:${port}`, LOOPTRACE_API_KEY: 'lt_key' }
    await writeFile(join(directory, 'errors.yaml'), rule(0.1))
    await writeFile(join(directory, 'never.yaml'), rule(2))
  })
  afterAll(() => api.close())

  test('sends each rule, and prints what it would have done', async () => {
    answer = { status: 200, body: preview }
    const { status, stdout } = await looptrace('rules backtest errors.yaml --days 7', { env })
    expect(status).toBe(0)
    expect(asked).toMatchObject({
      line: 'POST /api/v2/observability/incidents/rules/preview',
      key: 'lt_key',
      body: { days: 7, rule: { name: 'errors', condition: { threshold: 0.1 } } },
    })
    expect(stdout).toMatch(
      /2026-01-06T00:00:00.000Z +errors +\{task_name="check\\u001bout"\} +fired/,
    )
    expect(stdout).toMatch(/errors +1 +10 +2.8 +1 +pager\n/)
    expect(stdout).toContain(
      'errors: Rows are stored from 2026-01-05T12:00:00.000Z, so that 2.5 of 7 days',
    )
    const json = await looptrace('rules backtest errors.yaml -o json --pages-max 2', { env })
    const none = { available_from: null, transitions: [], transitions_total: 3, warnings: ['a\nb'] }
    expect([json.status, JSON.parse(json.stdout)]).toEqual([
      1,
      { days: 14, rules: [{ rule: 'errors', ...preview, warnings: [] }] },
    ])
    answer = { status: 200, body: { ...preview, ...none } }
    const { stdout: empty } = await looptrace('rules backtest errors.yaml', { env })
    expect(empty).toMatch(/^No rule fires\.\n/)
    for (const note of [
      'a\\u000ab',
      'The project has no rows of these days.',
      'The first 0 of 3',
    ]) {
      expect(empty).toContain(`errors: ${note}`)
    }
  })

  test.each(
    quarterOf<[string, typeof answer, number, string]>([
      [
        'errors.yaml',
        { status: 400, body: { detail: 'rule.for: got 2d' } },
        2,
        '400 rule.for: got 2d',
      ],
      [
        'errors.yaml',
        { status: 403, body: { detail: 'the key lacks a scope' } },
        3,
        '403 the key lacks a scope',
      ],
      ['errors.yaml', { status: 200, body: { hello: 1 } }, 3, 'the answer is not a preview'],
      [
        'never.yaml',
        { status: 200, body: {} },
        2,
        'never.yaml:8:14: error: IncidentRule errors: spec.condition: threshold: expected 0 to 1',
      ],
      ['errors.yaml --days 29', { status: 200, body: {} }, 2, '--days: got "29", expected 1 to 28'],
    ]),
  )('%s with the answer %j', async (line, given, expected, message) => {
    answer = given
    const result = await looptrace(`rules backtest ${line}`, { env })
    expect([result.status, result.stdout]).toEqual([expected, ''])
    expect(result.stderr).toContain(message)
    expect(result.stderr).not.toContain('lt_key')
  })
})

describe('trust recompute', () => {
  const trust = { trust_score: 0.75, interval: [0.5, 0.9], coverage: 1, calibrated: {}, caps: [] }
  const same = { run_id: 'r1', formula_version: 'trust-1', stored: trust, recomputed: trust }
  const recomputed = { ...same, identical: true, differences: [] }
  const token = '/api/v1/auth/token'
  const base = '/api/v1/verification'
  let answers: Record<string, [status: number, body: unknown]>
  let asked: string[]
  const api = createServer(({ method, url = '', headers }, response) => {
    asked.push(`${method} ${url} ${headers.authorization}`)
    const [status, body] = answers[url] ?? [404, { detail: 'expected a run of this project' }]
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  let env: Record<string, string>
  const recompute = (line: string) => looptrace(`trust recompute ${line}`, { env })

  beforeAll(async () => {
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
    const { port } = api.address() as AddressInfo
    env = { LOOPTRACE_URL: `http://127.0.0.1:${port}`, LOOPTRACE_API_KEY: 'lt_sa_key' }
  })
  beforeEach(() => {
    asked = []
    answers = {
      [token]: [200, { access_token: 'jwt' }],
      [`${base}/traces/t1`]: [200, { status: 'verified', run_id: 'r1' }],
      [`${base}/runs/r1/recompute`]: [200, recomputed],
    }
  })
  afterAll(() => api.close())

  test('asks with an access token for the run, or for the newest of a trace', async () => {
    const { status, stdout } = await recompute('--trace t1')
    expect([status, stdout]).toEqual([0, expect.stringContaining('The trust score is identical.')])
    expect(asked).toEqual([
      `POST ${token} undefined`,
      `GET ${base}/traces/t1 Bearer jwt`,
      `POST ${base}/runs/r1/recompute Bearer jwt`,
    ])
    const json = await recompute('--run r1 -o json')
    expect([json.status, JSON.parse(json.stdout)]).toEqual([0, recomputed])
  })

  test('has status 1 if a number differs', async () => {
    const other = { ...trust, trust_score: 0.8 }
    const body = { ...same, recomputed: other, identical: false, differences: [{}] }
    answers[`${base}/runs/r1/recompute`] = [200, body]
    const { status, stdout } = await recompute('--run r1')
    expect([status, stdout]).toEqual([1, expect.stringContaining('The trust score differs')])
    expect(stdout).toMatch(/trust score +0\.75 +0\.8\n/)
  })

  test('a run that is unknown, a trace without a result and another key are refused', async () => {
    expect(await recompute('--run ../x')).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('404 expected a run of this project'),
    })
    expect(asked.at(-1)).toContain(`${base}/runs/..%2Fx/recompute`)
    answers[`${base}/traces/t1`] = [200, { status: 'pending', run_id: 'r1' }]
    expect(await recompute('--trace t1')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('the trace is pending, expected a verified trace'),
    })
    answers[token] = [401, { detail: 'credentials are wrong' }]
    expect(await recompute('--run r1')).toMatchObject({ status: 3, stdout: '' })
    env = { ...env, LOOPTRACE_API_KEY: 'lt_project' }
    expect(await recompute('--run r1')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('expected a key of a service account'),
    })
  })
})

describe('migrate check', () => {
  test('has status 3 if a store does not answer, and 2 for a wrong form or setting', async () => {
    const env = {
      LOOPTRACE_POSTGRES_URL: `postgres://user:secret@127.0.0.1:${await freePort()}/looptrace`,
      LOOPTRACE_CLICKHOUSE_URL: `http://127.0.0.1:${await freePort()}`,
    }
    const { status, stderr } = await looptrace('migrate check', { env })
    expect([status, stderr]).toEqual([3, expect.stringContaining('PostgreSQL')])
    expect(stderr).not.toContain('secret')
    expect((await looptrace('migrate check -o xml', { env })).status).toBe(2)
    expect(await looptrace('migrate check')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('LOOPTRACE_POSTGRES_URL: missing'),
    })
  })
})

describe('get', () => {
  let server: ApiServer
  let namespace: string
  let env: Record<string, string>

  beforeAll(async () => {
    server = await startApiServer({ users: ['nobody'] })
    expect(await server.kubectl(['create', '-f', 'crds/'])).toMatchObject({ status: 0 })
    namespace = await server.namespace()
    env = { KUBECONFIG: await server.kubeconfig() }
    const retentionPolicy = {
      ...{ apiVersion: 'looptrace.dev/v1alpha1', kind: 'RetentionPolicy' },
      metadata: { name: 'one', namespace, labels: { team: 'search' } },
      spec: { projectRef: { name: 'a' }, observations: { days: 30 } },
    }
    await eventually('policies are taken', async () => {
      const input = JSON.stringify(retentionPolicy)
      return (await server.kubectl(['apply', '-f', '-'], { input })).status === 0
    })
    const lastTransitionTime = new Date(Date.now() - 300_000).toISOString()
    const message = 'The service keeps the data of the project as declared.'
    const ready = { type: 'Ready', status: 'True', reason: 'Synced', message }
    const conditions = [{ ...ready, observedGeneration: 1, lastTransitionTime }]
    await server.tell(
      'PATCH',
      `/apis/looptrace.dev/v1alpha1/namespaces/${namespace}/retentionpolicies/one/status`,
      {
        type: 'application/merge-patch+json',
        body: { status: { conditions, observedGeneration: 1, lastSyncTime: lastTransitionTime } },
      },
    )
  }, apiServerStartTimeoutMs)

  afterAll(() => server[Symbol.asyncDispose]())

  test('shows kinds with their columns, like kubectl, and the message', async () => {
    const { status, stdout } = await looptrace('get -A', { env })
    expect(status).toBe(0)
    expect(stdout).toMatch(
      /^NAMESPACE +NAME +READY +REASON +TRACES +OBSERVATIONS .*LAST SYNC +AGE +MESSAGE\n/,
    )
    expect(stdout).toMatch(
      /retentionpolicy\/one +True +Synced +30 +5m +\d+s +The service keeps the data/,
    )
    const { stdout: shown } = await server.kubectl(['get', 'retpol', '-n', namespace])
    expect(shown).toMatch(/one +True +Synced +30 +5m/)
  })

  test.each(
    quarterOf([
      ['the namespace of the context', 'get', 'No resources found.'],
      ['another namespace', 'get -n default', 'No resources found.'],
      ['a label', 'get -A -l team=search', 'retentionpolicy/one'],
      ['another label', 'get -A -l team=other', 'No resources found.'],
      ['another kind', 'get ltsa -A', 'No resources found.'],
    ]),
  )('by %s', async (_name, line, expected) => {
    expect(await looptrace(line, { env })).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(expected),
    })
  })

  test('shows a resource without a namespace, wherever the context is', async () => {
    const grant = {
      ...{ apiVersion: 'looptrace.dev/v1alpha1', kind: 'ProjectGrant' },
      metadata: { name: 'team-a' },
      spec: {
        project: { organization: 'default', name: 'a' },
        ...{ namespaces: { names: ['team-a'] }, kinds: ['RetentionPolicy'] },
      },
    }
    const input = JSON.stringify(grant)
    expect(await server.kubectl(['apply', '-f', '-'], { input })).toMatchObject({ status: 0 })
    const { stdout } = await looptrace('get grant -n elsewhere', { env })
    expect(stdout).toMatch(/^NAME .*\nprojectgrant\/team-a +Unknown +Pending +default +a /)
    const one = parse((await looptrace('get grant team-a -o yaml', { env })).stdout)
    expect(one).toMatchObject({ kind: 'ProjectGrant', metadata: { name: 'team-a' } })
    expect(one.metadata).not.toHaveProperty('namespace')
    expect(await server.kubectl(['delete', 'grant', 'team-a'])).toMatchObject({ status: 0 })
  })

  test('one resource as YAML and JSON', async () => {
    const { stdout } = await looptrace(`get retpol one -n ${namespace} -o yaml`, { env })
    expect(parse(stdout)).toMatchObject({ kind: 'RetentionPolicy', metadata: { name: 'one' } })
    const list = await looptrace('get -A -o json', { env })
    expect(JSON.parse(list.stdout)).toMatchObject({ kind: 'List', items: [parse(stdout)] })
  })

  test('--ready checks the current generation', async () => {
    const ready = () => looptrace('get -A --ready', { env })
    expect((await ready()).status).toBe(0)
    const path = `/apis/looptrace.dev/v1alpha1/namespaces/${namespace}/retentionpolicies/one`
    const body = { spec: { observations: { days: 31 } } }
    await server.tell('PATCH', path, { type: 'application/merge-patch+json', body })
    expect((await ready()).status).toBe(1)
    expect((await looptrace('get -n default --ready', { env })).status).toBe(1)
  })

  test('a failed request has status 3 and a reason', async () => {
    const unprivileged = { KUBECONFIG: await server.kubeconfig('nobody') }
    const gone = {
      KUBECONFIG: await server.kubeconfig('admin', `https://127.0.0.1:${await freePort()}`),
    }
    for (const [line, kubeconfig, message] of [
      ['get retpol -A', unprivileged, /retentionpolicies\.looptrace\.dev.*forbidden/i],
      [`get retpol two -n ${namespace}`, env, /"two" not found/],
      ['get -A', gone, /no answer .*ECONNREFUSED/],
      ['get -A', {}, /reading the kube context failed/],
    ] as const) {
      const { status, stderr } = await looptrace(line, { env: kubeconfig })
      expect([line, status, stderr]).toEqual([line, 3, expect.stringMatching(message)])
    }
  })

  test.each(
    quarterOf([
      ['get pods', 'got "pods", expected a kind'],
      ['get retpol one -A', 'got --all-namespaces'],
    ]),
  )('%s has status 2', async (line, message) => {
    expect(await looptrace(line, { env })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(message),
    })
  })
})
