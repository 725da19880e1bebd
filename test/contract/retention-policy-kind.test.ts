import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { retentionBody } from '../../src/capabilities/lifecycle/retention/retention-policy/policy-schema.ts'
import { newId } from '../../src/kernel/ids.ts'
import { projectGrantKind } from '../../src/operator/kinds/project-grant/index.ts'
import { retentionPolicyKind } from '../../src/operator/kinds/retention-policy/index.ts'
import { desiredPolicy } from '../../src/operator/kinds/retention-policy/policy.ts'
import { retentionPolicySpec } from '../../src/operator/kinds/retention-policy/spec.ts'
import { eventually } from '../support/eventually.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  operatorAccount,
} from '../support/kube/api-server.ts'
import { grantProject, grantsOf } from '../support/kube/grants.ts'
import type { OperatedService } from '../support/kube/operated-service.ts'
import { startTestOperator, type TestOperator } from '../support/kube/operator.ts'
import { eventReasons, type Resources, readyOf, resourcesOf } from '../support/kube/resources.ts'
import { sharedApiServer } from '../support/kube/shared-api-server.ts'
import { sharedService } from '../support/kube/shared-service.ts'

const path = '/api/v2/observability/retention-policy'
const forEver = { content: null, observations: null, traces: null, events: null }
const kind = retentionPolicyKind
const operated = [kind, projectGrantKind]
let server: ApiServer
let service: OperatedService

beforeAll(async () => {
  server = await sharedApiServer(operated)
  service = await sharedService()
}, apiServerStartTimeoutMs)
afterAll(() => server?.[Symbol.asyncDispose]())

type Place = AsyncDisposable & {
  namespace: string
  policies: Resources
  operator: TestOperator
  project: string
  /** The policy as the service returns it. */
  shown(project?: string): Promise<ReturnType<typeof JSON.parse>>
}

/** A namespace and a project for one test, and an operator for them. */
async function createPlace(): Promise<Place> {
  const namespace = await server.namespace()
  const project = await service.project()
  await grantProject(server, namespace, project)
  const operator = startTestOperator({
    kubeconfig: await server.kubeconfig(operatorAccount),
    service_url: service.url,
    service_key: service.operator_key,
    kinds: operated,
    // Resyncs and first retries are due within half a second.
    times: 60,
    settings: { namespaces: [namespace] },
  })
  return {
    ...{ namespace, operator, project },
    policies: resourcesOf(server, kind, namespace),
    shown: async (project_id = project) => (await service.call('GET', path, { project_id })).body,
    [Symbol.asyncDispose]: () => operator.stop(),
  }
}

/** The spec for a project id, with a short resync period. */
const specOf = (project: string, more: object = {}) => ({
  ...{ projectRef: { id: project }, resyncPeriod: '30s' },
  ...{ traces: { days: 365 }, observations: { days: 90 } },
  ...more,
})

const hold = (name: string, userId: string) => ({ name, userId, reason: `case ${name}` })

/** Waits until an event about the resource has the reason. */
const waitForEvent = (namespace: string, name: string, reason: string) =>
  eventually(`an event ${reason}`, async () =>
    (await eventReasons(server, namespace, name)).includes(reason),
  )

