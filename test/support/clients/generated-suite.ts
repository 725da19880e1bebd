import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { runPython, runPythonModule } from '../python.ts'
import { quarterOf, soakOnly } from '../suite/budget.ts'
import { accessToken, apiByKey } from './api-reader.ts'
import type { ClientShape } from './client-shape.ts'

const run = promisify(execFile)
const modules = join(import.meta.dirname, '../../../node_modules')

/**
 * Generates clients from the served document: they compile, and calls return what their types say.
 * Also calls every operation and compares each answer with the document.
 */
export function generatedSuite(running: () => ClientShape): void {
  let folder: string
  let document: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'looptrace-generated-'))
    document = join(folder, 'openapi.json')
    const served = await fetch(`${running().api_url}/openapi.json`)
    await writeFile(document, await served.text())
    await Promise.all(['generated 1', 'generated 2'].map((task_id) => callIn(running(), task_id)))
    const tasks = () => apiByKey(running()).get('/api/v1/tasks')
    await eventually('two tasks', async () => Number((await tasks()).body['total']) >= 2)
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('openapi-typescript makes types that compile, and a call returns them', async () => {
    const { api_url, login } = running()
    await symlink(modules, join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, 'program.ts'), program)
    await run('openapi-typescript', [document, '--output', 'looptrace.ts'], { cwd: folder })
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext']
    const files = ['--allowImportingTsExtensions', '--types', 'node', 'program.ts']
    const tsc = join(modules, 'typescript-7/bin/tsc')
    await run('node', [tsc, ...options, '--skipLibCheck', ...files], { cwd: folder })
    const env = { ...process.env, LOOPTRACE_URL: api_url, LOOPTRACE_KEY: login.project_key }
    const { stdout } = await run('node', ['program.ts'], { cwd: folder, env })
    const states = [expect.any(String), expect.any(String)]
    expect(JSON.parse(stdout)).toEqual({ total: expect.any(Number), states })
  })

  test(
    'openapi-python-client makes a client that compiles, and a call returns its types',
    soakOnly('The types for TypeScript are generated from the same document.'),
    async () => {
      const { api_url, login } = running()
      const args = [folder, document, api_url, login.project_key]
      const { warnings, list } = JSON.parse(await runPython('generated_client.py', args))
      expect(warnings).toEqual([])
      expect(list).toMatchObject({ total: expect.any(Number), tasks: [{}, {}] })
    },
  )

  test(
    'schemathesis calls operations, in a soak every one, and each answer matches the document',
    async () => {
      const { api_url, login } = running()
      const chosen = quarterOf(operationsOf(await readFile(document, 'utf8')))
      const only = chosen.flatMap((id) => ['--include-operation-id', id])
      const args = ['--config-file', config, 'run', document, '--url', api_url, ...only]
      const output = await runPythonModule('schemathesis.cli', args, {
        cwd: folder,
        timeout_ms: maxEveryCallMs,
        env: {
          LOOPTRACE_TOKEN: await accessToken(running()),
          LOOPTRACE_KEY: login.project_key,
          LOOPTRACE_PROJECT: login.project_id,
          LOOPTRACE_ORGANIZATION: login.organization_id,
        },
      })
      const [, selected] = /Selected: (\d+)\/(\d+)/.exec(output) ?? []
      expect(Number(selected)).toBe(chosen.length)
      expect(output).toContain(`Tested: ${selected}\n`)
      console.log(output.slice(output.indexOf('Test cases:')))
    },
    maxEveryCallMs,
  )
}

/** The ids of the operations of a document. */
function operationsOf(text: string): string[] {
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> }
  return Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  )
}

type Operation = { operationId: string }

/** Completes a task with the generated client. */
async function callIn({ proxy_url, login }: ClientShape, task_id: string): Promise<void> {
  const model = 'gpt-4.1-mini'
  const answer = await fetch(`${proxy_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', authorization: 'Bearer provider-key' },
      ...{ 'x-api-key': login.project_key, 'x-task-id': task_id },
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'plain:' }] }),
  })
  expect(answer.status).toBe(200)
  await answer.text()
}

/** Some 900 calls take more than a minute on a quiet machine with two cores. */
const maxEveryCallMs = 400_000
const config = join(import.meta.dirname, '../../tools/python/schemathesis.toml')

/** Uses the generated types, so that the compiler reports a missing field. */
const program = `
import createClient from 'openapi-fetch'
import type { components, paths } from './looptrace.ts'

const { LOOPTRACE_URL: baseUrl = '', LOOPTRACE_KEY: key = '' } = process.env
const client = createClient<paths>({ baseUrl, headers: { 'X-API-Key': key } })
const { data, error } = await client.GET('/api/v1/tasks', { params: { query: { limit: 2 } } })
if (error !== undefined) throw new Error(error.detail)
const tasks: components['schemas']['Task'][] = data.tasks
const states: components['schemas']['TaskState'][] = tasks.map(({ state }) => state)
console.log(JSON.stringify({ total: data.total, states }))
`
