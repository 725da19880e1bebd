import type { HealthCheck } from '../../platform/http/index.ts'
import type { KubeClient } from '../../platform/kube/index.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import type { Kind } from '../contract.ts'
import type { ServiceClient } from '../service/service-client.ts'
import { type Controller, createController } from './controller.ts'
import { createEventRecorder } from './event-recorder.ts'
import {
  createLeaderElection,
  type LeaderElection,
  noElection,
  whileLeading,
} from './leader-election.ts'
import { leaseRecord } from './lease.ts'
import { createOperatorMetrics } from './operator-metrics.ts'
import type { OperatorSettings } from './operator-settings.ts'
import type { Reflector } from './reflector.ts'
import { watchSecrets } from './secret-watch.ts'
import type { Timing } from './timing.ts'

export type OperatorOptions = {
  kube: KubeClient
  service: ServiceClient
  kinds: readonly Kind[]
  timing: Timing
  /** Names this process in the Lease and in events: the pod's name and something random. */
  identity: string
  logger: Logger
  metrics: Metrics
  settings: OperatorSettings
}

/** An operator that runs. */
export type Operator = {
  /** What `/readyz` asks: one check, that every cache has been filled. */
  checks: readonly HealthCheck[]
  /** Resolves when it can't go on: it is no longer the leader. The process ends with a failure. */
  failed: Promise<Error>
  /** Ends watches and workers, waits for what is under way, gives the Lease back. */
  stop(): Promise<void>
}

/**
 * Starts the operator and returns at once: caches fill in the background, in every process; the one
 * that holds the Lease works, once all its caches are filled.
 */
export function startOperator(options: OperatorOptions): Operator {
  const { kinds, settings, logger } = options
  const election = electionOf(options)
  const { controllers, reflectors } = assemble(options, election)
  const ends = { watching: new AbortController(), working: new AbortController() }
  const electing = new AbortController()
  const failed = Promise.withResolvers<Error>()
  const watching = reflectors.map((reflector) => reflector.run(ends.watching.signal))
  const work = { done: Promise.resolve() }
  const lead = () => {
    work.done = workOn(controllers, reflectors, options.timing, ends.working.signal)
    work.done.catch((error: unknown) => failed.resolve(asError(error)))
  }
  const leading = election.run(lead, electing.signal).catch((error: unknown) => {
    ends.working.abort()
    failed.resolve(asError(error))
  })
  logger.info({ kinds: kinds.map(({ kind }) => kind), identity: options.identity }, 'started')
  return {
    checks: [{ name: 'caches', check: async () => unsyncedOf(reflectors) }],
    failed: failed.promise,
    stop: async () => {
      ends.working.abort()
      const limit = new AbortController()
      const underWay = work.done.catch(() => undefined)
      await Promise.race([underWay, options.timing.sleep(settings.stop_ms, limit.signal)])
      limit.abort()
      ends.watching.abort()
      electing.abort()
      await Promise.allSettled([leading, ...watching])
      await election.release().catch((error: unknown) => {
        logger.warn({ reason: asError(error).message }, 'the Lease could not be given back')
      })
    },
  }
}

function electionOf({ kube, timing, logger, identity, settings }: OperatorOptions): LeaderElection {
  const { leader_election } = settings
  if (leader_election === undefined) return noElection()
  const record = leaseRecord(kube, leader_election)
  return createLeaderElection({ record, identity, settings: leader_election, timing, logger })
}

function assemble(options: OperatorOptions, election: LeaderElection) {
  const { identity, timing, logger, settings } = options
  const { kube, service } = whileLeading(options, election.isLeader)
  const metrics = createOperatorMetrics(options.metrics, timing)
  metrics.leading(election.isLeader)
  const events = createEventRecorder({ kube, identity, timing, logger })
  const common = { kube, service, timing, logger, settings, events, metrics }
  const controllers = options.kinds.map((kind) => createController(kind, common))
  const owning = controllers.filter(({ kind }) => kind.owns_secrets === true)
  const onChange = (owner: { kind: string; key: string }) => {
    owning.find(({ kind }) => kind.kind === owner.kind)?.enqueue(owner.key)
  }
  const secrets = owning.length === 0 ? [] : watchSecrets({ ...common, onChange })
  const reflectors = [...controllers.flatMap((controller) => controller.reflectors), ...secrets]
  return { controllers, reflectors }
}

/** How often a leader looks whether its caches are filled, as client-go's WaitForCacheSync. */
const syncLook_ms = 100

/** Waits for the caches: a half-filled one would show peers and Secrets as missing. */
async function workOn(
  controllers: readonly Controller[],
  reflectors: readonly Reflector[],
  { sleep }: Timing,
  signal: AbortSignal,
): Promise<void> {
  while (unsyncedOf(reflectors) !== null) {
    if (signal.aborted) return
    await sleep(syncLook_ms, signal)
  }
  await Promise.all(controllers.map((controller) => controller.work(signal)))
}

function unsyncedOf(reflectors: readonly Reflector[]): string | null {
  return reflectors.map((reflector) => reflector.unsynced()).find((why) => why !== null) ?? null
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
