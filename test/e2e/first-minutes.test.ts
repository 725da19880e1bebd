import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FirstLogin, providerSettings } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { type ProviderProcess, startProviderProcess } from '../support/provider.ts'
import { type Service, startService } from '../support/service.ts'
import { indentedCommands, runShell, shellBlocks } from '../support/shell-commands.ts'

/** Pasting the commands of README, the first guide and the greeting gives the promised results. */
let parts: AsyncDisposableStack
let service: Service
let provider: ProviderProcess
let login: FirstLogin

beforeAll(async () => {
  parts = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-minutes-'))
  await chmod(directory, 0o711)
  parts.defer(() => rm(directory, { recursive: true }))
  provider = await startProviderProcess()
  parts.defer(() => provider.stop())
  // The sources, as `make run` starts them; other tests run the bundle of the images.
  service = await startService(
    'all',
    { LOOPTRACE_DATA_DIRECTORY: join(directory, 'data'), ...providerSettings(provider) },
    { main: 'src/main.ts' },
  )
  parts.defer(async () => void (await service.stop()))
  login = JSON.parse(await readFile(join(directory, 'data/first-login.json'), 'utf8'))
  await eventually('the verdicts', () => service.output().includes('See the loop'), {
    timeout_ms: 120_000,
  })
})
afterAll(() => parts.disposeAsync())

/** Inserts the address, the key and the password that a reader's own start printed. */
function filledIn(commands: string): string {
  return commands
    .replaceAll('http://127.0.0.1:8080', service.base_url)
    .replaceAll('lt_…', login.project_key)
    .replaceAll('sk-…', 'key-of-the-provider')
    .replaceAll('"password":"…"', `"password":"${login.admin_password}"`)
}

/** Commands that start the service or need a cluster; the chart's tests and CI run these. */
const elsewhere = /^(make|helm|kubectl) /

/**
 * Runs the blocks in order, each in a shell with the variables that earlier ones exported. A
 * failing block is repeated for a while, because records become readable with a delay.
 */
async function paste(blocks: readonly string[]): Promise<Map<string, string>> {
  const outputs = new Map<string, string>()
  let exported = ''
  for (const block of blocks) {
    const commands = filledIn(block)
    let failure: unknown
    const output = await eventually(
      block,
      () =>
        runShell(exported + commands, {}).catch((error: unknown) => {
          failure = error
          return undefined
        }),
      { timeout_ms: 40_000, interval_ms: 500 },
    ).catch(() => {
      throw failure
    })
    exported += `${commands.match(/^export .*$/gm)?.join('\n') ?? ''}\n`
    outputs.set(block, output)
  }
  return outputs
}

/** The output of the one block that contains this text. */
function outputOf(outputs: Map<string, string>, text: string): string {
  const found = [...outputs].filter(([block]) => block.includes(text))
  expect(found.map(([block]) => block)).toHaveLength(1)
  return found[0]?.[1] ?? ''
}

describe('the commands of', () => {
  test('README.md', async () => {
    const blocks = await shellBlocks('README.md')
    expect(
      blocks.filter((block) => elsewhere.test(block)).map((block) => block.split('\n')[0]),
    ).toEqual(['make run', 'helm install looptrace charts/looptrace', 'make test'])
    const outputs = await paste(blocks.filter((block) => !elsewhere.test(block)))
    expect(outputs.size).toBe(2)
    const sample = outputOf(outputs, 'tasks/refund-1042/loops')
    expect(sample).toContain('went wrong at step 2: search_policy was called 5 times')
    expect(sample).toContain('"loops":[{')
    expect(sample).toContain('"role":"tool_call"')
    expect(sample).toContain('with nothing wrong found')
    expect(outputOf(outputs, '/v1/traces')).toMatch(/^HTTP\/1\.1 200 OK/m)
  })

  test('docs/guides/first-trace.md', async () => {
    const blocks = await shellBlocks('docs/guides/first-trace.md')
    expect(blocks.filter((block) => elsewhere.test(block))).toEqual(['make run\n'])
    const outputs = await paste(blocks.filter((block) => !elsewhere.test(block)))
    expect(outputs.size).toBe(7)
    const call = outputOf(outputs, '/v1/chat/completions')
    expect(call).toMatch(/^x-trace-id: /im)
    expect(call).toContain('You said: Say hello')
    expect(outputOf(outputs, 'tasks/my-first-task')).toMatch(/"calls":[1-9]/)
    expect(outputOf(outputs, '/api/v1/auth/token')).toContain('"access_token":')
  })

  test('docs/guides/silence-a-deploy.md', async () => {
    const blocks = await shellBlocks('docs/guides/silence-a-deploy.md')
    const outputs = await paste(blocks)
    expect(outputs.size).toBe(4)
    const deploy = JSON.parse(outputOf(outputs, '"comment": "deploy'))
    expect(deploy).toMatchObject({ comment: 'deploy 4711', state: 'active', active: true })
    const left_ms = Date.parse(deploy.expires_at) - Date.now()
    expect(left_ms).toBeGreaterThan(20 * 60_000)
    expect(left_ms).toBeLessThanOrEqual(30 * 60_000)
    expect(outputOf(outputs, 'DELETE')).toBe('')
    expect(JSON.parse(outputOf(outputs, 'nightly import'))).toMatchObject({
      recurrence: { cron: '0 2 * * *', duration: '90m', time_zone: 'Europe/Berlin' },
    })
    const repeated = await runShell(
      `${filledIn(blocks[0] ?? '')}
      curl "$LOOPTRACE_URL/api/v2/observability/incidents/suppressions" -H "Authorization: Bearer $TOKEN"`,
      {},
    )
    expect(repeated).toContain('"comment":"nightly import"')
  })

  test('the greeting and the report of the sample', async () => {
    const commands = indentedCommands(service.output())
    expect(commands.match(/^export /gm)).toHaveLength(2)
    expect(commands.match(/^curl /gm)).toHaveLength(5)
    const output = await eventually(
      'all of them',
      () => runShell(commands, { OPENAI_API_KEY: 'key-of-the-provider' }).catch(() => undefined),
      { timeout_ms: 40_000, interval_ms: 500 },
    )
    expect(output).toContain('You said: Hello')
    expect(output).toContain('"loops":[{')
    expect(output).toContain('"task_id":"my-first-task"')
  })
})

test('the pages, the greeting and the sample name the same tasks', async () => {
  const pages = await Promise.all(
    ['README.md', 'docs/guides/first-trace.md', 'docs/guides/why-did-my-agent-loop.md'].map(
      (path) => readFile(path, 'utf8'),
    ),
  )
  const named = [...pages.join(''), ...service.output()].join('').match(/refund-\d+/g)
  expect(new Set(named)).toEqual(new Set(['refund-1042', 'refund-1043']))
})
