import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runPython } from '../python.ts'
import type { ClientShape } from './client-shape.ts'

const run = promisify(execFile)
const modules = join(import.meta.dirname, '../../../node_modules')

/**
 * Clients that are generated from the served document: they compile, and a call returns what their
 * types say.
 */
export function generatedSuite(running: () => ClientShape): void {
  let folder: string
  let document: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'looptrace-generated-'))
    document = join(folder, 'openapi.json')
    const served = await fetch(`${running().api_url}/openapi.json`)
    await writeFile(document, await served.text())
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('openapi-typescript', async () => {
    const { api_url, login } = running()
    await symlink(modules, join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, 'program.ts'), program)
    await run('openapi-typescript', [document, '--output', 'looptrace.ts'], { cwd: folder })
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext']
    const files = ['--allowImportingTsExtensions', '--skipLibCheck', 'program.ts']
    await run('tsc', [...options, ...files], { cwd: folder })
    const env = { ...process.env, LOOPTRACE_URL: api_url, LOOPTRACE_KEY: login.project_key }
    const { stdout } = await run('node', ['program.ts'], { cwd: folder, env })
    const states = [expect.any(String), expect.any(String)]
    expect(JSON.parse(stdout)).toEqual({ total: expect.any(Number), states })
  })

  test('openapi-python-client', async () => {
    const { api_url, login } = running()
    const args = [folder, document, api_url, login.project_key]
    const { warnings, list } = JSON.parse(await runPython('generated_client.py', args))
    expect(warnings).toEqual([])
    expect(list).toMatchObject({ total: expect.any(Number), tasks: [{}, {}] })
  })
}

/** A use of the generated types: a field that is missing from them is an error of the compiler. */
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
