import type { HealthCheck } from '../../platform/http/index.ts'
import type { KubeClient, KubeObject, KubeResource } from '../../platform/kube/index.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import type { Kind, ReconcileDeps } from '../contract.ts'
import type { ServiceClient } from '../service/service-client.ts'
import { createGrantBook, type GrantBook } from '../tenancy/grant-book.ts'
import { type Controller, createController } from './controller.ts'
import { createEventRecorder } from './event-recorder.ts'
import { applyInstallationResources } from './installation-resources.ts'
import {
  createLeaderElection,
  guardWrites,
  type LeaderElection,
  NotLeading,
  noElection,
} from './leader-election.ts'
import { leaseRecord } from './lease.ts'
import { createNamespaceGate, type NamespaceGate } from './namespace-gate.ts'
import { createOperatorMetrics } from './operator-metrics.ts'
import type { OperatorSettings } from './operator-settings.ts'
import { createPresence, noPresence, type Presence } from './presence.ts'
import { createReflector, type Reflector, type ReflectorSink } from './reflector.ts'
import { reportGrants } from './report-grants.ts'
import { type SecretSubject, watchLabelledSecrets, watchOwnedSecrets } from './secret-watch.ts'
import type { Timing } from './timing.ts'

export type OperatorOptions = {
  kube: KubeClient
  service: ServiceClient
  kinds: readonly Kind[]
  timing: Timing
  /** Name of this process in the Lease and in events: the pod's name and a random part. */
  identity: string
  logger: Logger
  metrics: Metrics
  settings: OperatorSettings
}

/** A running operator. */
export type Operator = {
  /** Checks for `/readyz`: every cache has synced, and a leader has announced its presence. */
  checks: readonly HealthCheck[]
  /** Resolves when the operator can't continue, for example after losing the Lease. */
  failed: Promise<Error>
  /** Ends workers and watches, waits for reconciles in progress, and releases the Lease. */
  stop(): Promise<void>
}

/**
 * Starts the operator and returns at once. Caches sync in the background in every process; the
 * holder of the Lease starts its workers once all its caches have synced.
 */
export function startOperator(options: OperatorOptions): Operator {
  const { kinds, settings, logger } = options
  const election = createElection(options)
  const presence = openPresence(options)
  const { controllers, reflectors, prepare, report } = assemble(options, election, presence)
  const ends = { watching: new AbortController(), working: new AbortController() }
  const electing = new AbortController()
  const failed = Promise.withResolvers<Error>()
  const watching = reflectors.map((reflector) => reflector.run(ends.watching.signal))
  const work = { done: Promise.resolve() }
  const announcing = { done: Promise.resolve(), isOn: false }
  const lead = () => {
    announcing.isOn = true
    announcing.done = presence.run(electing.signal)
    const running = { controllers, reflectors, prepare, report, timing: options.timing }
    work.done = runWorkers(running, ends.working.signal)
    work.done.catch((error: unknown) => failed.resolve(asError(error)))
  }
  const leading = election.run(lead, electing.signal).catch((error: unknown) => {
    ends.working.abort()
    failed.resolve(asError(error))
  })
  logger.info({ kinds: kinds.map(({ kind }) => kind), identity: options.identity }, 'started')
  return {
    checks: [
      { name: 'caches', check: async () => findUnsynced(reflectors) },
      { name: 'presence', check: async () => (announcing.isOn ? presence.fault() : null) },
    ],
    failed: failed.promise,
    stop: async () => {
      ends.working.abort()
      const limit = new AbortController()
      const inProgress = work.done.catch(() => undefined)
      await Promise.race([inProgress, options.timing.sleep(settings.stop_ms, limit.signal)])
      limit.abort()
      ends.watching.abort()
      electing.abort()
      await Promise.allSettled([leading, announcing.done, ...watching])
      await presence.release().catch((error: unknown) => {
        logger.warn({ reason: asError(error).message }, 'deleting the presence Lease failed')
      })
      await election.release().catch((error: unknown) => {
        logger.warn({ reason: asError(error).message }, 'releasing the Lease failed')
      })
    },
  }
}

function createElection({
  kube,
  timing,
  logger,
  identity,
  settings,
}: OperatorOptions): LeaderElection {
  const { leader_election } = settings
  if (leader_election === undefined) return noElection()
  const record = leaseRecord(kube, leader_election)
  return createLeaderElection({ record, identity, settings: leader_election, timing, logger })
}

function openPresence({ kube, timing, logger, identity, settings }: OperatorOptions): Presence {
  const { presence, class_name, namespaces, list_page_size } = settings
  if (presence === undefined) return noPresence()
  const events = createEventRecorder({ kube, identity, timing, logger })
  const common = { kube, events, identity, timing, logger, namespaces, list_page_size }
  return createPresence({ ...common, settings: presence, class_name })
}