describe('a policy', () => {
  test('is applied to the service, and the status reports the result', async () => {
    await using on = await createPlace()
    const spec = specOf(on.project, {
      content: { days: 30 },
      environments: [{ name: 'dev', observations: { days: 7 }, traces: {} }],
      archive: { enabled: true, afterDays: 7, beforeDelete: true },
      legalHolds: [hold('a', 'ada'), { name: 'b', traceId: newId(), reason: 'b' }],
    })
    expect((await on.policies.apply('default', spec)).status).toBe(201)
    const { status, metadata } = await on.policies.ready('default')
    expect(await on.shown()).toMatchObject({
      days: { traces: 365, observations: 90, content: 30, events: 90 },
      environments: [{ environment: 'dev', days: { observations: 7, traces: null } }],
      archive: { enabled: true, after_days: 7, schedule: '0 4 * * *' },
      archive_before_delete: true,
      managed_by: {
        ...{ kind: 'RetentionPolicy', namespace: on.namespace, name: 'default' },
        uid: metadata.uid,
      },
      updated_by: expect.stringMatching(/^operator:/),
    })
    expect(status).toMatchObject({
      ...{ projectId: on.project, appliedGeneration: 1, policyVersion: 1 },
      ...{ rowsDeleted: 0, bytesDeleted: 0, heldCount: 2, drift: { count: 0 } },
      nextRunTime: expect.stringMatching(/T03:00:00.000Z$/),
      nextArchiveTime: expect.stringMatching(/T04:00:00.000Z$/),
      holds: [
        { name: 'a', holdId: expect.any(String) },
        { name: 'b', holdId: expect.any(String) },
      ],
    })
    expect(metadata.annotations['looptrace.dev/external-id']).toBe(on.project)
    await waitForEvent(on.namespace, 'default', 'Applied')
  })

  test('cannot be changed by other callers, and follows a change of the resource', async () => {
    await using on = await createPlace()
    await on.policies.apply('default', specOf(on.project))
    await on.policies.ready('default')
    const about = { project_id: on.project, body: { days: {} } }
    for (const method of ['PUT', 'DELETE']) {
      const refused = await service.call(
        method,
        path,
        method === 'PUT' ? about : { project_id: on.project },
      )
      expect([refused.status, refused.body.code]).toEqual([409, 'managed_by_kubernetes'])
      expect(refused.body.detail).toContain(`RetentionPolicy ${on.namespace}/default`)
    }
    await on.policies.apply('default', specOf(on.project, { observations: { days: 9 } }))
    const ready = await on.policies.ready('default')
    expect(ready.status).toMatchObject({ appliedGeneration: 2, drift: { count: 0 } })
    expect((await on.shown()).days).toMatchObject({ observations: 9 })
    await waitForEvent(on.namespace, 'default', 'Updated')
  })

  test('that was changed in the database is corrected, counted and reported', async () => {
    await using on = await createPlace()
    await on.policies.apply('default', specOf(on.project, { legalHolds: [hold('a', 'ada')] }))
    await on.policies.ready('default')
    const row = service.db.updateTable('retention_policies').where('project_id', '=', on.project)
    const changes = [
      () => row.set({ days: JSON.stringify({ ...forEver, traces: 1, observations: 1 }) }).execute(),
      () => row.set({ managed_by: null, archive_before_delete: true }).execute(),
      () => service.db.deleteFrom('legal_holds').where('project_id', '=', on.project).execute(),
      () =>
        service.db.deleteFrom('retention_policies').where('project_id', '=', on.project).execute(),
    ]
    for (const [at, change] of changes.entries()) {
      await change()
      const { status } = await on.policies.until(
        'default',
        `is right for the ${at + 1}th time`,
        (it) => it.status.drift.count === at + 1,
      )
      expect(status.drift.lastTime).toMatch(/Z$/)
      expect(await on.shown()).toMatchObject({
        days: { traces: 365, observations: 90, content: null, events: 90 },
        ...{ archive_before_delete: false, managed_by: { name: 'default' }, held_count: 1 },
        legal_holds: [{ name: 'a', value: 'ada' }],
      })
    }
    await waitForEvent(on.namespace, 'default', 'DriftCorrected')
    expect(readyOf(await on.policies.read('default')).status).toBe('True')
  })

  test('without changes is read and not written', async () => {
    await using on = await createPlace()
    await on.policies.apply('default', specOf(on.project))
    await on.policies.ready('default')
    const puts = () => on.operator.writes.filter((what) => what.startsWith('PUT')).length
    const before = puts()
    await service.db
      .insertInto('legal_holds')
      .values({
        ...{ id: newId(), project_id: on.project, kind: 'user', value: 'bob', reason: 'by hand' },
        ...{ created_at: new Date(), created_by: 'user:1' },
      })
      .execute()
    // Values that it does not declare are reported in the status, and are no drift.
    const seen = await on.policies.until('default', 'tells', (it) => it.status.heldCount === 1)
    expect(seen.status).toMatchObject({ holds: [], drift: { count: 0 } })
    expect(puts()).toBe(before)
  })
})

