import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs, limitedAccount } from '../support/kube/api-server.ts'
import {
  type AccountCluster,
  type AccountPlace,
  accountPlace,
  operatorOf,
  sharedAccountCluster,
} from '../support/kube/declared-accounts.ts'
import { grantProject } from '../support/kube/grants.ts'
import { eventReasons } from '../support/kube/resources.ts'
import { budget } from '../support/suite/budget.ts'

const scopes = ['proxy:write', 'tasks:read']
let cluster: AccountCluster

beforeAll(async () => {
  cluster = await sharedAccountCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

/** A namespace for one test with an operator. */
async function createPlace(options: { times?: number } = {}) {
  const on = await accountPlace(cluster)
  // Resyncs and first retries are due within half a second.
  const operator = await operatorOf(cluster, on, { times: 60, ...options })
  return { ...on, operator, [Symbol.asyncDispose]: () => operator.stop() }
}

const specOf = ({ project }: AccountPlace, more: object = {}) => ({
  projectRef: { id: project },
  resyncPeriod: '30s',
  scopes,
  keys: [{ name: 'main', secretName: 'robot-key' }],
  ...more,
})

/** A place in which the resource `robot` is Ready. */
async function createReadyPlace() {
  const on = await createPlace()
  await on.accounts.apply('robot', specOf(on))
  await on.accounts.ready('robot')
  return on
}

const keyIn = async (on: AccountPlace, name: string, entry = 'api-key') =>
  String((await on.secret(name))?.data[entry])

const waitForEvent = (on: AccountPlace, name: string, reason: string) =>
  eventually(`an event ${reason}`, async () =>
    (await eventReasons(cluster.server, on.namespace, name)).includes(reason),
  )

/** Waits until the Secret has another key than this one, and the operator reports Ready. */
async function anotherKey(on: AccountPlace, name: string, old: string): Promise<string> {
  const key = await eventually('another key', async () => {
    const now = (await on.secret(name))?.data['api-key']
    return now === old || now === undefined ? undefined : String(now)
  })
  await eventually('the new key is good', () => on.isGood(key))
  return key
}

/** Every valid key is in a Secret, and every Secret has one. */
async function isWhole(on: AccountPlace, secretNames: readonly string[]) {
  const inSecrets = await Promise.all(secretNames.map((name) => keyIn(on, name)))
  const prefixes = (await on.liveKeys()).map(({ prefix }) => prefix)
  expect(prefixes.toSorted()).toEqual(inSecrets.map((key) => key.slice(0, 14)).toSorted())
  for (const key of inSecrets) expect(await on.isGood(key)).toBe(true)
}

/** Deleted without its finalizer, as when a cluster is rebuilt from a backup. */
async function lose(on: AccountPlace, name: string): Promise<void> {
  await cluster.server.tell('PATCH', on.accounts.path(name), {
    body: { metadata: { finalizers: null, annotations: { 'looptrace.dev/paused': 'true' } } },
    type: 'application/merge-patch+json',
  })
  await on.accounts.remove(name)
  await on.accounts.gone(name)
}

const secretsUrl = (on: AccountPlace, name = '') =>
  `/api/v1/namespaces/${on.namespace}/secrets${name && `/${name}`}`

describe('an account', () => {
  test('is in the service, its key in its own Secret, and the status lists both', async () => {
    await using on = await createPlace()
    await on.accounts.apply('robot', specOf(on))
    const { status, metadata } = await on.accounts.ready('robot')
    const [account, ...others] = await on.inService()
    expect(others).toEqual([])
    expect(account).toMatchObject({
      ...{ name: `${on.namespace}/robot`, scopes, disabled_at: null, created_by: null },
      managed_by: {
        ...{ kind: 'LooptraceServiceAccount', namespace: on.namespace, name: 'robot' },
        uid: metadata.uid,
      },
    })
    expect(metadata.annotations['looptrace.dev/external-id']).toBe(account.id)
    const [key] = await on.liveKeys()
    expect(key).toMatchObject({ name: 'main', scopes, service_account_id: account.id })
    expect(status).toMatchObject({
      ...{ projectId: on.project, serviceAccountId: account.id },
      keys: [{ name: 'main', keyId: key.id, prefix: key.prefix, secretName: 'robot-key' }],
    })
    const secret = await on.secret('robot-key')
    expect(secret?.metadata).toMatchObject({
      labels: { 'app.kubernetes.io/managed-by': 'looptrace-operator' },
      ownerReferences: [{ kind: 'LooptraceServiceAccount', uid: metadata.uid, controller: true }],
    })
    expect(Object.keys(secret?.data)).toEqual(['api-key'])
    await isWhole(on, ['robot-key'])
    for (const reason of ['Created', 'KeyMinted']) await waitForEvent(on, 'robot', reason)
    const value = await keyIn(on, 'robot-key')
    expect(on.operator.logged()).not.toContain(value.slice(-32))
    expect(JSON.stringify(status)).not.toContain(value.slice(-32))
  })

  test('cannot be changed by other callers, nor can its keys', async () => {
    await using on = await createReadyPlace()
    const [{ id }] = await on.inService()
    const [{ id: key_id }] = await on.liveKeys()
    const keys = `/projects/${on.project}/api-keys/${key_id}`
    for (const reply of [
      await on.call('PUT', `/service-accounts/${id}`, { name: 'mine', scopes: [] }),
      await on.call('DELETE', `/service-accounts/${id}`),
      await on.call('POST', `/service-accounts/${id}/disable`),
      await on.call('POST', `/service-accounts/${id}/enable`),
      await on.call('POST', `/service-accounts/${id}/keys`, {}),
      await on.call('POST', `${keys}/revoke`),
      await on.call('POST', `${keys}/rotate`),
      await on.call('POST', `${keys}/scopes`, { scopes: [] }),
    ]) {
      expect([reply.status, reply.body.code]).toEqual([409, 'managed_by_kubernetes'])
      expect(reply.body.detail).toContain(`LooptraceServiceAccount ${on.namespace}/robot`)
    }
    await isWhole(on, ['robot-key'])
  })

  test('follows its spec: name, scopes, disabled', async () => {
    await using on = await createReadyPlace()
    const key = await keyIn(on, 'robot-key')
    for (const changed of [['tasks:read'], ['tasks:read', 'query:run', 'access:read']]) {
      await on.accounts.apply('robot', specOf(on, { scopes: changed, displayName: 'Robot ' }))
      await on.accounts.ready('robot')
      const [account] = await on.inService()
      expect(account.name).toBe('Robot')
      expect(account.scopes.toSorted()).toEqual(changed.toSorted())
      const [one] = await on.liveKeys()
      expect(one.scopes.toSorted()).toEqual(changed.toSorted())
    }
    await on.accounts.apply('robot', specOf(on, { disabled: true }))
    const { status } = await on.accounts.ready('robot')
    expect(status.conditions[0].message).toContain('disabled as declared')
    expect(await on.isGood(key)).toBe(false)
    await on.accounts.apply('robot', specOf(on, { disabled: false }))
    await on.accounts.ready('robot')
    expect(await on.isGood(key)).toBe(true)
    expect(await keyIn(on, 'robot-key')).toBe(key)
  })

  test('that was changed in the store is corrected, and that is reported', async () => {
    await using on = await createReadyPlace()
    const { db } = cluster.service
    const [{ id }] = await on.inService()
    await db
      .updateTable('service_accounts')
      .set({ scopes: ['query:run'], name: 'else', managed_by: null })
      .where('id', '=', id)
      .execute()
    await eventually('it is as declared', async () => {
      const [account] = await on.inService()
      return account.name !== 'else' && account.managed_by !== null
    })
    await waitForEvent(on, 'robot', 'DriftCorrected')
    await db.deleteFrom('service_accounts').where('id', '=', id).execute()
    const again = await eventually('it is there again', async () => {
      const [account] = await on.inService()
      return account?.id
    })
    const { metadata } = await on.accounts.until('robot', 'has the new id', (resource) => {
      return resource.metadata.annotations['looptrace.dev/external-id'] === again
    })
    expect(metadata.generation).toBe(1)
    await on.accounts.until('robot', 'tells the new key', ({ status }) => {
      return status.serviceAccountId === again && status.keys.length === 1
    })
    await isWhole(on, ['robot-key'])
  })
})

describe('a key', () => {
  test('whose Secret is lost or edited is revoked, and another one is created', async () => {
    await using on = await createReadyPlace()
    const first = await keyIn(on, 'robot-key')
    await cluster.server.tell('DELETE', secretsUrl(on, 'robot-key'))
    const second = await anotherKey(on, 'robot-key', first)
    await eventually('the lost key is revoked', async () => !(await on.isGood(first)))
    await waitForEvent(on, 'robot', 'DriftCorrected')
    const edited = second.replace(/.$/, (end) => (end === 'x' ? 'y' : 'x'))
    const body = { data: { 'api-key': Buffer.from(edited).toString('base64') } }
    await cluster.server.tell('PATCH', secretsUrl(on, 'robot-key'), {
      ...{ body, type: 'application/merge-patch+json' },
    })
    await eventually('a third key', async () => {
      const key = await keyIn(on, 'robot-key')
      return key !== edited && key !== second && (await on.isGood(key))
    })
    await eventually('the second key is revoked', async () => !(await on.isGood(second)))
    await isWhole(on, ['robot-key'])
  })

  test('is kept if only its surroundings were changed', async () => {
    await using on = await createReadyPlace()
    const key = await keyIn(on, 'robot-key')
    const labels = { 'looptrace.dev/owner-uid': null, mine: 'too' }
    const body = { metadata: { labels }, data: { more: 'YQ==' } }
    await cluster.server.tell('PATCH', secretsUrl(on, 'robot-key'), {
      ...{ body, type: 'application/merge-patch+json' },
    })
    const secret = await eventually('it is whole again', async () => {
      const now = await on.secret('robot-key')
      return now?.data.more === undefined && now?.metadata.labels['looptrace.dev/owner-uid'] && now
    })
    expect(secret.metadata.labels.mine).toBe('too')
    expect(await keyIn(on, 'robot-key')).toBe(key)
    for (const secretKey of ['token', 'constructor', '__proto__']) {
      const keys = [{ name: 'main', secretName: 'robot-key', secretKey }]
      await on.accounts.apply('robot', { ...specOf(on), keys })
      await on.accounts.ready('robot')
      const { data } = (await on.secret('robot-key')) ?? {}
      expect(Object.entries(data ?? {})).toEqual([[secretKey, key]])
    }
    expect(await on.isGood(key)).toBe(true)
  })

  test('is not written into a Secret of another owner, and the others are', async () => {
    await using on = await createPlace()
    const foreign = { metadata: { name: 'taken' }, stringData: { 'api-key': 'mine' } }
    await cluster.server.tell('POST', secretsUrl(on), {
      body: { apiVersion: 'v1', kind: 'Secret', ...foreign },
    })
    const keys = [
      { name: 'one', secretName: 'taken' },
      { name: 'two', secretName: 'free' },
    ]
    await on.accounts.apply('robot', specOf(on, { keys }))
    const { status } = await on.accounts.notReady('robot', 'SecretNotOwned')
    expect(status.conditions[0].message).toContain('Secret taken of key one')
    expect(status.keys).toMatchObject([{ name: 'two', secretName: 'free' }])
    await isWhole(on, ['free'])
    expect(await keyIn(on, 'taken')).toBe('mine')
    await waitForEvent(on, 'robot', 'SecretNotOwned')
    await cluster.server.tell('DELETE', secretsUrl(on, 'taken'))
    await on.accounts.ready('robot')
    await isWhole(on, ['free', 'taken'])
  })

  test('that is no longer declared is revoked and its Secret deleted', async () => {
    await using on = await createPlace()
    const keys = ['a', 'b', 'c'].map((name) => ({ name, secretName: `robot-${name}` }))
    await on.accounts.apply('robot', specOf(on, { keys }))
    await on.accounts.ready('robot')
    await isWhole(on, ['robot-a', 'robot-b', 'robot-c'])
    const gone = [await keyIn(on, 'robot-b'), await keyIn(on, 'robot-c')]
    const [a] = keys
    await on.accounts.apply('robot', specOf(on, { keys: [a, { name: 'c', secretName: 'moved' }] }))
    await on.accounts.ready('robot')
    expect(await on.secretNames()).toEqual(['moved', 'robot-a'])
    await isWhole(on, ['moved', 'robot-a'])
    for (const key of gone) expect(await on.isGood(key)).toBe(false)
  })

  test('is rotated: the old one works for the overlap, and then expires', async () => {
    // Ten minutes of the operator's clock in three seconds.
    await using on = await createPlace({ times: 200 })
    const keys = [{ name: 'main', secretName: 'robot-key', rotateAfter: '10m', overlap: '400s' }]
    await on.accounts.apply('robot', specOf(on, { keys }))
    await on.accounts.ready('robot')
    const first = await keyIn(on, 'robot-key')
    const second = await anotherKey(on, 'robot-key', first)
    expect(await on.isGood(first)).toBe(true)
    const { status } = await on.accounts.until('robot', 'tells the key before', (resource) => {
      return resource.status.keys[0].previous?.length > 0
    })
    expect(status.keys[0]).toMatchObject({
      ...{ rotatesAt: expect.any(String), previous: [{ endsAt: expect.any(String) }] },
    })
    await waitForEvent(on, 'robot', 'KeyRotated')
    await eventually('the first key has ended', async () => !(await on.isGood(first)))
    expect(second).not.toBe(first)
    const keysOfIt = await on.liveKeys()
    expect(keysOfIt.length).toBeLessThanOrEqual(2)
  })

  test('that cannot be written is not left behind', async () => {
    const on = await accountPlace(cluster)
    await using operator = await operatorOf(cluster, on, { user: limitedAccount })
    await on.accounts.apply('robot', specOf(on))
    const { status } = await on.accounts.notReady('robot', 'Forbidden')
    expect(status.conditions[0].message).toMatch(/create.*secrets/)
    expect(operator.writes.some((what) => what.includes('/keys'))).toBe(false)
    expect(await on.liveKeys()).toEqual([])
  })

  test('is one, and valid, after two concurrent operators', async () => {
    await using on = await createPlace()
    await using _other = await operatorOf(cluster, on)
    await on.accounts.apply('robot', specOf(on))
    await on.accounts.ready('robot')
    const losses = budget({ test: 2, soak: 5 })
    for (let lost = 0; lost < losses; lost += 1) {
      const key = await keyIn(on, 'robot-key')
      await cluster.server.tell('DELETE', secretsUrl(on, 'robot-key'))
      await anotherKey(on, 'robot-key', key)
      await eventually('there is one live key', async () => (await on.liveKeys()).length === 1)
      await isWhole(on, ['robot-key'])
    }
    expect(await on.inService()).toHaveLength(1)
    const { body } = await on.call('GET', `/projects/${on.project}/api-keys`)
    // Each of the two created at most one each time: neither revoked the other's key.
    expect(body.total).toBeLessThanOrEqual(2 * (losses + 1))
  })

  test('that is not declared is revoked', async () => {
    await using on = await createReadyPlace()
    const [{ id }] = await on.inService()
    const { kind, namespace, name, uid } = (await on.inService())[0].managed_by
    const stray = await cluster.service.call('POST', `/api/v2/access/service-accounts/${id}/keys`, {
      ...{ project_id: on.project, key: cluster.service.operator_key },
      body: { managed_by: { kind, namespace, name, uid } },
    })
    expect(stray.status).toBe(201)
    await eventually('it is revoked', async () => !(await on.isGood(stray.body.key)))
    await isWhole(on, ['robot-key'])
  })
})

describe('a deleted resource', () => {
  test('removes account, keys and Secrets', async () => {
    await using on = await createReadyPlace()
    const key = await keyIn(on, 'robot-key')
    await on.accounts.remove('robot')
    await on.accounts.gone('robot')
    expect(await on.inService()).toEqual([])
    expect(await on.liveKeys()).toEqual([])
    expect(await on.secretNames()).toEqual([])
    expect(await on.isGood(key)).toBe(false)
  })

  test('with Retain releases account and Secrets, which anyone may change then', async () => {
    await using on = await createPlace()
    await on.accounts.apply('robot', specOf(on, { deletionPolicy: 'Retain' }))
    const { metadata } = await on.accounts.ready('robot')
    const key = await keyIn(on, 'robot-key')
    await on.accounts.remove('robot')
    await on.accounts.gone('robot')
    const [account] = await on.inService()
    expect(account.managed_by).toBeNull()
    const secret = await on.secret('robot-key')
    expect(secret?.metadata.ownerReferences).toBeUndefined()
    expect(secret?.metadata.labels).toBeUndefined()
    expect(secret?.metadata.annotations['looptrace.dev/retained-from']).toContain('robot')
    expect(await on.isGood(key)).toBe(true)
    const url = `/service-accounts/${account.id}`
    expect((await on.call('PUT', url, { name: 'mine', scopes: [] })).status).toBe(200)
    expect(metadata.uid).not.toBe('')
  })

  test('with Retain is declared again, with the account and the keys that it left', async () => {
    await using on = await createPlace()
    await on.accounts.apply('robot', specOf(on, { deletionPolicy: 'Retain' }))
    const { status } = await on.accounts.ready('robot')
    const key = await keyIn(on, 'robot-key')
    await on.accounts.remove('robot')
    await on.accounts.gone('robot')
    const annotations = { 'looptrace.dev/external-id': status.serviceAccountId }
    await on.accounts.apply('again', specOf(on), { annotations })
    const { metadata } = await on.accounts.ready('again')
    expect(await keyIn(on, 'robot-key')).toBe(key)
    const secret = await on.secret('robot-key')
    expect(secret?.metadata.ownerReferences).toMatchObject([{ uid: metadata.uid }])
    await isWhole(on, ['robot-key'])
  })

  test('with Retain is applied again under its name, and adopts what it left', async () => {
    await using on = await createPlace()
    await on.accounts.apply('robot', specOf(on, { deletionPolicy: 'Retain' }))
    const { status } = await on.accounts.ready('robot')
    const key = await keyIn(on, 'robot-key')
    await on.accounts.remove('robot')
    await on.accounts.gone('robot')
    await on.accounts.apply('robot', specOf(on))
    const again = await on.accounts.ready('robot')
    expect(again.status.serviceAccountId).toBe(status.serviceAccountId)
    expect(await keyIn(on, 'robot-key')).toBe(key)
    await isWhole(on, ['robot-key'])
  })

  test('of a missing project is gone at once', async () => {
    await using on = await createPlace()
    const id = newId()
    await grantProject(cluster.server, on.namespace, id)
    for (const [projectRef, reason] of [
      [{ id }, 'ProjectNotFound'],
      [{ name: 'no such project' }, 'NotGranted'],
    ] as const) {
      await on.accounts.apply('robot', specOf(on, { projectRef }))
      await on.accounts.notReady('robot', reason)
      await on.accounts.remove('robot')
      await on.accounts.gone('robot')
    }
    expect(await on.secretNames()).toEqual([])
  })
})

describe('an existing account', () => {
  test('is not adopted by its name, but by its id in the annotation', async () => {
    await using on = await createPlace()
    const made = await on.call('POST', '/service-accounts', { name: 'robot', scopes: [] })
    await on.accounts.apply('robot', specOf(on, { displayName: 'robot' }))
    const { status } = await on.accounts.notReady('robot', 'NameTaken')
    expect(status.conditions[0].message).toContain('looptrace.dev/external-id')
    expect(await on.secretNames()).toEqual([])
    const annotations = { 'looptrace.dev/external-id': made.body.id }
    await on.accounts.apply('robot', specOf(on, { displayName: 'robot' }), { annotations })
    await on.accounts.ready('robot')
    expect(await on.inService()).toMatchObject([{ id: made.body.id, scopes }])
    await isWhole(on, ['robot-key'])
    await waitForEvent(on, 'robot', 'Adopted')
  })

  test('is found again by a resource that was restored from a backup, with another uid', async () => {
    await using on = await createPlace()
    await on.accounts.apply('robot', specOf(on))
    const { status, metadata } = await on.accounts.ready('robot')
    const key = await keyIn(on, 'robot-key')
    await lose(on, 'robot')
    await on.accounts.apply('robot', specOf(on))
    const restored = await on.accounts.ready('robot')
    expect(restored.metadata.uid).not.toBe(metadata.uid)
    expect(restored.status).toMatchObject({ serviceAccountId: status.serviceAccountId })
    expect(await on.inService()).toMatchObject([{ managed_by: { uid: restored.metadata.uid } }])
    expect(await keyIn(on, 'robot-key')).toBe(key)
    await isWhole(on, ['robot-key'])
  })

  test('stays with the resource that declares it, and goes to another when that is deleted', async () => {
    await using on = await createPlace()
    await on.accounts.apply('first', specOf(on))
    const { status, metadata } = await on.accounts.ready('first')
    const annotations = { 'looptrace.dev/external-id': status.serviceAccountId }
    const keys = [{ name: 'main', secretName: 'other-key' }]
    await on.accounts.apply('second', specOf(on, { keys }), { annotations })
    const refused = await on.accounts.notReady('second', 'Conflict')
    expect(refused.status.conditions[0].message).toContain('/first')
    await isWhole(on, ['robot-key'])
    await lose(on, 'first')
    await on.accounts.ready('second')
    expect(await on.inService()).toMatchObject([
      { id: status.serviceAccountId, managed_by: { name: 'second' } },
    ])
    expect(metadata.name).toBe('first')
  })
})
