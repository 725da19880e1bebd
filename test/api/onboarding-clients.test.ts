import { afterAll, beforeAll, expect, test } from 'vitest'
import { baseUrlOf, clients, linesOf } from '../../src/capabilities/onboarding/clients/clients.ts'
import { type OnboardingApi, openOnboardingApi } from '../support/onboarding-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'
import type { Json } from '../support/verification-api.ts'

let api: OnboardingApi
let project_id: string
beforeAll(async () => {
  api = await openOnboardingApi()
  project_id = await api.bench.newProject()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const read = (url: string, headers?: Record<string, string>) =>
  api.call('GET', `/clients?url=${encodeURIComponent(url)}`, {
    project_id,
    ...(headers !== undefined && { headers }),
  })

test('the clients of `looptrace connect`, with their lines for the asked URL', async () => {
  const { status, body } = await read('https://traces.example:8443/base/')
  expect(status).toBe(200)
  const url = 'https://traces.example:8443/base'
  expect(body.url).toBe(url)
  expect(body.clients.map(({ name }: Json) => name)).toEqual(clients.map(({ name }) => name))
  for (const [at, client] of clients.entries()) {
    const shown = body.clients[at]
    expect(shown.lines).toEqual(linesOf(client, { url }))
    // What the page puts in for `<key>` gives the lines that the command prints.
    const filled = shown.lines_with_key.map((line: string) => line.replaceAll('<key>', 'lt_abc'))
    expect(filled).toEqual(linesOf(client, { url, key: 'lt_abc' }))
    const base_url = shown.base_url?.replaceAll('<key>', 'lt_abc') ?? null
    expect(base_url).toBe(baseUrlOf(client, { url, key: 'lt_abc' }))
    expect(shown.advice.length).toBeGreaterThan(3)
  }
})

test('the base URL of a client that can only set one has a place for the key', async () => {
  const { body } = await read('https://traces.example')
  const { base_url, lines_with_key } = body.clients.find(({ name }: Json) => name === 'base-url')
  expect(base_url).toBe('https://traces.example/k/<key>')
  expect(lines_with_key).toEqual(['export OPENAI_BASE_URL="https://traces.example/k/<key>/v1"'])
})

test.each([
  'javascript:alert(1)',
  'https://a:b@x.example',
  'https://x.example/?q=1',
  'https://x.example/"; rm -rf ~; "',
  'https://x.example/$(id)',
  'https://x.example/`id`',
  "https://x.example/'",
  'https://x.example/\n',
  '',
])('%j is refused: its characters would change the lines', async (url) => {
  const { status, body } = await read(url)
  expect(status).toBe(400)
  expect(body.code).toBe('invalid_request')
})

test('viewers and keys with tasks:read may read it; others may not', async () => {
  const asked = async (headers: Record<string, string>) =>
    (await read('http://127.0.0.1:8080', headers)).status
  expect(await asked(tokenOf('viewer', project_id))).toBe(200)
  expect(await asked(keyOf(project_id, 'tasks:read'))).toBe(200)
  expect(await asked(keyOf(project_id, 'proxy:write'))).toBe(403)
  expect(await asked({})).toBe(401)
})