describe('two policies for one project', () => {
  test('the older one wins, the other names it, and takes over when it is deleted', async () => {
    await using on = await createPlace()
    const days = (observations: number) => ({ observations: { days: observations } })
    await on.policies.apply(
      'b-first',
      specOf(on.project, { ...days(7), legalHolds: [hold('a', 'ada')] }),
    )
    await on.policies.ready('b-first')
    await until_next_second()
    await on.policies.apply(
      'a-second',
      specOf(on.project, { ...days(8), legalHolds: [hold('a', 'bob')] }),
    )
    const loser = await on.policies.notReady('a-second', 'Conflict')
    expect(readyOf(loser).message).toContain(`${on.namespace}/b-first`)
    expect((await on.shown()).days.observations).toBe(7)
    await on.policies.remove('b-first')
    await on.policies.gone('b-first')
    await on.policies.ready('a-second')
    expect(await on.shown()).toMatchObject({
      ...{ days: { observations: 8 }, managed_by: { name: 'a-second' }, held_count: 1 },
      legal_holds: [{ name: 'a', value: 'bob' }],
    })
  })

  test('one whose owner vanished without finalization is taken over', async () => {
    await using on = await createPlace()
    const owner = { kind: kind.kind, namespace: on.namespace, name: 'gone', uid: 'gone' }
    const body = { days: { traces: 3, observations: 3 }, managed_by: owner, legal_holds: [] }
    const about = { project_id: on.project, key: service.operator_key, body }
    expect((await service.call('PUT', path, about)).status).toBe(200)
    await on.policies.apply('default', specOf(on.project))
    await on.policies.ready('default')
    expect(await on.shown()).toMatchObject({ managed_by: { name: 'default' }, version: 2 })
  })
})

describe('a deleted policy', () => {
  test('removes its policy and holds, and no others', async () => {
    await using on = await createPlace()
    const body = { kind: 'user', value: 'ada', reason: 'my own' }
    const holds = '/api/v2/observability/legal-holds'
    await service.call('POST', holds, { project_id: on.project, body })
    const declared = [hold('a', 'ada'), hold('b', 'bob')]
    await on.policies.apply('default', specOf(on.project, { legalHolds: declared }))
    expect((await on.policies.ready('default')).status.heldCount).toBe(2)
    await on.policies.remove('default')
    await on.policies.gone('default')
    expect(await on.shown()).toMatchObject({ version: 0, managed_by: null, held_count: 1 })
  })

  test('leaves both with deletionPolicy Retain, for anyone to change', async () => {
    await using on = await createPlace()
    const spec = { deletionPolicy: 'Retain', legalHolds: [hold('a', 'ada'), hold('b', 'ada')] }
    await on.policies.apply('default', specOf(on.project, spec))
    expect((await on.policies.ready('default')).status.heldCount).toBe(1)
    await on.policies.remove('default')
    await on.policies.gone('default')
    expect(await on.shown()).toMatchObject({
      ...{ days: { observations: 90 }, managed_by: null, legal_holds: [], held_count: 1 },
    })
    const about = { project_id: on.project, body: { days: {} } }
    expect((await service.call('PUT', path, about)).status).toBe(200)
  })

  test('is deleted also if its project is gone, or another resource owns it now', async () => {
    await using on = await createPlace()
    const second = await service.project()
    await grantProject(server, on.namespace, second)
    await on.policies.apply('one', specOf(on.project))
    await on.policies.apply('other', specOf(second))
    await on.policies.ready('one')
    await on.policies.ready('other')
    await on.operator.stop()
    await service.db.deleteFrom('projects').where('id', '=', on.project).execute()
    const owner = { kind: kind.kind, namespace: 'elsewhere', name: 'x', uid: 'x' }
    await service.db
      .updateTable('retention_policies')
      .set({ managed_by: JSON.stringify(owner) })
      .where('project_id', '=', second)
      .execute()
    await on.policies.remove('one')
    await on.policies.remove('other')
    await using _next = startTestOperator({
      kubeconfig: await server.kubeconfig(operatorAccount),
      service_url: service.url,
      service_key: service.operator_key,
      kinds: operated,
      settings: { namespaces: [on.namespace] },
    })
    await on.policies.gone('one')
    await on.policies.gone('other')
    expect(await on.shown(second)).toMatchObject({ managed_by: owner, version: 1 })
  })
})

