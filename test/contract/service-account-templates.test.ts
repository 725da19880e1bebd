import { isDeepStrictEqual } from 'node:util'
import { parse } from 'dotenv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import {
  type AccountCluster,
  type AccountPlace,
  accountPlace,
  operatorOf,
  sharedAccountCluster,
} from '../support/kube/declared-accounts.ts'
import { eventReasons } from '../support/kube/resources.ts'

let cluster: AccountCluster

beforeAll(async () => {
  cluster = await sharedAccountCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

async function createPlace({ times = 60 } = {}) {
  const on = await accountPlace(cluster)
  const operator = await operatorOf(cluster, on, { times })
  return { ...on, operator, [Symbol.asyncDispose]: () => operator.stop() }
}

const dotenv = { key: '.env', format: 'dotenv' }
const main = { name: 'main', secretName: 'robot-key' }

/** Applies the account and waits until it is Ready. */
async function apply(on: AccountPlace, secretTemplate: object | undefined, more: object = {}) {
  const spec = {
    projectRef: { id: on.project },
    ...{ resyncPeriod: '30s', scopes: ['tasks:read'], keys: [main], secretTemplate },
    ...more,
  }
  const { status, text } = await on.accounts.apply('robot', spec)
  expect(text.slice(0, 500), text).not.toContain('"Failure"')
  expect(status).toBeLessThan(300)
  return on.accounts.ready('robot')
}

const secretOf = async (on: AccountPlace) => {
  const secret = await on.secret('robot-key')
  return { data: secret?.data ?? {}, ...secret?.metadata } as {
    data: Record<string, string>
    labels: Record<string, string>
    annotations: Record<string, string>
  }
}

const patchSecret = (on: AccountPlace, body: object) =>
  cluster.server.tell('PATCH', `/api/v1/namespaces/${on.namespace}/secrets/robot-key`, {
    ...{ body, type: 'application/merge-patch+json' },
  })

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('a template', () => {
  test('is followed, changed and removed without another key', async () => {
    await using on = await createPlace()
    await apply(on, undefined)
    const { data: first } = await secretOf(on)
    await patchSecret(on, { metadata: { labels: { mine: 'too' } } })
    await apply(on, {
      labels: [{ name: 'team', value: 'checkout' }],
      annotations: [{ name: 'reloader.stakater.com/match', value: 'true' }],
      entries: [dotenv, { key: 'auth', template: 'X-API-Key={{ apiKey }}' }],
    })
    const secret = await secretOf(on)
    const [account] = await on.inService()
    const [key] = await on.liveKeys()
    expect(secret.data).toMatchObject({ ...first, auth: `X-API-Key=${first['api-key']}` })
    expect(parse(secret.data['.env'] ?? '')).toEqual({
      LOOPTRACE_API_KEY: first['api-key'],
      LOOPTRACE_KEY_ID: key.id,
      LOOPTRACE_KEY_NAME: 'main',
      LOOPTRACE_BASE_URL: 'http://127.0.0.1:8080/v1',
      LOOPTRACE_OTLP_ENDPOINT: 'http://127.0.0.1:8080',
      LOOPTRACE_PROJECT_ID: on.project,
      LOOPTRACE_SERVICE_ACCOUNT_ID: account.id,
      LOOPTRACE_NAMESPACE: on.namespace,
    })
    expect(secret.labels).toMatchObject({ team: 'checkout', mine: 'too' })
    expect(secret.annotations).toMatchObject({ 'reloader.stakater.com/match': 'true' })

    await apply(on, { entries: [{ key: 'config.json', format: 'json' }] })
    const changed = await secretOf(on)
    expect(Object.keys(changed.data).toSorted()).toEqual(['api-key', 'config.json'])
    expect(changed.labels).toMatchObject({ mine: 'too' })
    expect(changed.labels).not.toHaveProperty('team')
    expect(changed.annotations).not.toHaveProperty(['reloader.stakater.com/match'])

    await apply(on, undefined)
    expect((await secretOf(on)).data).toEqual(first)
    expect(on.operator.writes.filter((what) => what.endsWith('/keys'))).toHaveLength(1)
    const reasons = await eventReasons(cluster.server, on.namespace, 'robot')
    expect([...new Set(reasons)].toSorted()).toEqual(['Created', 'KeyMinted', 'SecretUpdated'])
  })

  test('is followed again after someone edits the Secret, which keeps its key', async () => {
    await using on = await createPlace()
    await apply(on, { labels: [{ name: 'team', value: 'checkout' }], entries: [dotenv] })
    const before = await secretOf(on)
    const edits = {
      data: { '.env': base64('A=1'), 'api-key': null, copy: base64(before.data['api-key'] ?? '') },
    }
    await patchSecret(on, { metadata: { labels: { team: 'other' } }, ...edits })
    await eventually('the Secret follows the template', async () => {
      const { data, labels } = await secretOf(on)
      return isDeepStrictEqual([data, labels], [before.data, before.labels])
    })
    expect(await on.isGood(before.data['api-key'] ?? '')).toBe(true)
  })

  test('of a Secret that lost its key gets another key, and the old one is revoked', async () => {
    await using on = await createPlace()
    await apply(on, { entries: [dotenv] })
    const { data: before } = await secretOf(on)
    await patchSecret(on, { data: { 'api-key': null } })
    const key = await eventually('another key', async () => {
      const { data } = await secretOf(on)
      return data['api-key'] !== before['api-key'] && data['api-key']
    })
    await eventually('the old key is revoked', async () => (await on.liveKeys()).length === 1)
    const { data } = await secretOf(on)
    expect(parse(data['.env'] ?? '')['LOOPTRACE_API_KEY']).toBe(key)
    expect(await on.isGood(key)).toBe(true)
    expect(await on.isGood(before['api-key'] ?? '')).toBe(false)
  })

  test('is followed by a rotation: all entries have the new key', async () => {
    await using on = await createPlace({ times: 200 })
    const keys = [{ ...main, rotateAfter: '10m', overlap: '400s' }]
    await apply(on, { entries: [dotenv, { key: 'copy', template: '{{apiKey}}' }] }, { keys })
    const { data: before } = await secretOf(on)
    const data = await eventually('another key', async () => {
      const { data: now } = await secretOf(on)
      return now['copy'] !== before['copy'] && now
    })
    const { LOOPTRACE_API_KEY } = parse(data['.env'] ?? '')
    expect([data['copy'], LOOPTRACE_API_KEY]).toEqual([data['api-key'], data['api-key']])
    expect(await on.isGood(before['copy'] ?? '')).toBe(true)
  })

  test('with the text of an old key keeps no key from being revoked', async () => {
    await using on = await createPlace()
    const other = { name: 'other', secretName: 'other-key' }
    await apply(on, undefined, { keys: [main, other] })
    const old = String((await on.secret('other-key'))?.data['api-key'])
    const { data } = await secretOf(on)
    const kept = [old, data['api-key'] ?? ''].map((template, i) => ({ key: `k${i}`, template }))
    await apply(on, { entries: kept })
    expect(await on.isGood(old)).toBe(false)
    await patchSecret(on, { data: { 'api-key': null, k1: null } })
    await eventually('only the new key is valid', async () => {
      const [live, ...more] = await on.liveKeys()
      const { data: now } = await secretOf(on)
      return (
        more.length === 0 &&
        now['api-key']?.startsWith(live?.prefix) &&
        now['api-key'] !== data['api-key']
      )
    })
    expect(await on.isGood(data['api-key'] ?? '')).toBe(false)
  })
})
