import type { KubeClient } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { LeaseRecord, LeaseSpec, SeenLease } from './lease.ts'
import type { LeaderElectionSettings } from './operator-settings.ts'
import { microTime, type Timing } from './timing.ts'

/** The Lease could not be renewed in time, or somebody else has it: the process has to end. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost'
}

export type LeaderElection = {
  /**
   * Seeks the Lease until it is held, calls `lead` once, and renews it until the signal aborts or
   * it is lost (then this rejects with `LeadershipLost`).
   */
  run(lead: () => void, signal: AbortSignal): Promise<void>
  /** Gives the Lease back, after `run` has ended: others need not wait for it to run out. */
  release(): Promise<void>
  /** Whether this process may write: it holds the Lease, and renewed it in time. */
  isLeader(): boolean
}

export type LeaderElectionOptions = {
  record: LeaseRecord
  identity: string
  settings: Pick<LeaderElectionSettings, 'lease_ms' | 'renew_deadline_ms' | 'retry_ms'>
  timing: Timing
  logger: Logger
}

/** Part of `retry_ms` that is random while the Lease is sought, as client-go's JitterFactor. */
const jitter = 1.2

/**
 * Leader election over a Lease, by client-go's rules (`tools/leaderelection`): a Lease that somebody
 * else holds is taken only when this process has seen it unchanged for its whole duration, by its
 * own clock, so that clocks may differ; the holder renews each `retry_ms` and gives up when it could
 * not for `renew_deadline_ms`, which is shorter than the Lease. A process that was stopped for longer
 * than that learns it from its clock before it writes anything. It keeps no two leaders apart for
 * sure (a write that is under way when the Lease runs out is not called back): writes are idempotent.
 */
export function createLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const { identity, settings, timing, logger } = options
  const { clock, sleep, random } = timing
  const hold = createHold(options)
  // As client-go has it: a request that hangs leaves time for another one before the deadline.
  const take = () => within(timing, settings.renew_deadline_ms / 2, hold.take())

  const seek = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const isHeld = await take().catch((error: unknown) => {
        logger.warn({ reason: messageOf(error) }, 'the Lease could not be asked for')
        return false
      })
      if (isHeld) return
      await sleep(settings.retry_ms * (1 + random() * jitter), signal)
    }
  }
  const keep = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await sleep(settings.retry_ms, signal)
      if (signal.aborted) return
      if (!hold.isFresh()) throw new LeadershipLost('the Lease was not renewed in time')
      const isHeld = await take().catch((error: unknown) => {
        logger.warn({ reason: messageOf(error) }, 'the Lease could not be renewed')
        return undefined
      })
      if (isHeld === false) throw new LeadershipLost('somebody else has the Lease')
      if (!hold.isFresh()) throw new LeadershipLost('the Lease was not renewed in time')
    }
  }
  return {
    isLeader: hold.isFresh,
    release: hold.release,
    run: async (lead, signal) => {
      await seek(signal)
      if (signal.aborted) return
      logger.info({ identity, at: new Date(clock.now_ms()).toISOString() }, 'the Lease is held')
      lead()
      await keep(signal)
    },
  }
}

/** Always leading, for an operator of which there is but one. */
export function noElection(): LeaderElection {
  return { isLeader: () => true, run: async (lead) => lead(), release: async () => undefined }
}

/** A write of ours whose answer was lost has changed the Lease: the second try is from there. */
const tries_max = 2

/** What this process knows of the Lease, and its part in it. */
function createHold({ record, identity, settings, timing }: LeaderElectionOptions) {
  const { clock } = timing
  let seen: SeenLease | undefined
  /** When the Lease was first seen as it is. */
  let observed_ms = 0
  let renewed_ms: number | undefined

  const observe = (now: SeenLease | undefined) => {
    if (now?.resource_version !== seen?.resource_version) observed_ms = clock.now_ms()
    seen = now
  }
  const specOf = (before: LeaseSpec | undefined): LeaseSpec => {
    const now = microTime(clock.now_ms())
    const wasOurs = before?.holderIdentity === identity
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(settings.lease_ms / 1000),
      acquireTime: (wasOurs ? before?.acquireTime : undefined) ?? now,
      renewTime: now,
      leaseTransitions: (before?.leaseTransitions ?? 0) + (wasOurs || !before ? 0 : 1),
    }
  }
  const isOurs = () => seen?.spec.holderIdentity === identity
  const write = () =>
    seen === undefined ? record.create(specOf(undefined)) : record.replace(seen, specOf(seen.spec))
  /** True when the Lease is ours now, false when it is somebody else's. */
  const take = async (): Promise<boolean> => {
    const began_ms = clock.now_ms()
    if (!isOurs()) observe(await record.read())
    for (let tries = 0; tries < tries_max; tries += 1) {
      if (seen !== undefined && !isFree(seen.spec)) return false
      const wasOurs = isOurs()
      const written = await write()
      if (written !== undefined) {
        observe(written)
        renewed_ms = began_ms
        return true
      }
      observe(await record.read())
      if (!wasOurs) return false
    }
    throw new LeaseNotWritten('it changed each time that it was to be renewed')
  }
  const isFree = ({ holderIdentity }: LeaseSpec) =>
    !holderIdentity ||
    holderIdentity === identity ||
    clock.now_ms() - observed_ms >= settings.lease_ms
  return {
    take,
    isFresh: () =>
      renewed_ms !== undefined && clock.now_ms() - renewed_ms < settings.renew_deadline_ms,
    release: async () => {
      const wasHeld = renewed_ms !== undefined && isOurs()
      renewed_ms = undefined
      if (!wasHeld || seen === undefined) return
      const now = microTime(clock.now_ms())
      const { leaseTransitions } = seen.spec
      await record.replace(seen, {
        ...{ holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now },
        ...(leaseTransitions !== undefined && { leaseTransitions }),
      })
    },
  }
}

async function within<T>({ sleep }: Timing, limit_ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = sleep(limit_ms, over.signal).then(() => {
    throw new LeaseNotWritten(`no answer within ${limit_ms} ms`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}

class LeaseNotWritten extends Error {
  override readonly name = 'LeaseNotWritten'
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** This process is no longer the leader: what it was about to write is another one's to write. */
export class NotLeading extends Error {
  override readonly name = 'NotLeading'
}

/**
 * Refuses writes of a process whose Lease has run out: one that was stopped (SIGSTOP, a frozen
 * machine) goes on in the middle of a reconcile, before any timer tells it that its time is over.
 */
export function whileLeading(
  { kube, service }: { kube: KubeClient; service: ServiceClient },
  isLeader: () => boolean,
): { kube: KubeClient; service: ServiceClient } {
  const write = <A extends unknown[], R>(send: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (!isLeader()) throw new NotLeading('the Lease has run out')
      return send(...args)
    }
  }
  return {
    kube: {
      ...kube,
      create: write(kube.create),
      replace: write(kube.replace),
      patch: write(kube.patch),
      apply: write(kube.apply),
      remove: write(kube.remove),
    },
    service: {
      request: async (request) => {
        if (request.method !== 'GET' && !isLeader()) throw new NotLeading('the Lease has run out')
        return service.request(request)
      },
    },
  }
}