test('a missing project is reported, and reconciled once it exists', async () => {
  await using on = await createPlace()
  const missing = newId()
  await grantProject(server, on.namespace, missing)
  await on.policies.apply('by-id', specOf(missing))
  await on.policies.notReady('by-id', 'ProjectNotFound')
  const name = `project of ${on.namespace}`
  const grantName = await grantProject(server, on.namespace, { organization: 'default', name })
  await on.policies.apply('by-name', { ...specOf(''), projectRef: { name } })
  await grantsOf(server).notReady(grantName, 'ProjectNotFound')
  await on.policies.notReady('by-name', 'NotGranted')
  const project = await service.project(name)
  const { status } = await on.policies.ready('by-name')
  expect(status.projectId).toBe(project)
  expect((await on.shown(project)).managed_by).toMatchObject({ name: 'by-name' })
})

test('a refusal of the service is reported in words', async () => {
  await using on = await createPlace()
  const rows = Array.from({ length: 1_000 }, (_, at) => ({
    ...{ id: newId(), project_id: on.project, kind: 'task' as const, value: `t${at}`, reason: 'x' },
    ...{ created_at: new Date(), created_by: 'user:1' },
  }))
  await service.db.insertInto('legal_holds').values(rows).execute()
  await on.policies.apply('default', specOf(on.project, { legalHolds: [hold('a', 'ada')] }))
  await on.policies.notReady('default', 'TooManyHolds')
  expect((await on.shown()).version).toBe(0)
})

/** Creation times are whole seconds. */
async function until_next_second(): Promise<void> {
  const second = () => Math.floor(Date.now() / 1_000)
  const before = second()
  await eventually('another second', () => second() > before)
}

