import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestPolicy } from '../../src/capabilities/certification/policy/policy.ts'
import { newId } from '../../src/kernel/ids.ts'
import { openReleasePolicyApi, type ReleasePolicyApi } from '../support/release-policy-api.ts'
import { keyOf, operatorOf, tokenOf } from '../support/task-api.ts'

let api: ReleasePolicyApi
beforeAll(async () => {
  api = await openReleasePolicyApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const successGate = { metric: 'task_success_rate', kind: 'absolute', threshold: 0.95 }
const rulesOf = (change: object = {}) => ({ gates: [successGate], ...change })
const path = (id: string) => `/release-policies/${id}`
const codeOf = ({ status, body }: { status: number; body?: { code?: string } }) => [
  status,
  body?.code,
]
const noAuthorization = (headers: Record<string, string>) => ({ ...headers, authorization: '' })

describe('the policy in force', () => {
  test('is the built-in one, and says so, until the project has a policy `default`', async () => {
    const project = await api.newProject()
    const first = await api.call('GET', '/benchmark-policy', project)
    expect(first).toMatchObject({
      ...{ status: 200, etag: expect.stringMatching(/^"0-/) },
      body: {
        ...{ policy_id: 'default', built_in: true, version: 0, managed_by: null },
        policy: { id: 'default', version: '0', confidence: 0.95, max_attempts: 5 },
      },
    })
    const { policy } = first.body
    expect(digestPolicy(policy)).toBe(policy.digest)
    expect(codeOf(await api.call('GET', path('default'), project))).toEqual([
      ...[404, 'release_policy_not_found'],
    ])
    const put = await api.call('PUT', path('default'), project, {
      ...{ body: rulesOf(), if_match: '"0"' },
    })
    expect(put).toMatchObject({ status: 200, etag: '"1"', body: { built_in: false, version: 1 } })
    expect((await api.call('GET', '/benchmark-policy', project)).body).toEqual(put.body)
    await api.call('DELETE', path('default'), project)
    expect((await api.call('GET', '/benchmark-policy', project)).body).toEqual(first.body)
  })

  test('is another one by its id, which must exist', async () => {
    const project = await api.newProject()
    const put = await api.call('PUT', path('checkout'), project, { body: rulesOf() })
    const found = await api.call('GET', '/benchmark-policy?policy_id=checkout', project)
    expect(found.body).toEqual(put.body)
    expect(codeOf(await api.call('GET', '/benchmark-policy?policy_id=other', project))).toEqual([
      ...[404, 'release_policy_not_found'],
    ])
  })
})

describe('versions', () => {
  test('are written by changes of the rules alone, and are kept with their digests', async () => {
    const project = await api.newProject()
    const put = (change: object, if_match?: string) =>
      api.call('PUT', path('p'), project, {
        body: rulesOf(change),
        ...(if_match !== undefined && { if_match }),
      })
    const first = await put({})
    expect(first.body).toMatchObject({
      policy: {
        ...{ id: 'p', version: '1', confidence: 0.95, max_age: '7d', max_attempts: 5 },
        gates: [{ ...successGate, tier: 'critical', min_samples: 1 }],
      },
      ...{ created_by: 'user:user-1', updated_by: 'user:user-1' },
    })
    expect(digestPolicy(first.body.policy)).toBe(first.body.policy.digest)
    expect((await put({ max_attempts: 5 }, '"1"')).body).toEqual(first.body)
    const second = await put({ max_attempts: 3 }, '"1"')
    expect([second.etag, second.body.policy.max_attempts]).toEqual(['"2"', 3])
    expect(codeOf(await put({ max_attempts: 4 }, '"1"'))).toEqual([412, 'precondition_failed'])
    expect(codeOf(await put({ max_attempts: 4 }, '"x"'))).toEqual([412, 'precondition_failed'])
    const list = await api.call('GET', `${path('p')}/versions?limit=1`, project)
    expect(list.body).toMatchObject({ versions: [{ version: 2 }], total: 2 })
    const next = `${path('p')}/versions?limit=1&cursor=${list.body.next_cursor}`
    expect((await api.call('GET', next, project)).body).toMatchObject({
      ...{ versions: [{ version: 1 }], next_cursor: null },
    })
    const [name] = JSON.parse(Buffer.from(list.body.next_cursor, 'base64url').toString())
    for (const version of [-1e308, 1.5, 2 ** 31, 0, 'x', null]) {
      const cursor = Buffer.from(JSON.stringify([name, version])).toString('base64url')
      const reply = await api.call('GET', `${path('p')}/versions?cursor=${cursor}`, project)
      expect(codeOf(reply)).toEqual([400, 'invalid_cursor'])
    }
    const one = await api.call('GET', `${path('p')}/versions/1`, project)
    expect(one.body.policy).toEqual(first.body.policy)
  })

  test('outlive the policy, and go on when it is created again', async () => {
    const project = await api.newProject()
    await api.call('PUT', path('p'), project, { body: rulesOf() })
    expect(codeOf(await api.call('DELETE', path('p'), project, { if_match: '"2"' }))).toEqual([
      ...[412, 'precondition_failed'],
    ])
    const deleted = await api.call('DELETE', path('p'), project, { if_match: '"1"' })
    expect(deleted.status).toBe(204)
    expect(codeOf(await api.call('GET', path('p'), project))[0]).toBe(404)
    expect(codeOf(await api.call('DELETE', path('p'), project))[0]).toBe(404)
    expect((await api.call('GET', `${path('p')}/versions/1`, project)).status).toBe(200)
    expect((await api.call('GET', '/release-policies', project)).body.total).toBe(0)
    const again = await api.call('PUT', path('p'), project, { body: rulesOf(), if_match: '"0"' })
    expect(again).toMatchObject({ status: 200, body: { version: 2, policy: { version: '2' } } })
    expect(codeOf(await api.call('GET', `${path('p')}/versions/3`, project))[0]).toBe(404)
  })

  test('of concurrent writes are all different', async () => {
    const project = await api.newProject()
    const writes = Array.from({ length: 8 }, (_, i) =>
      api.call('PUT', path('p'), project, { body: rulesOf({ max_attempts: i + 1 }) }),
    )
    const versions = (await Promise.all(writes)).map(({ body }) => body.version)
    expect(versions.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    // Both differ from the rules in force: a write that changes nothing makes no version.
    const once = await Promise.all(
      [9, 10].map((max_attempts) =>
        api.call('PUT', path('p'), project, { body: rulesOf({ max_attempts }), if_match: '"8"' }),
      ),
    )
    expect(once.map(({ status }) => status).toSorted()).toEqual([200, 412])
  })
})

test('policies are listed by id, in pages', async () => {
  const project = await api.newProject()
  for (const id of ['b', 'a', 'c']) {
    await api.call('PUT', path(id), project, { body: rulesOf() })
  }
  const first = await api.call('GET', '/release-policies?limit=2', project)
  expect(first.body.policies.map(({ policy_id }: { policy_id: string }) => policy_id)).toEqual([
    ...['a', 'b'],
  ])
  expect(first.body.total).toBe(3)
  const cursor = `/release-policies?limit=2&cursor=${first.body.next_cursor}`
  expect((await api.call('GET', cursor, project)).body).toMatchObject({
    ...{ policies: [{ policy_id: 'c' }], next_cursor: null },
  })
  expect(codeOf(await api.call('GET', '/release-policies?cursor=x', project))).toEqual([
    ...[400, 'invalid_cursor'],
  ])
})

const gate = (change: object) => ({ gates: [{ ...successGate, ...change }] })

test.each<[object, string, RegExp]>([
  [{ gates: [] }, '/gates', /at least 1/],
  [{}, '/gates', /a list, got nothing/],
  [gate({ metric: 'succes_rate' }), '/gates/0/metric', /task_success_rate.*loop_rate/],
  [gate({ threshold: 1.5 }), '/gates/0/threshold', /above 0 and below 1/],
  [gate({ threshold: undefined }), '/gates/0/threshold', /a number for the kind absolute/],
  [gate({ max_rate: 0.1 }), '/gates/0/max_rate', /no value for the kind absolute/],
  [
    gate({ kind: 'zero_tolerance', threshold: undefined, max_rate: 1 }),
    ...(['/gates/0/max_rate', /less than 1/] as const),
  ],
  [gate({ min_samples: 0 }), '/gates/0/min_samples', /at least 1/],
  [gate({ min_samples: 1.5 }), '/gates/0/min_samples', /a whole number/],
  [gate({ tier: 'urgent' }), '/gates/0/tier', /critical/],
  [gate({ direction: 'lower' }), '/gates/0/direction', /higher/],
  [gate({ colour: 1 }), '/gates/0/colour', /not a field/],
  [{ gates: [successGate, successGate] }, '/gates/1', /repeated/],
  [gate({ tier: 'advisory' }), '/gates', /critical or supporting/],
  [rulesOf({ max_age: 'soon' }), '/max_age', /a duration/],
  [rulesOf({ confidence: 95 }), '/confidence', /at most 0.999/],
  [rulesOf({ multiple_testing: 'none' }), '/multiple_testing', /holm/],
  [rulesOf({ version: 3 }), '/version', /not a field/],
])('refuses %j', async (body, pointer, detail) => {
  const project = await api.newProject()
  const refused = await api.call('PUT', path('p'), project, { body })
  expect(codeOf(refused)).toEqual([400, 'invalid_request'])
  expect(refused.body.errors).toContainEqual({ pointer, detail: expect.stringMatching(detail) })
})

test.each(['Default', 'a_b', 'x'.repeat(64), '-a'])('refuses the id %s', async (id) => {
  const project = await api.newProject()
  const refused = await api.call('PUT', path(id), project, { body: rulesOf() })
  expect(codeOf(refused)).toEqual([400, 'invalid_request'])
})

describe('access', () => {
  test('readers read, admins write, and keys only read', async () => {
    const project = await api.newProject()
    const as = (role: string) => ({ headers: tokenOf(role, project) })
    expect((await api.call('GET', '/benchmark-policy', project, as('viewer'))).status).toBe(200)
    const body = rulesOf()
    const editor = await api.call('PUT', path('p'), project, { ...as('editor'), body })
    expect(codeOf(editor)).toEqual([403, 'permission_denied'])
    const key = (scopes: string) => noAuthorization(keyOf(project, scopes))
    const run = { headers: key('certification:run') }
    expect((await api.call('GET', '/benchmark-policy', project, run)).status).toBe(200)
    const other = { headers: key('tasks:read') }
    expect((await api.call('GET', '/benchmark-policy', project, other)).status).toBe(403)
    expect((await api.call('PUT', path('p'), project, { ...run, body })).status).not.toBe(200)
  })

  test('the policies of another project are not found', async () => {
    const [project, other] = [await api.newProject(), await api.newProject()]
    await api.call('PUT', path('p'), project, { body: rulesOf() })
    for (const [method, at] of [
      ['GET', path('p')],
      ['GET', `${path('p')}/versions`],
      ['GET', `${path('p')}/versions/1`],
      ['DELETE', path('p')],
    ] as const) {
      expect(codeOf(await api.call(method, at, other))).toEqual([404, 'release_policy_not_found'])
    }
    await api.call('PUT', path('p'), other, { body: rulesOf({ max_attempts: 2 }) })
    const mine = await api.call('GET', path('p'), project)
    expect(mine.body).toMatchObject({ version: 1, policy: { max_attempts: 5 } })
  })
})

describe('a policy of a resource', () => {
  const owner = {
    ...{ kind: 'ReleasePolicy', namespace: 'team-a', name: 'p', uid: 'uid-1' },
    installation: newId(),
  }
  const declarer = `ReleasePolicy/team-a/p/${owner.installation}`
  const asOperator = (project: string) => ({ headers: noAuthorization(operatorOf(project)) })

  test('is changed and deleted by that resource only', async () => {
    const project = await api.newProject()
    const declare = (by: object, change: object = {}) =>
      api.call('PUT', path('p'), project, {
        ...{ body: rulesOf({ managed_by: by, ...change }), ...asOperator(project) },
      })
    expect((await declare(owner)).body).toMatchObject({ version: 1, managed_by: owner })
    for (const refused of [
      await api.call('PUT', path('p'), project, { body: rulesOf({ max_attempts: 2 }) }),
      await api.call('DELETE', path('p'), project),
      await declare({ ...owner, namespace: 'team-b' }),
      await declare({ ...owner, installation: newId() }),
    ]) {
      expect(codeOf(refused)).toEqual([409, 'managed_by_kubernetes'])
      expect(refused.body.detail).toContain('ReleasePolicy team-a/p')
    }
    const list = `/release-policies?managed_by=${declarer}`
    expect((await api.call('GET', list, project)).body.total).toBe(1)
    expect((await declare(owner, { max_attempts: 2 })).body.version).toBe(2)
    const url = `${path('p')}?managed_by=${declarer}`
    const retained = await api.call('DELETE', `${url}&retain=true`, project, asOperator(project))
    expect(retained.status).toBe(204)
    expect((await api.call('GET', path('p'), project)).body).toMatchObject({
      ...{ version: 2, managed_by: null },
    })
    expect(codeOf(await api.call('DELETE', url, project, asOperator(project)))).toEqual([
      ...[403, 'permission_denied'],
    ])
    // A policy without an owner is adopted, without another version.
    const adopted = await declare(owner, { max_attempts: 2 })
    expect(adopted.body).toMatchObject({ version: 2, managed_by: owner })
    expect((await api.call('DELETE', url, project, asOperator(project))).status).toBe(204)
  })

  test('is named by the operator only', async () => {
    const project = await api.newProject()
    const asUser = await api.call('PUT', path('p'), project, {
      body: rulesOf({ managed_by: owner }),
    })
    expect(codeOf(asUser)).toEqual([400, 'invalid_request'])
    const unnamed = await api.call('PUT', path('p'), project, {
      ...{ body: rulesOf(), ...asOperator(project) },
    })
    expect(codeOf(unnamed)).toEqual([400, 'invalid_request'])
  })
})

test('a project has at most 100 policies', async () => {
  const project = await api.newProject()
  for (let i = 0; i < 100; i += 1) {
    await api.call('PUT', path(`p-${i}`), project, { body: rulesOf() })
  }
  const refused = await api.call('PUT', path('more'), project, { body: rulesOf() })
  expect(codeOf(refused)).toEqual([409, 'limit_reached'])
  const changed = await api.call('PUT', path('p-1'), project, {
    body: rulesOf({ max_attempts: 2 }),
  })
  expect(changed.status).toBe(200)
})
