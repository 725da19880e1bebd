import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type Kind, kinds, projectGrantSpec } from '../../src/operator/index.ts'
import { projectGrantKind } from '../../src/operator/kinds/project-grant/index.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs, editor } from '../support/kube/api-server.ts'
import { type Editor, editorOf } from '../support/kube/editor.ts'
import { grantProject, grantsOf } from '../support/kube/grants.ts'
import { doomedOperator, killAtEachWrite } from '../support/kube/killed-operators.ts'
import {
  type ProductCluster,
  type ProductPlace,
  productOperator,
  productOptions,
  productPlace,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import type { Resources } from '../support/kube/resources.ts'
import { readyOf } from '../support/kube/resources.ts'

/** Attacks by a user who may edit the resources of one namespace, and nothing else. */
let cluster: ProductCluster
/** Not granted anything; `editor` may edit its resources. */
let eves: ProductPlace

beforeAll(async () => {
  cluster = await sharedProductCluster()
  eves = await productPlace(cluster, { isGranted: false })
  await letEdit(eves.namespace)
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

const letEdit = (namespace: string) => editorOf(cluster.server, editor).letEdit(namespace)
const edit: Editor['edit'] = (...change) => editorOf(cluster.server, editor).edit(...change)
const apply: Editor['apply'] = (...resource) => editorOf(cluster.server, editor).apply(...resource)

const account = (projectRef: object, more: object = {}) => ({
  ...{ projectRef, resyncPeriod: '30s', scopes: ['tasks:read'] },
  keys: [{ name: 'main', secretName: 'robot-key' }],
  ...more,
})
const policy = (projectRef: object, more: object = {}) => ({
  ...{ projectRef, resyncPeriod: '30s', traces: { days: 1 }, observations: { days: 1 } },
  ...more,
})
const grants = () => grantsOf(cluster.server)
const kindsOf = (spec: object) => (spec as { kinds: string[] }).kinds

/** Inserts an organization with a project, as its own members would create them. */
async function strangersProject(name: string): Promise<string> {
  const [organization_id, id] = [newId(), newId()]
  const { db } = cluster.service
  const organization = { id: organization_id, name: `strangers-${organization_id}` }
  await db.insertInto('organizations').values(organization).execute()
  await db.insertInto('projects').values({ id, organization_id, name }).execute()
  return id
}

const liveSecret = async (on: ProductPlace, name = 'robot-key') =>
  (await on.secrets()).get(name)?.data['api-key']

const isGood = async (key: string) => {
  const path = '/api/v2/observability/retention-policy'
  return (await cluster.service.call('GET', path, { key })).status !== 401
}

describe('an editor of one namespace', () => {
  test('gets no key and shortens no retention of a project that is not granted', async () => {
    const own = await productPlace(cluster)
    const refs = [
      { id: own.project },
      { name: own.project },
      { organization: 'default', name: own.project },
    ]
    await using _ = await productOperator(cluster, [own.namespace, eves.namespace])
    const annotations = {
      'looptrace.dev/project-id': own.project,
      'looptrace.dev/external-id': own.project,
    }
    for (const [n, ref] of refs.entries()) {
      const metadata = { annotations }
      await apply(eves.accounts, {
        name: `spy-${n}`,
        kind: 'LooptraceServiceAccount',
        spec: account(ref),
      })
      await apply(eves.policies, {
        name: `short-${n}`,
        kind: 'RetentionPolicy',
        spec: policy(ref),
        metadata,
      })
    }
    for (const n of refs.keys()) {
      const { message } = readyOf(await eves.accounts.notReady(`spy-${n}`, 'NotGranted'))
      expect(message).toMatch(/no ProjectGrant lets .* Ask an administrator/)
      await eves.policies.notReady(`short-${n}`, 'NotGranted')
    }
    expect([await own.liveKeys(), (await own.policy()).managed_by]).toEqual([[], null])
    expect([...(await eves.secrets()).keys()]).toEqual([])
    for (const n of refs.keys()) {
      await eves.accounts.remove(`spy-${n}`)
      await eves.policies.remove(`short-${n}`)
    }
  })

  test('may not write grants or statuses', async () => {
    const may = async (verb: string, what: string, ...more: string[]) => {
      const asked = ['auth', 'can-i', verb, what, '-n', eves.namespace, ...more]
      return (await cluster.server.kubectl(asked, { user: editor })).stdout.trim()
    }
    expect(await may('create', 'retentionpolicies.looptrace.dev')).toBe('yes')
    for (const verb of ['create', 'update', 'patch', 'delete']) {
      expect(await may(verb, 'projectgrants.looptrace.dev')).toMatch(/^no/)
    }
    expect(await may('patch', 'retentionpolicies.looptrace.dev', '--subresource=status')).toMatch(
      /^no/,
    )
  })

  test.each<[string, { spec?: object; metadata?: object; isGranted?: boolean }]>([
    ['without a grant', { isGranted: false }],
    ['suspended', { spec: { suspend: true } }],
    ['paused', { metadata: { annotations: { 'looptrace.dev/paused': 'true' } } }],
    ['of another class', { spec: { className: 'nobody' } }],
  ])('keeps no legal hold from being placed by an older policy, %s', async (_what, more) => {
    const [own, other] = [await productPlace(cluster), await productPlace(cluster)]
    if (more.isGranted !== false) await grantProject(cluster.server, other.namespace, own.project)
    const spec = policy({ id: own.project }, more.spec)
    await other.policies.apply('squat', spec, more.metadata)
    await youngerThan(other.policies, 'squat')
    await using _ = await productOperator(cluster, [own.namespace, other.namespace])
    const legalHolds = [{ name: 'case', userId: 'ada', reason: 'case 12' }]
    await own.policies.apply('rightful', policy({ id: own.project }, { legalHolds }))
    await own.policies.ready('rightful')
    expect((await own.policy()).legal_holds).toMatchObject([{ name: 'case', value: 'ada' }])
  })

  test('keeps no legal hold from being placed by an older policy that never ends deleting', async () => {
    const [own, other] = [await productPlace(cluster), await productPlace(cluster)]
    await grantProject(cluster.server, other.namespace, own.project)
    await using _ = await productOperator(cluster, [own.namespace, other.namespace])
    const metadata = { finalizers: ['example.com/never'] }
    await other.policies.apply('squat', policy({ id: own.project }), metadata)
    await other.policies.ready('squat')
    await youngerThan(other.policies, 'squat')
    await own.policies.apply('rightful', policy({ id: own.project }, { content: { days: 1 } }))
    await own.policies.notReady('rightful', 'Conflict')
    await other.policies.remove('squat')
    await own.policies.ready('rightful')
    expect((await own.policy()).managed_by).toMatchObject({ name: 'rightful' })
    await other.policies.apply('squat', policy({ id: own.project }), { finalizers: [] })
  })
})

/** Waits for the next second: the age of a resource has seconds. */
async function youngerThan(of: Resources, name: string): Promise<void> {
  const created = Date.parse((await of.read(name))?.metadata.creationTimestamp)
  await eventually('the next second', () => Date.now() >= created + 1_000)
}

describe('a name', () => {
  test('keeps its project when a stranger creates another of the name', async () => {
    const own = await productPlace(cluster, { isGranted: false })
    const name = `checkout-${own.namespace}`
    const project = await cluster.service.project(name)
    await grantProject(cluster.server, own.namespace, { organization: 'default', name })
    await using operator = await productOperator(cluster, [own.namespace])
    await own.policies.apply('a', policy({ name }))
    await own.policies.ready('a')
    await strangersProject(name)
    const writes = operator.writes.length
    await own.policies.apply('b', policy({ name }, { className: 'default', suspend: true }))
    await own.policies.apply('a', policy({ name }, { traces: { days: 2 } }))
    expect((await own.policies.ready('a')).status.projectId).toBe(project)
    expect(operator.writes.length).toBeGreaterThan(writes)
  })

  test('of a project that does not exist yet is not captured by a stranger', async () => {
    const own = await productPlace(cluster, { isGranted: false })
    const name = `future-${own.namespace}`
    const grant = await grantProject(cluster.server, own.namespace, {
      organization: 'default',
      name,
    })
    await using _ = await productOperator(cluster, [own.namespace])
    await own.accounts.apply('waiting', account({ name }))
    await own.accounts.notReady('waiting', 'NotGranted')
    await strangersProject(name)
    const now = { annotations: { 'looptrace.dev/reconcile-requested-at': 'now' } }
    const { spec } = (await grants().notReady(grant, 'ProjectNotFound')) ?? {}
    await grants().apply(grant, spec, now)
    await own.accounts.apply('waiting', account({ name }), now)
    await own.accounts.notReady('waiting', 'NotGranted')
    const project = await cluster.service.project(name)
    await grants().ready(grant)
    const ready = await own.accounts.ready('waiting')
    expect(ready.status).toMatchObject({ projectId: project, grant: { name: grant } })
    expect(ready.metadata.annotations['looptrace.dev/project-id']).toBe(project)
  })

  test('of two granted projects is ambiguous until it is made precise', async () => {
    const own = await productPlace(cluster, { isGranted: false })
    const name = `twice-${own.namespace}`
    const project = await cluster.service.project(name)
    const strangers = await strangersProject(name)
    const { organization_id } = await cluster.service.db
      .selectFrom('projects')
      .select('organization_id')
      .where('id', '=', strangers)
      .executeTakeFirstOrThrow()
    const organization = `strangers-${organization_id}`
    const first = await grantProject(cluster.server, own.namespace, {
      ...{ organization: 'default', name },
    })
    const second = await grantProject(cluster.server, own.namespace, { organization, name })
    await using _ = await productOperator(cluster, [own.namespace])
    for (const grant of [first, second]) await grants().ready(grant)
    await own.policies.apply('a', policy({ name }))
    const { message } = readyOf(await own.policies.notReady('a', 'ProjectAmbiguous'))
    expect(message).toContain('Set projectRef.organization')
    await own.policies.apply('a', policy({ organization: 'default', name }))
    expect((await own.policies.ready('a')).status.projectId).toBe(project)
    await own.policies.apply('a', policy({ id: strangers }))
    await own.policies.notReady('a', 'ProjectChanged')
    await own.policies.remove('a')
    await own.policies.gone('a')
    expect((await own.policy()).managed_by).toBeNull()
  })
})

describe('the ceilings of a grant', () => {
  test('bound the scopes of an account and the keys of a namespace, also of a burst', async () => {
    const own = await productPlace(cluster, { isGranted: false })
    await grantProject(cluster.server, own.namespace, own.project, {
      ...{ scopes: ['tasks:read'], maxKeys: 3 },
    })
    await using _ = await productOperator(cluster, [own.namespace])
    const ref = { id: own.project }
    await own.accounts.apply('wide', account(ref, { scopes: ['tasks:read', 'query:run'] }))
    const wide = readyOf(await own.accounts.notReady('wide', 'NotGranted'))
    expect(wide?.message).toContain('allows no scope query:run')
    await own.accounts.remove('wide')
    const names = Array.from({ length: 6 }, (_one, n) => `burst-${n}`)
    await Promise.all(
      names.map((name) =>
        own.accounts.apply(name, account(ref, { keys: [{ name: 'k', secretName: name }] })),
      ),
    )
    await eventually('three are Ready and three refused', async () => {
      const all = await Promise.all(names.map((name) => own.accounts.read(name)))
      const reasons = all.map((one) => readyOf(one)?.reason).toSorted()
      return reasons.join() === 'NotGranted,NotGranted,NotGranted,Synced,Synced,Synced'
    })
    expect(await own.liveKeys()).toHaveLength(3)
  })
})

describe('a withdrawn grant', () => {
  const revokeAfter = '60s'

  async function granted() {
    const own = await productPlace(cluster, { isGranted: false })
    const grant = await grantProject(cluster.server, own.namespace, own.project, { revokeAfter })
    const spec = (await grants().read(grant))?.spec
    await letEdit(own.namespace)
    const operator = await productOperator(cluster, [own.namespace])
    const ref = { id: own.project }
    await own.accounts.apply('robot', account(ref))
    await own.policies.apply('keep', policy(ref, { legalHolds: [hold] }))
    await own.accounts.ready('robot')
    await own.policies.ready('keep')
    const key = String(await liveSecret(own))
    const dispose = () => operator.stop()
    return { own, operator, grant, spec, key, ref, [Symbol.asyncDispose]: dispose }
  }
  const hold = { name: 'case', userId: 'ada', reason: 'case 12' }

  test('with a misspelt kind is not Ready and says so, and grants the others', async () => {
    await using on = await granted()
    await grants().apply(on.grant, { ...on.spec, kinds: [...kindsOf(on.spec), 'RetentionPolcy'] })
    const grant = await grants().notReady(on.grant, 'UnknownKind')
    expect(readyOf(grant)?.message).toContain('got "RetentionPolcy", expected kinds that use')
    await on.own.policies.ready('keep')
  })

  test('that is applied again without a kind in use warns of it', async () => {
    await using on = await granted()
    await eventually('the kinds are noted', async () => {
      return (await grants().read(on.grant))?.status?.kinds !== undefined
    })
    // Events about resources of the cluster are in this namespace, which every cluster has.
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
    await cluster.server.ask('POST', '/api/v1/namespaces', { body: namespace })
    const kinds = kindsOf(on.spec).filter((kind) => kind !== 'LooptraceServiceAccount')
    await grants().apply(on.grant, { ...on.spec, kinds })
    const told = async () => {
      const path = '/apis/events.k8s.io/v1/namespaces/default/events'
      const { items } = await cluster.server.tell('GET', path)
      return items.find(
        (event: { reason: string; regarding?: { name: string } }) =>
          event.reason === 'KindsInUseLeft' && event.regarding?.name === on.grant,
      )
    }
    const event = await eventually('the warning', told)
    expect(event).toMatchObject({
      type: 'Warning',
      note: expect.stringContaining('LooptraceServiceAccount (1)'),
    })
  })

  test('that returns within the grace changes nothing', async () => {
    await using on = await granted()
    await grants().remove(on.grant)
    const robot = await on.own.accounts.notReady('robot', 'NotGranted')
    const { since, revokeAt } = robot.status.withdrawal
    expect(Date.parse(revokeAt) - Date.parse(since)).toBe(60_000)
    expect(await isGood(on.key)).toBe(true)
    await grants().apply(on.grant, on.spec)
    expect((await on.own.accounts.ready('robot')).status.withdrawal).toBeUndefined()
    expect((await on.own.policies.ready('keep')).status.withdrawal).toBeUndefined()
    expect(await liveSecret(on.own)).toBe(on.key)
  })

  test('revokes keys and releases the policy in time, whatever the editor edits', async () => {
    await using on = await granted()
    await grants().remove(on.grant)
    const [robot, keep] = await Promise.all([
      on.own.accounts.notReady('robot', 'NotGranted'),
      on.own.policies.notReady('keep', 'NotGranted'),
    ])
    const annotations = {
      'looptrace.dev/paused': 'true',
      'looptrace.dev/project-id': eves.project,
      'looptrace.dev/external-id': newId(),
    }
    const finalizers = ['looptrace.dev/finalizer', 'example.com/never']
    const change = { metadata: { annotations, finalizers }, spec: { suspend: true } }
    await edit(on.own.accounts, 'robot', change)
    await edit(on.own.policies, 'keep', change)
    const isRevoked = (before: ProductPlace['accounts'], name: string, revokeAt: string) =>
      before.until(name, 'is revoked', ({ status }) => {
        expect(status.withdrawal.revokeAt).toBe(revokeAt)
        return status.withdrawal.revokedAt !== undefined
      })
    await isRevoked(on.own.accounts, 'robot', robot.status.withdrawal.revokeAt)
    await isRevoked(on.own.policies, 'keep', keep.status.withdrawal.revokeAt)
    expect([await isGood(on.key), await liveSecret(on.own)]).toEqual([false, undefined])
    expect(await on.own.liveKeys()).toEqual([])
    expect(await on.own.policy()).toMatchObject({ managed_by: null, days: { traces: 1 } })
    const [withdrawn] = await on.own.accountsInService()
    expect(withdrawn).toMatchObject({ disabled_at: expect.any(String) })
    expect(withdrawn.name).toMatch(/ \(withdrawn [0-9a-f-]{36}\)$/)

    await grants().apply(on.grant, on.spec)
    const undo = { metadata: { annotations: null, finalizers: ['looptrace.dev/finalizer'] } }
    await edit(on.own.accounts, 'robot', { ...undo, spec: { suspend: false } })
    await edit(on.own.policies, 'keep', { ...undo, spec: { suspend: false } })
    const again = await on.own.accounts.ready('robot')
    expect([again.status.projectId, again.status.withdrawal]).toEqual([on.own.project, undefined])
    await on.own.policies.ready('keep')
    expect(await isGood(String(await liveSecret(on.own)))).toBe(true)
    expect(await on.own.accountsInService()).toMatchObject([
      { id: withdrawn.id, name: `${on.own.namespace}/robot`, disabled_at: null },
    ])
  })

  test('leaves no key, even if the resource is deleted with Retain within the grace', async () => {
    await using on = await granted()
    await grants().remove(on.grant)
    await on.own.accounts.notReady('robot', 'NotGranted')
    await on.own.policies.notReady('keep', 'NotGranted')
    await edit(on.own.accounts, 'robot', { spec: { deletionPolicy: 'Retain' } })
    await edit(on.own.policies, 'keep', { spec: { deletionPolicy: 'Retain' } })
    for (const [of, name] of [
      [on.own.accounts, 'robot'],
      [on.own.policies, 'keep'],
    ] as const) {
      await of.remove(name)
      await of.gone(name)
    }
    expect([await isGood(on.key), await on.own.liveKeys()]).toEqual([false, []])
    expect([...(await on.own.secrets()).keys()]).toEqual([])
    expect(await on.own.policy()).toMatchObject({ managed_by: null, days: { traces: 1 } })
  })

  test('that this operator cannot read, as after a rollback, withdraws nothing', async () => {
    await using on = await granted()
    await on.operator.stop()
    await using later = await productOperator(cluster, [on.own.namespace], { kinds: olderKinds })
    await eventually('the grant is refused', () => later.logged().includes('roles'))
    await on.own.policies.apply('keep', policy(on.ref, { traces: { days: 2 } }))
    await eventually('the policy is reconciled', () => later.logged().includes('cannot be read'))
    expect(readyOf(await on.own.policies.read('keep'))).toMatchObject({ status: 'True' })
    expect(await isGood(on.key)).toBe(true)
  })

  test('by the label of a namespace is withdrawn with the label', async () => {
    const own = await productPlace(cluster, { isGranted: false })
    const grant = await grantProject(cluster.server, own.namespace, own.project, {
      namespaces: { selector: { matchLabels: { team: own.namespace } } },
    })
    await using _ = await productOperator(cluster, [own.namespace])
    await own.policies.apply('a', policy({ id: own.project }))
    await own.policies.notReady('a', 'NotGranted')
    const label = (team: string | null) =>
      cluster.server.tell('PATCH', `/api/v1/namespaces/${own.namespace}`, {
        body: { metadata: { labels: { team } } },
        type: 'application/merge-patch+json',
      })
    await label(own.namespace)
    await own.policies.ready('a')
    await grants().apply(grant, (await grants().read(grant))?.spec, {
      annotations: { 'looptrace.dev/reconcile-requested-at': 'now' },
    })
    await grants().until(grant, 'counts', ({ status }) => status.namespaces === 1)
    await label(null)
    await own.policies.notReady('a', 'NotGranted')
  })
})

test('a withdrawal that is killed at each write is completed by the next operator', async () => {
  const killed = await killAtEachWrite<ProductPlace>({
    place: async () => {
      const own = await productPlace(cluster, { isGranted: false })
      const revokeAfter = '4s'
      const grant = await grantProject(cluster.server, own.namespace, own.project, { revokeAfter })
      await using _ = await productOperator(cluster, [own.namespace])
      await own.accounts.apply('robot', account({ id: own.project }))
      await own.policies.apply('keep', policy({ id: own.project }))
      await Promise.all([own.accounts.ready('robot'), own.policies.ready('keep')])
      await grants().remove(grant)
      return own
    },
    operator: async ({ namespace }, write) =>
      doomedOperator(await productOptions(cluster, [namespace]), write),
    isDone: isWithdrawn,
    ...{ at_once: 4, writes: 8 },
  })
  const places = killed.map(({ place }) => place)
  await using _ = await productOperator(
    cluster,
    places.map(({ namespace }) => namespace),
  )
  for (const own of places) {
    await isWithdrawn(own)
    expect([await own.liveKeys(), [...(await own.secrets()).keys()]]).toEqual([[], []])
    expect(await own.policy()).toMatchObject({ managed_by: null, days: { traces: 1 } })
    expect(await own.accountsInService()).toHaveLength(1)
  }
})

/** The kinds of an older operator, which does not know a field of the grants. */
const olderKinds: readonly Kind[] = [
  ...kinds.filter(({ kind }) => kind !== 'ProjectGrant'),
  { ...projectGrantKind, spec: projectGrantSpec.omit({ roles: true }) as unknown as Kind['spec'] },
]

/** Waits until both resources report that the withdrawal is complete. */
async function isWithdrawn({ accounts, policies }: ProductPlace): Promise<void> {
  for (const [of, name] of [
    [accounts, 'robot'],
    [policies, 'keep'],
  ] as const) {
    await of.until(name, 'is withdrawn', ({ status }) => Boolean(status?.withdrawal?.revokedAt))
  }
}

test('the operator applies the grants of its installation and deletes former ones', async () => {
  const own = await productPlace(cluster, { isGranted: false })
  const spec = {
    project: { id: own.project },
    namespaces: { names: [own.namespace] },
    kinds: ['RetentionPolicy'],
  }
  const name = `installed-${own.namespace}`
  const start = (all: readonly { name: string; spec: object }[]) =>
    productOperator(cluster, [own.namespace], {
      settings: { namespaces: [own.namespace], grants: all },
    })
  {
    await using _ = await start([{ name, spec }])
    await grants().ready(name)
    await own.policies.apply('a', policy({ id: own.project }))
    await own.policies.ready('a')
  }
  const others = await grantProject(cluster.server, own.namespace, eves.project)
  await using _ = await start([])
  await grants().gone(name)
  await own.policies.notReady('a', 'NotGranted')
  expect(await grants().read(others)).toBeDefined()
})
