import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReleasePolicyApi, type ReleasePolicyApi } from '../support/release-policy-api.ts'
import { budget } from '../support/suite/budget.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: ReleasePolicyApi
beforeAll(async () => {
  api = await openReleasePolicyApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const image_digest = `sha256:${'a'.repeat(64)}`
const jsonl = ['a', 'b', 'c']
  .map((case_id) => JSON.stringify({ case_id, passed: case_id !== 'c' }))
  .join('\n')
const bodyOf = (change: object = {}) => ({
  release: { name: 'support-agent', version: '1.4.0' },
  ...{ environment: 'staging', format: 'jsonl', content: jsonl },
  ...change,
})
const post = (project: string, body: unknown, headers?: Record<string, string>) =>
  api.call('POST', '/eval-runs', project, { body, ...(headers && { headers }) })
const codeOf = ({ status, body }: { status: number; body?: { code?: string } }) => [
  status,
  body?.code,
]

describe('an upload', () => {
  test('is counted, read and listed', async () => {
    const project = await api.newProject()
    const release = { name: 'support-agent', version: '1.4.0', image_digest }
    const created = await post(project, bodyOf({ release, name: 'regression' }))
    expect(created).toMatchObject({
      status: 201,
      body: {
        ...{ name: 'regression', release, environment: 'staging', format: 'jsonl' },
        ...{ cases: 3, passed: 2, failed: 1, skipped: 0, created_by: 'user:user-1' },
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    })
    const url = `/eval-runs/${created.body.eval_run_id}`
    expect((await api.call('GET', url, project)).body).toEqual(created.body)
    const cases = await api.db
      .selectFrom('certification_eval_cases')
      .select(['case_id', 'repeat', 'passed'])
      .where('run_id', '=', created.body.eval_run_id)
      .orderBy('case_id')
      .execute()
    expect(cases.map(({ case_id, passed }) => [case_id, passed])).toEqual([
      ...[
        ['a', true],
        ['b', true],
        ['c', false],
      ],
    ])
    const list = (query: string) => api.call('GET', `/eval-runs?${query}`, project)
    expect((await list('release_version=1.4.0')).body).toMatchObject({ total: 1 })
    expect((await list('environment=production')).body).toMatchObject({ total: 0 })
  })

  test('of the same cases in any order is the same run; of others it is another one', async () => {
    const project = await api.newProject()
    const first = await post(project, bodyOf())
    const reversed = jsonl.split('\n').toReversed().join('\n')
    const again = await post(project, bodyOf({ content: reversed }))
    expect([again.status, again.body]).toEqual([200, first.body])
    const others = [
      bodyOf({ environment: 'production' }),
      bodyOf({ name: 'other' }),
      bodyOf({ release: { name: 'support-agent', version: '1.4.1' } }),
      bodyOf({ release: { name: 'support-agent', version: '1.4.0', image_digest } }),
      bodyOf({ content: jsonl.replace('false', 'true') }),
    ]
    for (const body of others) expect((await post(project, body)).status).toBe(201)
    const same = await Promise.all(Array.from({ length: 5 }, () => post(project, others[0])))
    expect(new Set(same.map(({ body }) => body.eval_run_id)).size).toBe(1)
    const page = await api.call('GET', '/eval-runs?limit=4', project)
    expect([page.body.total, page.body.eval_runs.length]).toEqual([6, 4])
    const next = await api.call(
      ...(['GET', `/eval-runs?limit=4&cursor=${page.body.next_cursor}`, project] as const),
    )
    expect(next.body.eval_runs.map((one: { eval_run_id: string }) => one.eval_run_id)).toContain(
      first.body.eval_run_id,
    )
  })

  test('of 20,000 cases of a JUnit report is stored whole', async () => {
    const project = await api.newProject()
    const cases = Array.from(
      { length: 20_000 },
      (_, i) => `<testcase classname="suite" name="case ${i}" time="0.5"/>`,
    )
    const content = `<testsuite>${cases.join('')}</testsuite>`
    const created = await post(project, bodyOf({ format: 'junit', content }))
    expect([created.status, created.body.cases]).toEqual([201, 20_000])
    const { n } = await api.db
      .selectFrom('certification_eval_cases')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where('run_id', '=', created.body.eval_run_id)
      .executeTakeFirstOrThrow()
    expect(Number(n)).toBe(20_000)
    const url = `/eval-runs/${created.body.eval_run_id}`
    expect((await api.call('DELETE', url, project)).status).toBe(204)
    expect(codeOf(await api.call('GET', url, project))).toEqual([404, 'eval_run_not_found'])
    expect(codeOf(await api.call('DELETE', url, project))).toEqual([404, 'eval_run_not_found'])
    const left = api.db
      .selectFrom('certification_eval_cases')
      .select('case_id')
      .where('run_id', '=', created.body.eval_run_id)
    expect(await left.limit(1).execute()).toEqual([])
  })
})

describe('a hostile upload', () => {
  test('with faults names each line', async () => {
    const project = await api.newProject()
    const content = `${jsonl}\n{"case_id": "a", "passed": true}\n{"passed": NaN}`
    const refused = await post(project, bodyOf({ content }))
    expect(codeOf(refused)).toEqual([400, 'invalid_request'])
    expect(refused.body.detail).toBe(
      '/content: line 4: case "a", repeat 0 is on line 1 too: number the repeats of a case with `repeat`',
    )
    expect(refused.body.errors).toEqual([
      { pointer: '/content', detail: expect.stringMatching(/^line 4: case "a"/) },
      { pointer: '/content', detail: 'line 5: not valid JSON: "{\\"passed\\": NaN}"' },
    ])
    expect((await api.call('GET', '/eval-runs', project)).body.total).toBe(0)
  })

  test.each<[string, object, string]>([
    ['a document type', { format: 'junit', content: '<!DOCTYPE a><testsuite/>' }, '/content'],
    ['no case', { content: '\n\n' }, '/content'],
    ['too much content', { content: 'x'.repeat(8 * 1024 * 1024 + 1) }, '/content'],
    ['another format', { format: 'csv' }, '/format'],
    ['a release without a version', { release: { name: 'a' } }, '/release/version'],
    [
      'a short digest',
      { release: { name: 'a', version: '1', image_digest: 'sha256:ab' } },
      '/release/image_digest',
    ],
    ['U+0000 in a name', { name: 'a\u0000' }, '/name'],
    ['a control character in the environment', { environment: 'a\nb' }, '/environment'],
  ])('with %s is refused', async (_name, change, pointer) => {
    const project = await api.newProject()
    const refused = await post(project, bodyOf(change))
    expect(codeOf(refused)).toEqual([400, 'invalid_request'])
    expect(refused.body.errors.map((one: { pointer: string }) => one.pointer)).toContain(pointer)
  })

  test('that is long to read holds up no other call, and a project has its turns', async () => {
    const [project, other] = [await api.newProject(), await api.newProject()]
    const chars = budget({ test: 3_000_000, soak: 8_000_000 })
    const content = `<testsuite><!--${'x'.repeat(chars)}--><testcase name="a"/></testsuite>`
    const ended: string[] = []
    const slow = Array.from({ length: 7 }, async (_, n) => {
      const { status } = await post(project, bodyOf({ name: `${n}`, format: 'junit', content }))
      ended.push('slow')
      return status
    })
    for (let n = 0; n < 3; n += 1) {
      expect((await api.call('GET', '/eval-runs', other)).status).toBe(200)
      ended.push('other')
    }
    expect(ended.filter((one) => one === 'slow').length).toBeLessThan(7)
    const statuses = (await Promise.all(slow)).toSorted()
    expect(statuses.at(0)).toBe(201)
    expect(statuses.at(-1)).toBe(429)
  })

  test('of 100,000 attributes, or named as a method of objects, is refused', async () => {
    const project = await api.newProject()
    const many = Array.from({ length: 100_000 }, (_, i) => `a${i}=""`).join(' ')
    for (const attributes of [many, 'hasOwnProperty="x" b="y"']) {
      const content = `<testsuite ${attributes}><testcase name="a"/></testsuite>`
      const refused = await post(project, bodyOf({ format: 'junit', content }))
      expect(codeOf(refused)).toEqual([400, 'invalid_request'])
    }
  })

  test('with invalid UTF-8, or of 100 MB, is refused', async () => {
    const project = await api.newProject()
    const text = Buffer.from(JSON.stringify(bodyOf({ name: 'café' })), 'latin1')
    expect(codeOf(await post(project, text))).toEqual([400, 'invalid_json'])
    const large = Buffer.alloc(100 * 1024 * 1024, 'x')
    expect(codeOf(await post(project, large))).toEqual([413, 'body_too_large'])
  })
})

test('editors and keys with certification:run upload; another project finds nothing', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const key = (scopes: string) => ({ ...keyOf(project, scopes), authorization: '' })
  const created = await post(project, bodyOf(), key('certification:run'))
  expect([created.status, created.body.created_by]).toEqual([201, 'key:key-1'])
  expect((await post(project, bodyOf(), key('tasks:read'))).status).toBe(403)
  expect((await post(project, bodyOf(), tokenOf('viewer', project))).status).toBe(403)
  expect((await post(project, bodyOf(), tokenOf('editor', project))).status).toBe(200)
  const url = `/eval-runs/${created.body.eval_run_id}`
  for (const method of ['GET', 'DELETE'] as const) {
    expect(codeOf(await api.call(method, url, other))).toEqual([404, 'eval_run_not_found'])
  }
  expect(codeOf(await api.call('GET', '/eval-runs/x', project))).toEqual([
    ...[404, 'eval_run_not_found'],
  ])
  expect((await api.call('GET', url, project)).status).toBe(200)
})