function assemble(options: OperatorOptions, election: LeaderElection, presence: Presence) {
  const { identity, timing, logger, settings } = options
  const mayWrite = () => election.isLeader() && presence.mayWrite()
  const { kube, service } = guardWrites(options, mayWrite)
  const metrics = createOperatorMetrics(options.metrics, timing)
  metrics.leading(election.isLeader)
  metrics.conflicting(settings.class_name, presence.hasConflict)
  const events = createEventRecorder({ kube, identity, timing, logger })
  const book = createGrantBook((namespaces) => {
    for (const controller of controllers) controller.enqueueGranted(namespaces)
  })
  const gate = createNamespaceGate(settings.namespace_selector)
  metrics.selecting(gate)
  const namespaceWatch = watchNamespaces({ kube, timing, logger, settings, book, gate })
  const areLabelsKnown = () => namespaceWatch.unsynced() === null
  const own = { kube, service, events, metrics, presence, book, gate, areLabelsKnown }
  const common = { ...options, ...own }
  const countNamespaces: ReconcileDeps['countNamespaces'] = (selection) =>
    selection.selector !== undefined && namespaceWatch.unsynced() !== null
      ? undefined
      : book.select(selection).length
  const countUses: ReconcileDeps['countUses'] = (kind, grant) =>
    controllers.find((one) => one.kind.kind === kind)?.countUses(grant) ?? 0
  const controllers: readonly Controller[] = options.kinds.map((kind) =>
    createController(kind, { ...common, countNamespaces, countUses }),
  )
  const owning = controllers.filter(({ kind }) => kind.owns_secrets === true)
  const onChange = (owner: SecretSubject) => {
    owning.find(({ kind }) => kind.kind === owner.kind)?.enqueue(owner.key)
  }
  const owned = owning.length === 0 ? [] : watchOwnedSecrets(common, onChange)
  const read = controllers.flatMap(({ kind: { reads_secrets }, enqueueReaders }) =>
    reads_secrets === undefined
      ? []
      : watchLabelledSecrets(common, reads_secrets.label_selector, enqueueReaders),
  )
  const reflectors = [
    ...controllers.flatMap((controller) => controller.reflectors),
    ...owned,
    ...read,
    namespaceWatch,
  ]
  const prepare = async (signal: AbortSignal) => {
    for (;;) {
      await presence.whenAllowed(signal)
      if (signal.aborted) return
      try {
        return await applyInstallationResources(common)
      } catch (error) {
        // Another installation of the class appeared: its presence is waited for again.
        if (!(error instanceof NotLeading && election.isLeader())) throw error
      }
    }
  }
  const report = (signal: AbortSignal) => reportGrants(common, signal)
  return { controllers, reflectors, prepare, report }
}

/** How often a leader checks whether its caches have synced, as client-go's WaitForCacheSync. */
const syncCheckMs = 100

/** Waits for the caches to sync, because a partial one lacks peers and Secrets; then works. */
async function runWorkers(
  { controllers, reflectors, prepare, report, timing: { sleep } }: Running,
  signal: AbortSignal,
): Promise<void> {
  while (findUnsynced(reflectors) !== null) {
    if (signal.aborted) return
    await sleep(syncCheckMs, signal)
  }
  if (signal.aborted) return
  await prepare(signal)
  await Promise.all([...controllers.map((controller) => controller.work(signal)), report(signal)])
}

type Running = {
  controllers: readonly Controller[]
  reflectors: readonly Reflector[]
  /** Runs once before the workers start. */
  prepare: (signal: AbortSignal) => Promise<void>
  /** Reports the grants to the service while the workers run. */
  report: (signal: AbortSignal) => Promise<void>
  timing: Timing
}

function findUnsynced(reflectors: readonly Reflector[]): string | null {
  return reflectors.map((reflector) => reflector.unsynced()).find((why) => why !== null) ?? null
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

const namespaces: KubeResource = { group: '', version: 'v1', plural: 'namespaces' }

/** How often the watch checks whether there is a selector. */
const check_ms = 100

/**
 * Watches the labels of namespaces for the grants and the gate, once one of them has a selector.
 * Without a selector it sends nothing and needs no permission.
 */
function watchNamespaces(options: {
  kube: KubeClient
  timing: Timing
  logger: Logger
  settings: OperatorSettings
  book: GrantBook
  gate: NamespaceGate
}): Reflector {
  const { book, gate, timing } = options
  const isNeeded = () => gate.isSelective || book.hasSelectors()
  const sink = namespaceSink({
    setLabels: (namespace, labels) => {
      book.setLabels(namespace, labels)
      gate.setLabels(namespace, labels)
    },
  })
  const reflector = createReflector({
    ...options,
    resource: namespaces,
    namespace: undefined,
    metadata_only: true,
    sink,
  })
  return {
    ...reflector,
    unsynced: () => (isNeeded() ? reflector.unsynced() : null),
    run: async (signal) => {
      while (!signal.aborted && !isNeeded()) await timing.sleep(check_ms, signal)
      await reflector.run(signal)
    },
  }
}

/** Creates a sink that passes the labels of namespaces on. */
export function namespaceSink({ setLabels }: Pick<GrantBook, 'setLabels'>): ReflectorSink {
  const uidByName = new Map<string, string>()
  const drop = (name: string) => {
    uidByName.delete(name)
    setLabels(name, undefined)
  }
  return {
    listing: () => undefined,
    changed: ({ metadata: { name, uid, labels = {} } }: KubeObject) => {
      uidByName.set(name, uid)
      setLabels(name, labels)
    },
    // Another namespace of the name may have been created since.
    deleted: ({ metadata: { name, uid } }) => {
      if (uidByName.get(name) === uid) drop(name)
    },
    listed: (uids) => {
      for (const [name, uid] of [...uidByName]) if (!uids.has(uid)) drop(name)
    },
  }
}
