import { eventually } from '../eventually.ts'
import { grantSpec, grantsOf } from './grants.ts'
import { type OperatorChild, startOperatorChild } from './operator-child.ts'
import {
  type ProductCluster,
  type ProductPlace,
  productPlace,
  productProcess,
} from './product-cluster.ts'
import type { Resources } from './resources.ts'
import { auditPlace, type Declared, type Faults, findUnsettled } from './tenancy-audit.ts'

/** Classes of the two installations, which serve resources of the same namespaces. */
const classes = ['red', 'blue'] as const
type ClassName = (typeof classes)[number]

/** Accounts of a place. With its policy a place has ten resources. */
const accounts_per_place = 9
const revokeAfter = '4s'
const settle_ms_max = 120_000
const lease = { lease_ms: 4_000, renew_deadline_ms: 3_000, retry_ms: 250 }
const scopeSets = [['tasks:read'], ['tasks:read', 'query:run'], ['ingest:write']] as const

/** A place whose grants come and go, one for each class. */
type StormPlace = ProductPlace & { is_granted: boolean; declared: Declared[] }

/** The size of a storm, and the faults that were found after it. */
export type StormReport = { resources: number; kills: number; writes: number; faults: Faults }

/**
 * Runs two installations as processes on the same namespaces, and kills one after the other by
 * SIGKILL while resources are changed, deleted and made again, and grants are withdrawn and given
 * back. Then lets both settle and audits every resource and every key.
 */
export async function runKillStorm(
  cluster: ProductCluster,
  { kills, places: count }: { kills: number; places: number },
): Promise<StormReport> {
  const places = await Promise.all(Array.from({ length: count }, () => stormPlace(cluster)))
  const namespaces = places.map(({ namespace }) => namespace)
  await using storm = new AsyncDisposableStack()
  const installed = await Promise.all(
    classes.map(async (name) => storm.use(await install(cluster, name, namespaces))),
  )
  for (const place of places) await declareAll(place)
  for (let kill = 0; kill < kills; kill += 1) {
    const target = installed[kill % installed.length]
    const writes = target?.writes() ?? 0
    // A different number of writes each time, so that kills hit all steps of a reconcile.
    const enough = writes + 1 + ((kill * 7) % 23)
    await eventually(
      `${enough} writes before kill ${kill}`,
      async () => {
        await disturb(cluster, places, kill)
        return (target?.writes() ?? 0) >= enough
      },
      { timeout_ms: settle_ms_max },
    )
    await target?.kill()
  }
  // Every fourth place ends without grants.
  for (const [n, place] of places.entries()) await setGrants(cluster, place, n % 4 !== 1)
  const faults: Faults = { leaked: [], duplicates: [], wrong_ready: [], withdrawn_keys: [] }
  for (const place of places) {
    let left: Awaited<ReturnType<typeof findUnsettled>>
    const isSettled = async () => {
      left = await findUnsettled(place)
      return left === undefined
    }
    await eventually(place.namespace, isSettled, { timeout_ms: settle_ms_max }).catch(() => {
      faults.wrong_ready.push(`${place.namespace} is not settled: ${JSON.stringify(left)}`)
    })
  }
  for (const place of places) await auditPlace(place, faults)
  return {
    resources: places.reduce((sum, { declared }) => sum + declared.length, 0),
    kills,
    writes: installed.reduce((sum, one) => sum + one.writes(), 0),
    faults,
  }
}

async function stormPlace(cluster: ProductCluster): Promise<StormPlace> {
  const place = {
    ...(await productPlace(cluster, { isGranted: false })),
    ...{ is_granted: false, declared: [] },
  }
  await setGrants(cluster, place, true)
  return place
}