describe('a spec that the service would refuse', () => {
  let policies: Resources
  let project: string
  beforeAll(async () => {
    policies = resourcesOf(server, kind, await server.namespace())
    project = newId()
  })

  /** The API server's answer; nothing is stored. */
  const dryRunApply = (spec: object) => {
    const metadata = { name: 'x', namespace: policies.path().split('/')[5] }
    const body = { apiVersion: 'looptrace.dev/v1alpha1', kind: kind.kind, metadata, spec }
    return server.ask('POST', `${policies.path()}?dryRun=All&fieldValidation=Strict`, { body })
  }

  test.each<[string, object, RegExp]>([
    ['observations for longer than traces', { traces: { days: 9 } }, /observations\.days/],
    ['content for longer than observations', { content: { days: 91 } }, /content\.days/],
    ['events for longer than observations', { events: { days: 91 } }, /events\.days/],
    ['0 days', { observations: { days: 0 } }, /greater than or equal to 1/],
    ['half a day', { observations: { days: 0.5 } }, /integer/],
    ['36,501 days', { traces: { days: 36_501 } }, /less than or equal to 36500/],
    ['an unknown field', { spans: { days: 3 } }, /unknown field/],
    ['an archive after no days', { archive: { enabled: true } }, /afterDays/],
    ['a schedule of every minute', { archive: { schedule: '* * * * *' } }, /schedule/],
    ['a hold on nothing', { legalHolds: [{ name: 'a', reason: 'x' }] }, /exactly one of/],
    [
      'a hold on two things',
      { legalHolds: [{ name: 'a', taskId: 't', userId: 'u', reason: 'x' }] },
      /exactly one of/,
    ],
    ['a hold without a reason', { legalHolds: [{ name: 'a', taskId: 't' }] }, /reason/],
    ['two holds of a name', { legalHolds: [hold('a', 'x'), hold('a', 'y')] }, /Duplicate/i],
    ['two of an environment', { environments: [{ name: 'a' }, { name: 'a' }] }, /Duplicate/i],
    [
      '101 holds',
      { legalHolds: Array.from({ length: 101 }, (_, at) => hold(`h${at}`, 'x')) },
      /at most 100 items/,
    ],
    ['an invalid trace', { legalHolds: [{ name: 'a', traceId: 'x', reason: 'x' }] }, /traceId/],
    ['no project', { projectRef: {} }, /either id, or name/],
    ['two projects', { projectRef: { id: newId(), name: 'x' } }, /either id, or name/],
    ['an id with an organization', { projectRef: { id: newId(), organization: 'x' } }, /either id/],
    ['an organization alone', { projectRef: { organization: 'x' } }, /either id, or name/],
  ])('%s', async (_, more, message) => {
    const { status, text } = await dryRunApply({ ...specOf(project), ...more })
    expect([400, 422]).toContain(status)
    expect(text).toMatch(message)
  })

  test('the rules refuse exactly what the service refuses', async () => {
    const random = randomOf(20_261_121)
    const seen = { taken: 0, refused: 0 }
    for (let at = 0; at < 400; at += 1) {
      const spec = randomSpec(random)
      const meta = { kind: kind.kind, namespace: 'a', name: 'a', uid: 'a', annotations: {} }
      const resource = {
        meta: { ...meta, generation: 1, created_at: '', external_id: undefined },
        spec: retentionPolicySpec.parse(spec),
      }
      const is_taken = retentionBody.safeParse(desiredPolicy(resource)).success
      const { status, text } = await dryRunApply(spec)
      expect([status, JSON.stringify(spec), text]).toEqual([
        is_taken ? 201 : 422,
        ...[JSON.stringify(spec), expect.any(String)],
      ])
      seen[is_taken ? 'taken' : 'refused'] += 1
    }
    expect(seen.taken).toBeGreaterThan(50)
    expect(seen.refused).toBeGreaterThan(50)
  })

  test('projectRef can only be made more precise', async () => {
    const id = newId()
    const change = async (projectRef: object) => {
      const spec = { ...specOf(project), projectRef, suspend: true }
      const { status, text } = await policies.apply('fixed', spec)
      return status === 422 ? /more precise/.test(text) && 'refused' : status
    }
    expect(await change({ name: 'one' })).toBe(201)
    expect(await change({ name: 'two' })).toBe('refused')
    expect(await change({ name: 'two', organization: 'acme' })).toBe('refused')
    expect(await change({ name: 'one', organization: 'acme' })).toBe(200)
    expect(await change({ name: 'one' })).toBe('refused')
    expect(await change({ name: 'one', organization: 'other' })).toBe('refused')
    expect(await change({ id })).toBe(200)
    expect(await change({ id: newId() })).toBe('refused')
    expect(await change({ name: 'one', organization: 'acme' })).toBe('refused')
  })
})

/** Random days and environments; few days, so that they meet. */
function randomSpec(random: (below: number) => number) {
  const section = () => (random(4) === 0 ? {} : { days: 1 + random(4) })
  const sections = () =>
    Object.fromEntries(
      ['traces', 'observations', 'content', 'events'].flatMap((name) =>
        random(2) === 0 ? [[name, section()]] : [],
      ),
    )
  const environments = ['dev', 'prod'].slice(random(3)).map((name) => ({ name, ...sections() }))
  return { projectRef: { name: 'default' }, ...sections(), environments }
}

/** Pseudo-random numbers from a fixed seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) % below
  }
}
