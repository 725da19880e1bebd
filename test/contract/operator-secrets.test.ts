import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import {
  apiServerStartTimeoutMs,
  type NoteCluster,
  operatedNamespace,
  sharedNoteCluster,
} from '../support/kube/operated-notes.ts'

let cluster: NoteCluster

beforeAll(async () => {
  cluster = await sharedNoteCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

describe('a Secret', () => {
  const path = (namespace: string, name = '') => `/api/v1/namespaces/${namespace}/secrets/${name}`
  const tokenIn = async (namespace: string): Promise<string | undefined> => {
    const { status, body } = await cluster.server.ask('GET', path(namespace, 'key'))
    const value = status === 200 ? body.data?.token : undefined
    return value && Buffer.from(value, 'base64').toString('utf8')
  }

  test('that is lost is created again with a new key, and the old key becomes invalid', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'hello', secretName: 'key' })
    await on.notes.ready('a')
    const lost = await tokenIn(on.namespace)
    await cluster.server.tell('DELETE', path(on.namespace, 'key'))
    await eventually('it is back', async () => (await tokenIn(on.namespace)) !== undefined)
    const found = await tokenIn(on.namespace)
    expect(found).not.toBe(lost)
    expect(cluster.service.of(on.owner('a'))[0]?.tokens).toEqual([found])
  })

  test('that is edited gets a new key', async () => {
    await using on = await operatedNamespace(cluster)
    await on.notes.apply('a', { text: 'hello', secretName: 'key' })
    await on.notes.ready('a')
    const before = await tokenIn(on.namespace)
    await cluster.server.tell('PATCH', path(on.namespace, 'key'), {
      body: { stringData: { token: 'mine' } },
      type: 'application/merge-patch+json',
    })
    await eventually('it is corrected', async () => {
      const token = await tokenIn(on.namespace)
      return token !== before && token !== 'mine' && token !== undefined
    })
    const tokens = cluster.service.of(on.owner('a'))[0]?.tokens
    expect(tokens).toEqual([await tokenIn(on.namespace)])
  })

  test('of another owner is left unchanged, and the resource reports it until it is gone', async () => {
    await using on = await operatedNamespace(cluster)
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' } }
    const body = { ...secret, stringData: { token: 'theirs' } }
    await cluster.server.tell('POST', path(on.namespace), { body })
    await on.notes.apply('a', { text: 'hello', secretName: 'key', resyncPeriod: '30s' })
    await on.notes.notReady('a', 'SecretNotOwned')
    expect(await tokenIn(on.namespace)).toBe('theirs')
    await cluster.server.tell('DELETE', path(on.namespace, 'key'))
    await on.notes.ready('a')
    expect(await tokenIn(on.namespace)).toMatch(/^token-/)
  })
})