/** Gives or withdraws the grants of both classes. */
async function setGrants(
  { server }: ProductCluster,
  place: StormPlace,
  is_granted: boolean,
): Promise<void> {
  if (place.is_granted === is_granted) return
  const grants = grantsOf(server)
  for (const className of classes) {
    const name = `${place.namespace}-${className}`
    const spec = grantSpec(place.namespace, place.project, { className, revokeAfter })
    if (is_granted) await apply(grants, name, spec)
    else await grants.remove(name)
  }
  place.is_granted = is_granted
}

async function declareAll(place: StormPlace): Promise<void> {
  for (let n = 0; n < accounts_per_place; n += 1) await declareAccount(place, n, 0)
  const days = 30
  const spec = {
    ...{ className: 'red', projectRef: { id: place.project }, resyncPeriod: '30s' },
    ...{ traces: { days }, observations: { days } },
  }
  await apply(place.policies, 'keep', spec)
  place.declared.push({ of: place.policies, name: 'keep', days })
}

/** Declares an account, of either class by its number; `round` changes its scopes and keys. */
async function declareAccount(place: StormPlace, n: number, round: number): Promise<void> {
  const name = `robot-${n}`
  const scopes = [...(scopeSets[(n + round) % scopeSets.length] ?? [])]
  const keys = ['main', 'spare'].slice(0, 1 + ((n + round) % 2))
  await apply(place.accounts, name, {
    ...{ className: classes[n % 2], projectRef: { id: place.project }, resyncPeriod: '30s' },
    ...{ scopes, keys: keys.map((key) => ({ name: key, secretName: `${name}-${key}` })) },
  })
  const others = place.declared.filter((one) => one.name !== name)
  place.declared = [...others, { of: place.accounts, name, scopes, keys }]
}

/** Changes one place: its grants, an account, or an account that is deleted and made again. */
async function disturb(
  cluster: ProductCluster,
  places: readonly StormPlace[],
  round: number,
): Promise<void> {
  const place = places[Math.floor(Math.random() * places.length)]
  if (place === undefined) return
  const n = Math.floor(Math.random() * accounts_per_place)
  const act = Math.floor(Math.random() * 4)
  if (act === 0) await setGrants(cluster, place, !place.is_granted)
  else if (act === 1) {
    await removeIfThere(place.accounts, `robot-${n}`)
    await declareAccount(place, n, round)
  } else await declareAccount(place, n, round)
}

/** Deletes a resource and waits for its end, which may take as long as a killed operator is away. */
async function removeIfThere(of: Resources, name: string): Promise<void> {
  if ((await of.read(name)) === undefined) return
  await of.remove(name)
  const isGone = async () => (await of.read(name)) === undefined
  await eventually(`${name} is gone`, isGone, { timeout_ms: settle_ms_max })
}

async function apply(of: Resources, name: string, spec: object): Promise<void> {
  const { status, text } = await of.apply(name, spec)
  if (status >= 300) throw new Error(`${name}: ${status} ${text}`)
}

/** One installation: a process that is started again whenever it ends. */
type Installed = AsyncDisposable & { writes(): number; kill(): Promise<void> }

async function install(
  cluster: ProductCluster,
  class_name: ClassName,
  namespaces: readonly string[],
): Promise<Installed> {
  const namespace = await cluster.server.namespace()
  const options = {
    ...(await productProcess(cluster, namespaces)),
    ...{ times: 1, leader_election: { namespace, name: 'leader', ...lease } },
    installed: { class_name, presence: { namespace, name: class_name, ...lease } },
  }
  let written = 0
  let isOver = false
  let child: OperatorChild
  const start = () => {
    child = startOperatorChild(options)
    const { writes } = child
    void child.ended.then(() => {
      written += writes.length
      if (!isOver) start()
    })
  }
  start()
  return {
    writes: () => written + child.writes.length,
    kill: async () => {
      const { ended } = child
      child.signal('SIGKILL')
      await ended
    },
    [Symbol.asyncDispose]: async () => {
      isOver = true
      await child[Symbol.asyncDispose]()
    },
  }
}
