import { hash } from 'node:crypto'
import { type KubeClient, KubeNotFound, type KubeObject } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { type Installation, installationOf, readCluster } from '../installation.ts'
import { annotations, fieldManager, installationLabel, labels } from '../names.ts'
import type { EventRecorder } from './event-recorder.ts'
import { type LeaseSpec, leases } from './lease.ts'
import type { LeaderElectionSettings } from './operator-settings.ts'
import { microTime, type Timing } from './timing.ts'

/** The presence of this installation in the cluster, and its view of the others. */
export type Presence = {
  /** Renews the own Lease and reads the others until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Whether the last two rounds found no other installation of the class, and are recent. */
  mayWrite(): boolean
  /** Waits until this installation may write, or the signal aborts. */
  whenAllowed(signal: AbortSignal): Promise<void>
  hasConflict(): boolean
  /** Returns why no round has succeeded yet; null afterwards. */
  fault(): string | null
  /** Undefined before the first round. */
  installation(): Installation | undefined
  /** Deletes the own Lease, so that others need not wait for its expiry. */
  release(): Promise<void>
}

export type PresenceOptions = {
  /** A client whose writes need no presence. */
  kube: KubeClient
  events: EventRecorder
  /** `name` is that of the installation. */
  settings: LeaderElectionSettings
  class_name: string
  /** Watched namespaces; empty: all. */
  namespaces: readonly string[]
  identity: string
  timing: Timing
  logger: Logger
  list_page_size: number
}

/** Bounds the time for which a Lease of another installation counts after its last renewal. */
const lease_ms_max = 5 * 60_000
/** Bounds the pages of Leases; a class has a handful of installations. */
const pages_max = 20
/** With two rounds before the first write, two operators that start within a round notice in time. */
const clean_rounds_min = 2
/** How often a waiting worker checks whether it may write. */
const check_ms = 100

/**
 * Announces this installation by a Lease and looks for others of its class that watch the same
 * namespaces. Two operators of one class would each revoke the keys of the other, so both stop
 * writing until one of them is gone. Each round writes the own Lease before it lists the others: of
 * two that start together, at least one sees the other in its first round. Another's Lease counts
 * until it was seen unchanged for its whole duration by the own clock, as in leader election.
 */
export function createPresence(options: PresenceOptions): Presence {
  const { settings, timing, logger } = options
  const { clock, sleep } = timing
  const seen = createSeenLeases(clock.now_ms)
  /** Between rounds without a rival: a failed round can still be repeated before the deadline. */
  const calm_ms = Math.max(settings.retry_ms, settings.renew_deadline_ms / 2)
  let installation: Installation | undefined
  let own: KubeObject | undefined
  let rivals: readonly string[] = []
  let checked_ms: number | undefined
  /** Rounds in a row that found no other installation. */
  let clean_rounds = 0
  let failure = 'the presence of this installation is not announced yet'

  const round = async () => {
    const began_ms = clock.now_ms()
    installation ??= installationOf(await readCluster(options.kube), settings)
    own = await announce(options, installation)
    const others = await listRivals(options, installation)
    const before = rivals
    rivals = seen.alive(others)
    checked_ms = began_ms
    clean_rounds = rivals.length === 0 ? clean_rounds + 1 : 0
    if (rivals.join() !== before.join()) await report(options, own, rivals)
  }
  const mayWrite = () =>
    clean_rounds >= clean_rounds_min &&
    checked_ms !== undefined &&
    clock.now_ms() - checked_ms < settings.renew_deadline_ms
  return {
    mayWrite,
    hasConflict: () => rivals.length > 0,
    fault: () => (checked_ms === undefined ? failure : null),
    installation: () => installation,
    run: async (signal) => {
      while (!signal.aborted) {
        const succeeded = await round().then(
          () => true,
          (error: unknown) => {
            failure = error instanceof Error ? error.message : String(error)
            logger.warn({ reason: failure }, 'renewing the presence of this installation failed')
            return false
          },
        )
        const isCalm = succeeded && clean_rounds >= clean_rounds_min
        await sleep(isCalm ? calm_ms : settings.retry_ms, signal)
      }
    },
    whenAllowed: async (signal) => {
      while (!mayWrite() && !signal.aborted) await sleep(check_ms, signal)
    },
    release: async () => {
      checked_ms = undefined
      if (own === undefined) return
      const { namespace, name, uid } = own.metadata
      await options.kube.remove(leases, { namespace, name }, { uid }).catch((error: unknown) => {
        if (!(error instanceof KubeNotFound)) throw error
      })
    },
  }
}

