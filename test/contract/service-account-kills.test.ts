import { afterAll, beforeAll, expect, test } from 'vitest'
import { kinds } from '../../src/operator/kinds/index.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStart_timeout_ms, operatorAccount } from '../support/kube/api-server.ts'
import {
  type AccountCluster,
  type AccountPlace,
  accountPlace,
  operatorOf,
  startAccountCluster,
} from '../support/kube/declared-accounts.ts'
import { killAtEachWrite } from '../support/kube/killed-operators.ts'
import { grant, operatorRules } from '../support/kube/operator-rules.ts'
import { installKinds } from '../support/kube/resources.ts'

let cluster: AccountCluster

beforeAll(async () => {
  cluster = await startAccountCluster()
  // A process has all kinds of the product.
  await installKinds(cluster.server, kinds)
  await grant(cluster.server, operatorRules(kinds.map(({ plural }) => plural)))
}, apiServerStart_timeout_ms)
afterAll(() => cluster?.[Symbol.asyncDispose]())

const specOf = ({ project }: AccountPlace, more: object = {}) => ({
  projectRef: { id: project },
  scopes: ['proxy:write', 'tasks:read'],
  keys: [key('one'), key('two')],
  ...more,
})
const key = (name: string, more: object = {}) => ({ name, secretName: `robot-${name}`, ...more })
const secretUrl = ({ namespace }: AccountPlace, name: string) =>
  `/api/v1/namespaces/${namespace}/secrets/${name}`
const ready = async ({ accounts }: AccountPlace) => void (await accounts.ready('robot'))
const gone = ({ accounts }: AccountPlace) => accounts.gone('robot')

type Act = (on: AccountPlace) => Promise<void>
/** `writes` are those that it takes at least: a test that kills nobody proves nothing. */
type Happening = {
  /** Spec of the resource that was followed before; none: it is new. */
  before?: object
  act: Act
  isDone: Act
  writes: number
  /** Secrets that there are in the end, each with a key that is good, and no other live key. */
  secrets: readonly string[]
  accounts: number
}

const happenings: Record<string, Happening> = {
  'is made': {
    act: async (on) => void (await on.accounts.apply('robot', specOf(on, { keys: [key('one')] }))),
    isDone: ready,
    writes: 6,
    ...{ secrets: ['robot-one'], accounts: 1 },
  },
  'is changed, and has lost a Secret': {
    before: {},
    act: async (on) => {
      await cluster.server.tell('DELETE', secretUrl(on, 'robot-one'))
      const keys = [key('one'), key('three')]
      await on.accounts.apply('robot', specOf(on, { scopes: ['tasks:read', 'query:run'], keys }))
    },
    isDone: ready,
    writes: 9,
    ...{ secrets: ['robot-one', 'robot-three'], accounts: 1 },
  },
  'is rotated': {
    before: { keys: [key('one', { rotateAfter: '1m', overlap: '30s' })] },
    // Its minute is three seconds of the test; then it is not to be rotated again.
    act: async (on) => {
      const { metadata } = await on.accounts.ready('robot')
      expect(metadata.generation).toBe(1)
    },
    isDone: async (on) => {
      await on.accounts.until('robot', 'was rotated', ({ status }) => {
        return status.keys?.[0]?.previous?.length > 0
      })
    },
    writes: 3,
    ...{ secrets: ['robot-one'], accounts: 1 },
  },
  'is deleted': {
    before: {},
    act: ({ accounts }) => accounts.remove('robot'),
    isDone: gone,
    writes: 4,
    ...{ secrets: [], accounts: 0 },
  },
  'is deleted and retains': {
    before: { deletionPolicy: 'Retain' },
    act: ({ accounts }) => accounts.remove('robot'),
    isDone: gone,
    writes: 4,
    ...{ secrets: ['robot-one', 'robot-two'], accounts: 1 },
  },
}

test.each(Object.entries(happenings))(
  'a resource that %s: killed at each write, run again, and all is as it should be',
  async (_what, happening) => {
    const { before, act, isDone, writes } = happening
    const killed = await killAtEachWrite<AccountPlace>({
      place: async () => {
        const on = await accountPlace(cluster)
        if (before !== undefined) await follow(on, before)
        await act(on)
        return on
      },
      operator: async ({ namespace }) => ({
        kubeconfig: await cluster.server.kubeconfig(operatorAccount),
        service_url: cluster.service.url,
        service_key: cluster.service.operator_key,
        ...{ kinds: 'product', namespaces: [namespace] },
      }),
      isDone,
    })
    expect(killed.length - 1).toBeGreaterThanOrEqual(writes)
    const places = killed.map(({ place }) => place)
    const [first] = places
    if (first === undefined) throw new Error('there was no place')
    const namespaces = places.map(({ namespace }) => namespace)
    await using _again = await operatorOf(cluster, first, { settings: { namespaces } })
    await Promise.all(
      places.map(async (place) => {
        await isDone(place)
        await isWhole(place, happening)
      }),
    )
  },
)

async function follow(on: AccountPlace, more: object): Promise<void> {
  await using _once = await operatorOf(cluster, on)
  await on.accounts.apply('robot', specOf(on, more))
  await on.accounts.ready('robot')
}

/** One account, in each Secret a key that is good, and no other live key once overlaps are over. */
async function isWhole(on: AccountPlace, { secrets, accounts }: Happening): Promise<void> {
  const spec = (await on.accounts.read('robot'))?.spec
  if (spec?.keys[0].rotateAfter !== undefined) {
    await on.accounts.apply('robot', specOf(on, { keys: [key('one')] }))
    await on.accounts.ready('robot')
  }
  expect(await on.inService()).toHaveLength(accounts)
  expect(await on.secretNames()).toEqual(secrets)
  const values = await Promise.all(
    secrets.map(async (name) => String((await on.secret(name))?.data['api-key'])),
  )
  for (const value of values) expect(await on.isGood(value)).toBe(true)
  await eventually('only keys in Secrets are live', async () => {
    const prefixes = (await on.liveKeys()).map(({ prefix }) => prefix).toSorted()
    return (
      prefixes.join() ===
      values
        .map((value) => value.slice(0, 14))
        .toSorted()
        .join()
    )
  })
}
