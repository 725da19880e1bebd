import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { killsOfRun } from '../support/kills-of-run.ts'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import { runKillStorm } from '../support/kube/kill-storm.ts'
import { doomedOperator, doomedProcess, killAtEachWrite } from '../support/kube/killed-operators.ts'
import {
  type ProductCluster,
  type ProductPlace,
  productOperator,
  productOptions,
  productPlace,
  productProcess,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import { soakOnly } from '../support/suite/budget.ts'

let cluster: ProductCluster

beforeAll(async () => {
  cluster = await sharedProductCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

type Act = (place: ProductPlace) => Promise<unknown>
type Happening = {
  /** An earlier state that was reconciled; empty by default. */
  before?: Act
  act: Act
  isDone: Act
  /** Expects no leak, no duplicate, and a true status. */
  expectWhole: Act
  /** Minimum number of writes: a test without a kill proves nothing. */
  writes: number
}

const hold = (name: string) => ({ name, userId: `${name}@example.com`, reason: `case ${name}` })
const retention = ({ project }: ProductPlace, more: object = {}) => ({
  projectRef: { id: project },
  ...{ traces: { days: 365 }, observations: { days: 90 } },
  environments: [{ name: 'dev', traces: { days: 7 }, observations: { days: 7 } }],
  legalHolds: [hold('ada'), hold('eve')],
  ...more,
})
const putPolicy = (more: object) => (place: ProductPlace) =>
  place.policies.apply('a', retention(place, more)).then(accepted)
const changed = { traces: { days: 100 }, legalHolds: [hold('eve'), hold('bob')] }
const policyReady: Act = ({ policies }) => policies.ready('a')

const policies: Record<string, Happening> = {
  'is made': {
    act: putPolicy({}),
    isDone: policyReady,
    expectWhole: (place) => expectPolicy(place, 365, ['ada', 'eve']),
    writes: 5,
  },
  'is changed': {
    before: putPolicy({}),
    act: putPolicy(changed),
    isDone: policyReady,
    expectWhole: (place) => expectPolicy(place, 100, ['bob', 'eve']),
    writes: 3,
  },
  'is deleted': {
    before: putPolicy({}),
    act: ({ policies: own }) => own.remove('a'),
    isDone: ({ policies: own }) => own.gone('a'),
    expectWhole: async (place) => {
      const { days, environments, held_count, managed_by } = await place.policy()
      const forEver = { traces: null, observations: null, content: null, events: null }
      expect({ days, environments, held_count, managed_by }).toEqual({
        ...{ days: forEver, environments: [], held_count: 0, managed_by: null },
      })
    },
    writes: 3,
  },
  'is let go of': {
    before: putPolicy({ deletionPolicy: 'Retain' }),
    act: ({ policies: own }) => own.remove('a'),
    isDone: ({ policies: own }) => own.gone('a'),
    expectWhole: async (place) => {
      const { days, held_count, managed_by } = await place.policy()
      expect([days.traces, held_count, managed_by]).toEqual([365, 2, null])
    },
    writes: 3,
  },
}

const month_ms = 31 * 86_400_000
const key = (name: string) => ({ name, secretName: `key-${name}`, rotateAfter: '720h' })
const account = ({ project }: ProductPlace, more: object = {}) => ({
  projectRef: { id: project },
  scopes: ['tasks:read'],
  keys: [key('one'), key('two')],
  ...more,
})
const template = {
  labels: [{ name: 'team', value: 'a' }],
  entries: [{ key: 'copy', template: '{{ apiKey }}' }],
}
const putAccount =
  (more: object = {}): Act =>
  (place) =>
    place.accounts.apply('a', account(place, more)).then(accepted)
const keysBefore = new WeakMap<ProductPlace, string[]>()
const keysIn = async (place: ProductPlace): Promise<string[]> =>
  [...(await place.secrets()).values()].map(({ data }) => data['api-key']).toSorted()
const accountReady: Act = ({ accounts }) => accounts.ready('a')

const accounts: Record<string, Happening> = {
  'is made': {
    act: putAccount(),
    isDone: accountReady,
    expectWhole: (place) => expectAccount(place, { keys: ['one', 'two'] }),
    writes: 10,
  },
  'is changed: scopes, one key for another': {
    before: putAccount(),
    act: putAccount({ scopes: ['tasks:read', 'tasks:write'], keys: [key('two'), key('three')] }),
    isDone: accountReady,
    expectWhole: (place) =>
      expectAccount(place, { keys: ['two', 'three'], scopes: ['tasks:read', 'tasks:write'] }),
    writes: 7,
  },
  'has a new template': {
    before: putAccount(),
    act: async (place) => {
      keysBefore.set(place, await keysIn(place))
      await putAccount({ secretTemplate: template })(place)
    },
    isDone: accountReady,
    expectWhole: async (place) => {
      await expectAccount(place, { keys: ['one', 'two'] })
      for (const { data, metadata } of (await place.secrets()).values()) {
        expect([data.copy, metadata.labels.team]).toEqual([data['api-key'], 'a'])
      }
      expect(await keysIn(place)).toEqual(keysBefore.get(place))
    },
    writes: 3,
  },
  'is made with a template': {
    act: putAccount({ secretTemplate: template }),
    isDone: accountReady,
    expectWhole: async (place) => {
      await expectAccount(place, { keys: ['one', 'two'] })
      for (const { data } of (await place.secrets()).values()) {
        expect(data.copy).toBe(data['api-key'])
      }
    },
    writes: 10,
  },
  'loses a Secret': {
    before: putAccount(),
    act: async ({ namespace }) => {
      await cluster.server.tell('DELETE', `/api/v1/namespaces/${namespace}/secrets/key-one`)
    },
    isDone: async (place) => {
      await eventually('the Secret is back', async () => (await place.secrets()).size === 2)
      await eventually('the status names its key', () => statusNamesKeys(place))
    },
    expectWhole: (place) => expectAccount(place, { keys: ['one', 'two'] }),
    writes: 4,
  },
  'has a key that is due': {
    before: putAccount(),
    act: async (place) => {
      const minted = new Date(Date.now() - month_ms).toISOString()
      await cluster.server.tell('PATCH', `/api/v1/namespaces/${place.namespace}/secrets/key-one`, {
        body: { metadata: { annotations: { 'looptrace.dev/minted-at': minted } } },
        type: 'application/merge-patch+json',
      })
    },
    isDone: (place) =>
      eventually('the key was replaced, and the old one ends', async () => {
        const ending = (await place.liveKeys()).filter(({ expires_at }) => expires_at !== null)
        return ending.length === 1 && (await statusNamesKeys(place))
      }),
    expectWhole: (place) => expectAccount(place, { keys: ['one', 'two'], ending: ['one'] }),
    writes: 4,
  },
  'is deleted': {
    before: putAccount(),
    act: ({ accounts: own }) => own.remove('a'),
    isDone: ({ accounts: own }) => own.gone('a'),
    expectWhole: async (place) => {
      const left = [await place.accountsInService(), await place.liveKeys()]
      expect([...left, [...(await place.secrets()).keys()]]).toEqual([[], [], []])
    },
    writes: 4,
  },
  'is let go of': {
    before: putAccount({ deletionPolicy: 'Retain' }),
    act: ({ accounts: own }) => own.remove('a'),
    isDone: ({ accounts: own }) => own.gone('a'),
    expectWhole: async (place) => {
      expect(await place.accountsInService()).toMatchObject([{ managed_by: null }])
      await expectKeys(place, { keys: ['one', 'two'] })
      for (const { metadata } of (await place.secrets()).values()) {
        expect(metadata.ownerReferences).toBeUndefined()
      }
    },
    writes: 4,
  },
}

const happenings = [
  ...Object.entries(policies).map(([what, it]) => ['RetentionPolicy', what, it] as const),
  ...Object.entries(accounts).map(([what, it]) => ['LooptraceServiceAccount', what, it] as const),
]

test.each(happenings)(
  'a %s that %s: killed at each write and run again, it ends correctly',
  async (_kind, _what, { before, act, isDone, expectWhole, writes }) => {
    const killed = await killAtEachWrite<ProductPlace>({
      place: async () => {
        const place = await productPlace(cluster)
        if (before !== undefined) await follow(place, before)
        await act(place)
        return place
      },
      operator: doomed,
      isDone,
      ...{ at_once: as_processes ? 2 : 4, writes },
    })
    const namespaces = killed.map(({ place }) => place.namespace)
    await using _all = await productOperator(cluster, namespaces)
    for (const { place } of killed) {
      await isDone(place)
      await expectWhole(place)
    }
  },
)

/** Kills of processes. KILLS=20 is a longer run, on 300 resources; its size is printed. */
const storm_kills = killsOfRun({ test: 0, soak: 3 })

test(
  'two installations that are killed while grants come and go leave no key, no duplicate and no false Ready',
  soakOnly('A storm of kills: the tests above kill at each write of a reconcile.', {
    timeout: 900_000,
  }),
  async () => {
    const places = storm_kills < 20 ? 2 : 30
    const { faults, ...size } = await runKillStorm(cluster, { kills: storm_kills, places })
    if (storm_kills > 3) process.stdout.write(`${JSON.stringify(size)}\n`)
    expect(faults).toEqual({ leaked: [], duplicates: [], wrong_ready: [], withdrawn_keys: [] })
  },
)

/** With KILLS=processes each operator is a process that gets SIGKILL: most realistic, and slow. */
const as_processes = process.env['KILLS'] === 'processes'

async function doomed({ namespace }: ProductPlace, write: number) {
  return as_processes
    ? doomedProcess(await productProcess(cluster, [namespace]), write)
    : doomedOperator(await productOptions(cluster, [namespace]), write)
}

async function follow(place: ProductPlace, before: Act): Promise<void> {
  await using _on = await productOperator(cluster, [place.namespace])
  await before(place)
  const made = (await place.policies.read('a')) === undefined ? place.accounts : place.policies
  await made.ready('a')
}

function accepted({ status, text }: { status: number; text: string }): void {
  if (status >= 300) throw new Error(text)
}

async function expectPolicy(place: ProductPlace, days: number, holds: string[]): Promise<void> {
  const [shown, resource] = [await place.policy(), await place.policies.read('a')]
  expect(shown.days).toMatchObject({ traces: days, observations: 90 })
  expect(shown.environments).toHaveLength(1)
  expect(shown.managed_by).toMatchObject({ name: 'a', uid: resource.metadata.uid })
  expect(shown.legal_holds.map(({ name }: { name: string }) => name).sort()).toEqual(holds)
  expect(resource.status).toMatchObject({
    ...{ projectId: place.project, heldCount: holds.length, policyVersion: shown.version },
    observedGeneration: resource.metadata.generation,
  })
  expect(resource.status.holds.map(({ name }: { name: string }) => name).sort()).toEqual(holds)
}

type Wanted = { keys: string[]; scopes?: string[]; ending?: string[] }

async function expectAccount(place: ProductPlace, wanted: Wanted): Promise<void> {
  const resource = await place.accounts.read('a')
  const [found, ...more] = await place.accountsInService()
  expect(more).toEqual([])
  const { scopes = ['tasks:read'] } = wanted
  expect(found).toMatchObject({ managed_by: { name: 'a', uid: resource.metadata.uid } })
  expect([...found.scopes].sort()).toEqual(scopes)
  expect(resource.status.serviceAccountId).toBe(found.id)
  expect(resource.metadata.annotations['looptrace.dev/external-id']).toBe(found.id)
  expect(resource.status.observedGeneration).toBe(resource.metadata.generation)
  expect(await statusNamesKeys(place)).toBe(true)
  await expectKeys(place, wanted)
}

/**
 * Each declared key is in its Secret and valid; the only other valid keys are those that expire
 * soon.
 */
async function expectKeys(place: ProductPlace, { keys, scopes, ending = [] }: Wanted) {
  const secrets = await place.secrets()
  expect([...secrets.keys()].sort()).toEqual(keys.map((name) => `key-${name}`).sort())
  const live = await place.liveKeys()
  const lasting = live.filter(({ expires_at }) => expires_at === null)
  expect(lasting.map(({ name }) => name).sort()).toEqual([...keys].sort())
  expect(live.filter((one) => one.expires_at !== null).map(({ name }) => name)).toEqual(ending)
  for (const one of lasting) {
    const value = secrets.get(`key-${one.name}`)?.data['api-key']
    expect(value).toMatch(new RegExp(`^${one.prefix}_`))
    if (scopes !== undefined) expect([...one.scopes].sort()).toEqual(scopes)
  }
}

/** The status lists the keys that are in the Secrets. */
async function statusNamesKeys(place: ProductPlace): Promise<boolean> {
  const [resource, secrets] = [await place.accounts.read('a'), await place.secrets()]
  const named: { prefix: string; secretName: string }[] = resource?.status?.keys ?? []
  const isNamed = ({ prefix, secretName }: { prefix: string; secretName: string }) =>
    secrets.get(secretName)?.data['api-key']?.startsWith(`${prefix}_`)
  return named.length === secrets.size && named.every(isNamed)
}