/** Returns a presence that always allows writes, for a single operator in tests. */
export function noPresence(): Presence {
  return {
    run: async () => undefined,
    mayWrite: () => true,
    whenAllowed: async () => undefined,
    hasConflict: () => false,
    fault: () => null,
    installation: () => undefined,
    release: async () => undefined,
  }
}

/** Returns the name of the Lease. The chart grants the right to it, so it computes the same hash. */
function presenceName(
  class_name: string,
  { namespace, name }: { namespace: string; name: string },
): string {
  return `looptrace-${class_name}-${hash('sha256', `${namespace}/${name}`, 'hex').slice(0, 8)}`
}

/** Writes the own Lease. Replicas of the installation write the same one. */
function announce(options: PresenceOptions, { id }: Installation): Promise<KubeObject> {
  const { settings, class_name, namespaces, identity, timing } = options
  const { namespace, name } = settings
  const spec: LeaseSpec = {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(settings.lease_ms / 1000),
    renewTime: microTime(timing.clock.now_ms()),
  }
  const draft = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      namespace,
      name: presenceName(class_name, settings),
      labels: { [labels.class_name]: class_name, [installationLabel]: id },
      annotations: {
        [annotations.installation_name]: name,
        [annotations.namespaces]: namespaces.join(','),
      },
    },
    spec,
  }
  return options.kube.apply(leases, draft, { field_manager: fieldManager })
}

/** Lists the Leases of other installations of the class that watch a namespace of this one. */
async function listRivals(
  { kube, class_name, namespaces, list_page_size: page_size }: PresenceOptions,
  { id, cluster }: Installation,
): Promise<KubeObject[]> {
  const label_selector = `${labels.class_name}=${class_name}`
  const rivals: KubeObject[] = []
  let next: string | undefined
  for (let page = 0; page < pages_max; page += 1) {
    const list = await kube.list(leases, { label_selector, page_size, next })
    rivals.push(
      ...list.items.filter(
        (lease) => isInstallation(lease, { id, cluster }) && overlaps(lease, namespaces),
      ),
    )
    next = list.next
    if (next === undefined) break
  }
  return rivals
}

/**
 * Whether a Lease belongs to another installation. Its id must be that of its own namespace and
 * name, so that a copy of a Lease in a tenant's namespace does not count.
 */
function isInstallation({ metadata }: KubeObject, { id, cluster }: Installation): boolean {
  const name = metadata.annotations?.[annotations.installation_name] ?? ''
  const claimed = metadata.labels?.[installationLabel]
  const { namespace } = metadata
  return claimed !== id && claimed === installationOf(cluster, { namespace, name }).id
}

function overlaps({ metadata }: KubeObject, namespaces: readonly string[]): boolean {
  const theirs = (metadata.annotations?.[annotations.namespaces] ?? '').split(',').filter(Boolean)
  if (theirs.length === 0 || namespaces.length === 0) return true
  return theirs.some((namespace) => namespaces.includes(namespace))
}

/** Creates a memory of the Leases of others and of when each was first seen in its version. */
function createSeenLeases(now_ms: () => number) {
  let versions = new Map<string, { version: string; since_ms: number }>()
  return {
    /** Returns the Leases that were renewed within their duration, as `namespace/name`. */
    alive(found: readonly KubeObject[]): string[] {
      const before = versions
      versions = new Map()
      return found.flatMap(({ metadata, spec }) => {
        const { uid, resourceVersion: version, namespace, name } = metadata
        const known = before.get(uid)
        const now = known?.version === version ? known : { version, since_ms: now_ms() }
        versions.set(uid, now)
        const { leaseDurationSeconds = 0 } = spec as LeaseSpec
        const duration_ms = Math.min(leaseDurationSeconds * 1000, lease_ms_max)
        return now_ms() - now.since_ms < duration_ms ? [`${namespace}/${name}`] : []
      })
    },
  }
}

/** Logs a change, and reports a conflict in an event about the own Lease. */
async function report(
  { logger, events, class_name }: PresenceOptions,
  own: KubeObject,
  rivals: readonly string[],
): Promise<void> {
  if (rivals.length === 0) {
    logger.info({ class: class_name }, 'no other installation of the class is left: writing again')
    return
  }
  const note = `another installation serves the class "${class_name}" (Lease ${rivals.join(', ')}), so neither writes. Uninstall one, or give it another LOOPTRACE_OPERATOR_CLASS`
  logger.error({ class: class_name, rivals }, note)
  const { namespace, name, uid } = own.metadata
  const about = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name, uid }
  await events.record(about, [
    { type: 'Warning', reason: 'ClassConflict', action: 'CheckPresence', note },
  ])
}
