import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import { crdOf } from '../../src/operator/index.ts'
import { serviceAccountKind } from '../../src/operator/kinds/service-account/index.ts'
import { type KubeClient, KubeInvalid, KubeUnavailable } from '../../src/platform/kube/index.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs, limitedAccount } from '../support/kube/api-server.ts'
import {
  type AccountCluster,
  type AccountPlace,
  accountPlace,
  operatorOf,
  sharedAccountCluster,
} from '../support/kube/declared-accounts.ts'
import type { TestOperator } from '../support/kube/operator.ts'

let cluster: AccountCluster

beforeAll(async () => {
  cluster = await sharedAccountCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

const specOf = ({ project }: AccountPlace, more: object = {}) => ({
  projectRef: { id: project },
  resyncPeriod: '30s',
  scopes: ['tasks:read'],
  keys: [{ name: 'main', secretName: 'robot-key' }],
  ...more,
})

const secretUrl = ({ namespace }: AccountPlace, name: string) =>
  `/api/v1/namespaces/${namespace}/secrets/${name}`

const patchSecret = (on: AccountPlace, name: string, body: object) =>
  cluster.server.tell('PATCH', secretUrl(on, name), { body, type: 'application/merge-patch+json' })

/** Every key that was ever minted in the project. */
const mintedKeys = async (on: AccountPlace) =>
  (await on.call('GET', `/projects/${on.project}/api-keys?limit=1000`)).body.total

/** With this speed, the time for which a refusal is watched is 50 s of the operator's clock. */
const times = 60
const watched_ms = 50_000 / times

/** Writes of Secrets that fail as they would at the server, except in a dry run. */
const failing =
  (fail: () => Error, { after = false } = {}) =>
  <C extends { kube: KubeClient }>(clients: C): C => {
    const failOn =
      <R extends { plural: string }, O, A, T>(
        send: (resource: R, object: O, more?: A) => Promise<T>,
      ) =>
      async (resource: R, object: O, more?: A): Promise<T> => {
        const isDryRun = more !== undefined
        if (resource.plural !== 'secrets' || isDryRun) return send(resource, object, more)
        if (after) await send(resource, object, more)
        throw fail()
      }
    const { kube } = clients
    return {
      ...clients,
      kube: { ...kube, create: failOn(kube.create), replace: failOn(kube.replace) },
    }
  }

const act = { verb: 'create', resource: 'secrets', namespace: 'x', name: 'robot-key' }
const quota = () =>
  new KubeInvalid(act, 'exceeded quota: keys, used: secrets=1, limited: secrets=1')

const mints = ({ writes }: TestOperator) =>
  writes.filter((what) => /^POST .*service-accounts\/[^/]+\/keys$/.test(what)).length

describe('a Secret that the API server refuses', () => {
  test('costs no key at all: an immutable Secret whose key was revoked', async () => {
    const on = await accountPlace(cluster)
    await using operator = await operatorOf(cluster, on, { times })
    await on.accounts.apply('robot', specOf(on))
    await on.accounts.ready('robot')
    await patchSecret(on, 'robot-key', { immutable: true })
    await cluster.service.db
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('project_id', '=', on.project)
      .execute()
    const { status } = await on.accounts.notReady('robot', 'SecretNotWritable')
    expect(status.conditions[0].message).toContain('Secret robot-key of key main')
    expect(status.conditions[0].message).toContain('immutable')
    await sleep(watched_ms)
    expect([await mintedKeys(on), mints(operator)]).toEqual([1, 1])
    expect(await on.liveKeys()).toEqual([])
    await cluster.server.tell('DELETE', secretUrl(on, 'robot-key'))
    await on.accounts.ready('robot')
    expect(await on.liveKeys()).toHaveLength(1)
  })

  test('costs no key at all: a role without the right to create Secrets', async () => {
    const on = await accountPlace(cluster)
    await using operator = await operatorOf(cluster, on, { times, user: limitedAccount })
    await on.accounts.apply('robot', specOf(on))
    const { status } = await on.accounts.notReady('robot', 'Forbidden')
    expect(status.conditions[0].message).toMatch(/create.*secrets/)
    await sleep(watched_ms)
    expect([await mintedKeys(on), mints(operator)]).toEqual([0, 0])
  })

  test('costs one key, revoked at once, when a dry run does not show the refusal: a quota', async () => {
    const on = await accountPlace(cluster)
    {
      await using operator = await operatorOf(cluster, on, { times, clients: failing(quota) })
      await on.accounts.apply('robot', specOf(on, { keys: twoKeys }))
      const { status } = await on.accounts.notReady('robot', 'SecretNotWritable')
      expect(status.conditions[0].message).toContain('exceeded quota')
      expect(status.refusedSecrets.map(({ name }: { name: string }) => name)).toEqual(['a', 'b'])
      await sleep(watched_ms)
      expect([await mintedKeys(on), mints(operator)]).toEqual([2, 2])
      expect(await on.liveKeys()).toEqual([])
    }
    // Another process does not try again either, until the resource asks for it.
    await using operator = await operatorOf(cluster, on, { times })
    await sleep(watched_ms / 2)
    expect(mints(operator)).toBe(0)
    const annotations = { 'looptrace.dev/reconcile-requested-at': 'now' }
    await on.accounts.apply('robot', specOf(on, { keys: twoKeys }), { annotations })
    const { status } = await on.accounts.ready('robot')
    expect(status.refusedSecrets).toBeUndefined()
    expect(await on.liveKeys()).toHaveLength(2)
  })

  test('does not stop the other keys of the resource', async () => {
    const on = await accountPlace(cluster)
    await using _operator = await operatorOf(cluster, on, { times })
    await on.accounts.apply('robot', specOf(on))
    await on.accounts.ready('robot')
    await patchSecret(on, 'robot-key', { immutable: true })
    const keys = [{ name: 'main', secretName: 'robot-key', secretKey: 'other' }, ...twoKeys]
    await on.accounts.apply('robot', specOf(on, { keys }))
    const { status } = await on.accounts.notReady('robot', 'SecretNotWritable')
    expect(status.keys.map(({ name }: { name: string }) => name).toSorted()).toEqual([
      ...['a', 'b', 'main'],
    ])
    expect(await on.liveKeys()).toHaveLength(3)
  })
})

const twoKeys = ['a', 'b'].map((name) => ({ name, secretName: `key-${name}` }))

test('a Secret whose write gets no answer leaves at most one live key, which is in the Secret', async () => {
  const on = await accountPlace(cluster)
  let lost = 3
  const lose = () => new KubeUnavailable(act, 'no answer')
  const clients = <C extends { kube: KubeClient }>(given: C): C => {
    const broken = failing(lose, { after: true })(given)
    const create: KubeClient['create'] = (resource, object, options) => {
      const isLost = resource.plural === 'secrets' && options === undefined && lost-- > 0
      return (isLost ? broken : given).kube.create(resource, object, options)
    }
    return { ...given, kube: { ...given.kube, create } }
  }
  await using _operator = await operatorOf(cluster, on, { times, clients })
  await on.accounts.apply('robot', specOf(on))
  await on.accounts.ready('robot')
  const [key, ...more] = await on.liveKeys()
  expect(more).toEqual([])
  expect(String((await on.secret('robot-key'))?.data['api-key'])).toContain(key.prefix)
})

test('names that no Secret can have are refused by the cluster', async () => {
  const on = await accountPlace(cluster)
  for (const secretName of ['a..b', 'a.-b', 'a-.b', '.a', 'a.', 'A', 'a_b', '']) {
    const keys = [{ name: 'main', secretName }]
    const { status, text } = await on.accounts.apply('robot', specOf(on, { keys }))
    expect([secretName, status]).toEqual([secretName, 422])
    expect(text).toContain('secretName')
  }
  const keys = [{ name: 'main', secretName: 'a.b-c.0' }]
  expect((await on.accounts.apply('robot', specOf(on, { keys }))).status).toBe(201)
})

describe('an account that an emergency suspended', () => {
  const emergency = { emergency: true, reason: 'found in a public repository' }

  /** A ready account whose key an admin has revoked. */
  async function suspended() {
    const on = await accountPlace(cluster)
    const operator = await operatorOf(cluster, on, { times })
    await on.accounts.apply('robot', specOf(on))
    await on.accounts.ready('robot')
    const [key] = await on.liveKeys()
    const url = `/projects/${on.project}/api-keys/${key.id}/revoke`
    expect((await on.call('POST', url, emergency)).status).toBe(200)
    const [{ id }] = await on.inService()
    return { ...on, operator, id, [Symbol.asyncDispose]: () => operator.stop() }
  }

  test('says who and why, and gets no key until an admin resumes it', async () => {
    await using on = await suspended()
    const { status } = await on.accounts.notReady('robot', 'Suspended')
    const [account] = await on.inService()
    for (const part of [emergency.reason, account.suspended_by, account.suspended_at]) {
      expect(status.conditions[0].message).toContain(part)
    }
    await cluster.server.tell('DELETE', secretUrl(on, 'robot-key'))
    await sleep(watched_ms)
    expect([await mintedKeys(on), await on.liveKeys()]).toEqual([1, []])
    expect(
      (await on.call('POST', `/service-accounts/${on.id}/resume`, { reason: 'ok' })).status,
    ).toBe(200)
    await on.accounts.ready('robot')
    expect(await on.liveKeys()).toHaveLength(1)
  })

  test('is resumed by the annotation, which counts once', async () => {
    await using on = await suspended()
    await on.accounts.notReady('robot', 'Suspended')
    const annotations = { 'looptrace.dev/resume': 'the pod was rebuilt' }
    await on.accounts.apply('robot', specOf(on), { annotations })
    const { metadata } = await on.accounts.ready('robot')
    expect(metadata.annotations).not.toHaveProperty(['looptrace.dev/resume'])
    expect(await on.liveKeys()).toHaveLength(1)
    const rows = await cluster.service.db
      .selectFrom('access_emergencies')
      .selectAll()
      .where('service_account_id', '=', on.id)
      .orderBy('id')
      .execute()
    expect(rows.map(({ action, actor, reason }) => [action, actor, reason]).at(-1)).toEqual([
      ...['resume', `LooptraceServiceAccount/${on.namespace}/robot`, 'the pod was rebuilt'],
    ])
  })

  test('is not resumed by an annotation that was there before', async () => {
    const on = await accountPlace(cluster)
    await using _operator = await operatorOf(cluster, on, { times })
    const annotations = { 'looptrace.dev/resume': 'always' }
    await on.accounts.apply('robot', specOf(on), { annotations })
    const { metadata } = await on.accounts.ready('robot')
    expect(metadata.annotations).not.toHaveProperty(['looptrace.dev/resume'])
    const [key] = await on.liveKeys()
    await on.call('POST', `/projects/${on.project}/api-keys/${key.id}/revoke`, emergency)
    await on.accounts.notReady('robot', 'Suspended')
  })

  test('can be deleted with its resource', async () => {
    await using on = await suspended()
    await on.accounts.remove('robot')
    await on.accounts.gone('robot')
    expect(await on.inService()).toEqual([])
  })
})

test('a resource of an earlier version keeps its values, which are read within their bounds', async () => {
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const crd = `${crds}/${serviceAccountKind.plural}.looptrace.dev?fieldManager=test&force=true`
  const early = JSON.parse(JSON.stringify(crdOf(serviceAccountKind), withoutRules))
  await cluster.server.tell('PATCH', crd, { body: early })
  const on = await accountPlace(cluster)
  const spec = (key: object, resyncPeriod: string) =>
    specOf(on, { resyncPeriod, keys: [{ name: 'main', secretName: 'robot-key', ...key }] })
  const beyond = { rotateAfter: '30s', overlap: '30s' }
  await eventually('the earlier rules apply', async () => {
    return (await on.accounts.apply('robot', spec(beyond, '1s'))).status === 201
  })
  await cluster.server.tell('PATCH', crd, { body: crdOf(serviceAccountKind) })
  await using _operator = await operatorOf(cluster, on, { times })
  const { status } = await on.accounts.ready('robot')
  const bounds = (of: typeof status) =>
    of.conditions.find(({ type }: { type: string }) => type === 'WithinBounds')
  expect(bounds(status)).toMatchObject({
    ...{ status: 'False', reason: 'OutOfBounds' },
    message:
      'resyncPeriod: expected at least 30s; 30s applies; key main: rotateAfter: expected 10m to 87600h; 10m applies',
  })
  const [{ createdAt, rotatesAt }] = status.keys
  expect(Date.parse(rotatesAt) - Date.parse(createdAt)).toBeGreaterThan(600_000)
  const corrected = { rotateAfter: '1h', overlap: '30m' }
  expect((await on.accounts.apply('robot', spec(corrected, '30s'))).status).toBe(200)
  expect(bounds((await on.accounts.ready('robot')).status)).toMatchObject({ status: 'True' })
})

/** Leaves out CEL rules, as in a CRD of an earlier version. */
function withoutRules(name: string, value: unknown): unknown {
  return name === 'x-kubernetes-validations' ? undefined : value
}
