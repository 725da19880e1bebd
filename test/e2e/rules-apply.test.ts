import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { main } from '../support/bundle.ts'
import { childEnv } from '../support/child-env.ts'
import { type IncidentApi, type Json, openIncidentApi } from '../support/incident-api.ts'

const token = 'token-of-an-admin'

let api: IncidentApi
let server: Server
let project: string
let directory: string
/** Changes of rules that pass before one is refused. */
let changes_left = Number.POSITIVE_INFINITY

/** Passes requests with the token on to the routes, as an admin of the project. */
beforeAll(async () => {
  api = await openIncidentApi()
  project = await api.newProject()
  directory = await mkdtemp(join(tmpdir(), 'looptrace-apply-'))
  server = createServer(async (request, response) => {
    const given = await text(request)
    const { method = 'GET', url = '/', headers } = request
    const isAdmin =
      headers.authorization === `Bearer ${token}` && headers['x-project-id'] === project
    const if_match = headers['if-match']
    const isRefused = method !== 'GET' && changes_left-- <= 0
    const answer = isRefused ? '{"detail":"not now"}' : '{"detail":"who are you"}'
    const reply =
      isAdmin && !isRefused
        ? await api.call(method as 'GET', url, project, {
            ...(given !== '' && { body: JSON.parse(given) }),
            ...(if_match !== undefined && { if_match }),
          })
        : { status: isRefused ? 409 : 401, text: answer }
    response.writeHead(reply.status, { 'content-type': 'application/json' })
    response.end(reply.text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
})
afterAll(async () => {
  server?.close()
  await api?.[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

function apply(line: string, access_token = token) {
  const { port } = server.address() as AddressInfo
  const env = {
    ...{ HOME: directory, LOOPTRACE_URL: `http://127.0.0.1:${port}` },
    ...{ LOOPTRACE_ACCESS_TOKEN: access_token, LOOPTRACE_PROJECT_ID: project },
  }
  const args = [main, 'rules', 'apply', ...line.split(' ')]
  return new Promise<{ status: number; out: string; err: string }>((done) => {
    execFile(process.execPath, args, { cwd: directory, env: childEnv(env) }, (error, out, err) =>
      done({ status: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

const rule = (name: string, threshold: string) => `apiVersion: looptrace.dev/v1alpha1
kind: IncidentRule
metadata: {name: ${name}}
spec:
  projectRef: {name: a}
  severity: high
  notify: [pager]
  condition: {signal: cost, window: 10m, threshold: "${threshold}"}
`
const write = (...rules: string[]) => writeFile(join(directory, 'rules.yaml'), rules.join('---\n'))

async function stored() {
  const { body } = await api.call('GET', '/rules', project)
  return body.rules
    .map(({ name, condition, version }: Json) => `${name} ${condition.threshold} v${version}`)
    .toSorted()
}

test('a plan changes nothing; then rules are created, changed, kept, and deleted with --prune', async () => {
  await write(rule('dear', '5'), rule('cheap', '1'))
  const plan = await apply('-f rules.yaml --dry-run')
  expect([plan.status, plan.out]).toEqual([1, '+ dear\n+ cheap\n2 to create\n'])
  expect(await stored()).toEqual([])
  const created = await apply('-f rules.yaml')
  expect([created.status, created.err]).toEqual([0, ''])
  expect(created.out).toContain('warning: dear: No channel has the name `pager`')
  expect(await stored()).toEqual(['cheap 1 v1', 'dear 5 v1'])

  const same = await apply('-f rules.yaml --dry-run')
  expect([same.status, same.out]).toEqual([0, '= dear\n= cheap\n2 unchanged\n'])

  await write(rule('dear', '7.5'))
  const changed = await apply('-f rules.yaml -o json')
  expect(JSON.parse(changed.out).steps).toMatchObject([
    { action: 'change', name: 'dear', differences: [{ field: 'condition' }] },
  ])
  expect(await stored()).toEqual(['cheap 1 v1', 'dear 7.5 v2'])

  const pruned = await apply('-f rules.yaml --prune')
  expect(pruned.out).toMatch(/^- cheap\n= dear\n1 to delete, 1 unchanged\n/)
  expect(await stored()).toEqual(['dear 7.5 v2'])
})

test('a rule that a resource declares is not touched, and then nothing is changed', async () => {
  await api.db
    .updateTable('incident_rules')
    .set({
      managed_by: JSON.stringify({
        ...{ kind: 'IncidentRule', namespace: 'team-a', name: 'dear', uid: newId() },
        installation: newId(),
      }) as never,
    })
    .where('project_id', '=', project)
    .execute()
  await write(rule('dear', '9'), rule('new', '1'))
  const refused = await apply('-f rules.yaml --prune')
  expect(refused.status).toBe(1)
  expect(refused.out).toContain('! dear: team-a/dear declares it, change that')
  expect(await stored()).toEqual(['dear 7.5 v2'])
})

test('a refused change is named with how far the changes came, and the same command makes the others', async () => {
  const before = await stored()
  await write(...['part-a', 'part-b', 'part-c'].map((name) => rule(name, '3')))
  changes_left = 1
  const { status, out, err } = await apply('-f rules.yaml')
  changes_left = Number.POSITIVE_INFINITY
  expect([status, out]).toEqual([3, ''])
  expect(err).toMatch(/rule part-b: .*409 not now\. 1 of 3 changes were made; the same command/)
  expect(await stored()).toEqual([...before, 'part-a 3 v1'].toSorted())
  const again = await apply('-f rules.yaml')
  expect([again.status, again.out]).toEqual([
    0,
    expect.stringContaining('2 to create, 1 unchanged'),
  ])
})

test('another token, and a rule that never fires, are refused', async () => {
  await write(rule('x', '1'))
  const stranger = await apply('-f rules.yaml', 'wrong')
  expect([stranger.status, stranger.err]).toEqual([3, expect.stringMatching(/401 who are you/)])
  await write(rule('x', '1').replace('cost', 'error_rate'))
  const never = await apply('-f rules.yaml')
  expect([never.status, never.err]).toEqual([2, expect.stringMatching(/never/)])
})
