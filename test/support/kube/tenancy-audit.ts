import type { KubeObject } from './kube-request.ts'
import type { ProductPlace } from './product-cluster.ts'
import { type Resources, readyOf } from './resources.ts'

/** A resource as it was last declared: an account with its keys, or a policy with its days. */
export type Declared = { of: Resources; name: string } & (
  | { scopes: string[]; keys: string[] }
  | { days: number }
)

/** Sentences about what is wrong. */
export type Faults = {
  /** A live key that is not in exactly one Secret, or a Secret without a live key. */
  leaked: string[]
  /** Two accounts of a resource, or two live keys of a declared key. */
  duplicates: string[]
  /** Ready is True without a grant or against the service, or False although all is granted. */
  wrong_ready: string[]
  /** A live key of a place whose grants ended before the grace. */
  withdrawn_keys: string[]
}

/** A place as it was last declared. */
type Wanted = ProductPlace & { is_granted: boolean; declared: readonly Declared[] }

/** Returns the first resource that does not report its end (Ready, or withdrawn); undefined if all do. */
export async function findUnsettled({
  is_granted,
  declared,
}: Wanted): Promise<{ name: string; resource: KubeObject } | undefined> {
  for (const { of, name } of declared) {
    const resource = await of.read(name)
    const ready = readyOf(resource)
    const isCurrent = ready?.observedGeneration === resource?.metadata.generation
    const isEnded = is_granted ? isCurrent && ready?.status === 'True' : isWithdrawn(resource)
    if (resource?.metadata.deletionTimestamp !== undefined || !isEnded) return { name, resource }
  }
  return undefined
}

/**
 * Whether the project was withdrawn, or was never used. A policy whose operator was killed before its
 * first status has no grant there, so its grace is an hour (known limit in
 * `docs/internals/tenancy.md`).
 */
function isWithdrawn(resource: KubeObject): boolean {
  if (readyOf(resource)?.reason !== 'NotGranted') return false
  const { projectId, withdrawal, grant } = resource.status
  const isLate = resource.kind === 'RetentionPolicy' && withdrawal && grant === undefined
  return projectId === undefined || withdrawal?.revokedAt !== undefined || isLate
}

/** Compares every resource, key and Secret of a place with what it declared. */
export async function auditPlace(place: Wanted, faults: Faults): Promise<void> {
  const keys = await place.liveKeys()
  await auditKeys(place, keys, faults)
  await auditResources(place, keys, faults)
}

async function auditKeys(
  place: Wanted,
  keys: readonly KubeObject[],
  faults: Faults,
): Promise<void> {
  const at = place.namespace
  const values = [...(await place.secrets())].map(([name, { data }]) => ({
    ...{ name, value: String(data['api-key']) },
  }))
  for (const { prefix, name } of keys) {
    const found = values.filter(({ value }) => value.startsWith(`${prefix}_`))
    if (found.length !== 1) faults.leaked.push(`${at}: key ${name} ${prefix} in ${found.length}`)
  }
  for (const { name, value } of values) {
    const live = keys.filter(({ prefix }) => value.startsWith(`${prefix}_`))
    if (live.length !== 1) faults.leaked.push(`${at}: Secret ${name} has ${live.length} live keys`)
  }
  if (!place.is_granted) faults.withdrawn_keys.push(...keys.map(({ name }) => `${at}: ${name}`))
  const named = keys.map(({ service_account_id, name }) => `${service_account_id} ${name}`)
  const twice = named.filter((name, n) => named.indexOf(name) !== n)
  faults.duplicates.push(...twice.map((name) => `${at}: two keys ${name}`))
}

async function auditResources(
  place: Wanted,
  keys: readonly KubeObject[],
  faults: Faults,
): Promise<void> {
  const accounts = await place.accountsInService()
  for (const one of place.declared) {
    const at = `${place.namespace}/${one.name}`
    const ready = readyOf(await one.of.read(one.name))?.status === 'True'
    const own = accounts.filter(({ managed_by }) => managed_by?.name === one.name)
    if (own.length > 1) faults.duplicates.push(`${at}: ${own.length} accounts`)
    if (ready !== place.is_granted) faults.wrong_ready.push(`${at}: Ready ${ready}`)
    if (!ready) continue
    const same = 'days' in one ? await hasPolicy(place, one.days) : hasKeys(own[0], one, keys)
    if (!same) faults.wrong_ready.push(`${at}: Ready, but the service differs`)
  }
}

async function hasPolicy(place: ProductPlace, days: number): Promise<boolean> {
  const { days: stored, managed_by } = await place.policy()
  return stored.traces === days && managed_by?.name === 'keep'
}

function hasKeys(
  account: KubeObject,
  { scopes, keys }: { scopes: string[]; keys: string[] },
  live: readonly KubeObject[],
): boolean {
  const own = live.filter(({ service_account_id }) => service_account_id === account?.id)
  const same = (one: string[], other: string[]) => one.toSorted().join() === other.toSorted().join()
  return (
    account?.disabled_at === null &&
    same(account.scopes, scopes) &&
    same(
      own.map(({ name }) => name),
      keys,
    ) &&
    own.every((key) => same(key.scopes, scopes))
  )
}
