import type { KubeClient } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { LeaseRecord, LeaseSpec, SeenLease } from './lease.ts'
import type { LeaderElectionSettings } from './operator-settings.ts'
import { microTime, type Timing } from './timing.ts'

/** The Lease was not renewed in time, or another process holds it. The process must end. */
class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost'
}

export type LeaderElection = {
  /**
   * Acquires the Lease, calls `lead` once, and renews the Lease until the signal aborts. Rejects
   * with `LeadershipLost` when the Lease is lost.
   */
  run(lead: () => void, signal: AbortSignal): Promise<void>
  /** Releases the Lease after `run` has ended, so that others need not wait for its expiry. */
  release(): Promise<void>
  /** Whether this process may write: it holds the Lease and has renewed it in time. */
  isLeader(): boolean
}

export type LeaderElectionOptions = {
  record: LeaseRecord
  identity: string
  settings: Pick<LeaderElectionSettings, 'lease_ms' | 'renew_deadline_ms' | 'retry_ms'>
  timing: Timing
  logger: Logger
}

/** Random part of `retry_ms` while acquiring the Lease, as client-go's JitterFactor. */
const jitter = 1.2

/**
 * Creates a leader election over a Lease, by client-go's rules (`tools/leaderelection`). A process
 * takes over another's Lease only after it has seen the Lease unchanged for its whole duration, by
 * its own clock, so clocks may differ. The holder renews every `retry_ms` and gives up after
 * `renew_deadline_ms` without success, which is shorter than the Lease. A process that was
 * suspended for longer notices by its clock before it writes. Two leaders may overlap briefly,
 * because a write in progress is not recalled when the Lease expires; so writes are idempotent.
 */
export function createLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const { identity, settings, timing, logger } = options
  const { clock, sleep, random } = timing
  const lease = createLeaseHolder(options)
  // As in client-go, a hanging request leaves time for another one before the deadline.
  const acquire = () => withTimeLimit(timing, settings.renew_deadline_ms / 2, lease.acquire())

  const acquireLease = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const isHeld = await acquire().catch((error: unknown) => {
        logger.warn({ reason: messageOf(error) }, 'acquiring the Lease failed')
        return false
      })
      if (isHeld) return
      await sleep(settings.retry_ms * (1 + random() * jitter), signal)
    }
  }
  const renewLease = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await sleep(settings.retry_ms, signal)
      if (signal.aborted) return
      if (!lease.isFresh()) throw new LeadershipLost('the Lease was not renewed in time')
      const isHeld = await acquire().catch((error: unknown) => {
        logger.warn({ reason: messageOf(error) }, 'renewing the Lease failed')
        return undefined
      })
      if (isHeld === false) throw new LeadershipLost('another process holds the Lease')
      if (!lease.isFresh()) throw new LeadershipLost('the Lease was not renewed in time')
    }
  }
  return {
    isLeader: lease.isFresh,
    release: lease.release,
    run: async (lead, signal) => {
      await acquireLease(signal)
      if (signal.aborted) return
      logger.info({ identity, at: new Date(clock.now_ms()).toISOString() }, 'acquired the Lease')
      lead()
      await renewLease(signal)
    },
  }
}

/** Returns an election that this process always wins, for a single operator. */
export function noElection(): LeaderElection {
  return { isLeader: () => true, run: async (lead) => lead(), release: async () => undefined }
}

/** Bounds attempts to renew: our own write may have changed the Lease if its answer was lost. */
const attempts_max = 2

/** Creates the state of this process towards the Lease. */
function createLeaseHolder({ record, identity, settings, timing }: LeaderElectionOptions) {
  const { clock } = timing
  let seen: SeenLease | undefined
  /** When the current version of the Lease was first seen. */
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
  /** Resolves with whether this process holds the Lease now. */
  const acquire = async (): Promise<boolean> => {
    const began_ms = clock.now_ms()
    if (!isOurs()) observe(await record.read())
    for (let attempts = 0; attempts < attempts_max; attempts += 1) {
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
    throw new LeaseNotWritten('the Lease changed during each attempt to renew it')
  }
  const isFree = ({ holderIdentity }: LeaseSpec) =>
    !holderIdentity ||
    holderIdentity === identity ||
    clock.now_ms() - observed_ms >= settings.lease_ms
  return {
    acquire,
    isFresh: () =>
      renewed_ms !== undefined && clock.now_ms() - renewed_ms < settings.renew_deadline_ms,
    release: async () => {
      const wasHeld = renewed_ms !== undefined && isOurs()
      renewed_ms = undefined
      if (!wasHeld || seen === undefined) return
      const now = microTime(clock.now_ms())
      const { leaseTransitions } = seen.spec
      await record.replace(seen, {
        holderIdentity: '',
        leaseDurationSeconds: 1,
        acquireTime: now,
        renewTime: now,
        ...(leaseTransitions !== undefined && { leaseTransitions }),
      })
    },
  }
}

async function withTimeLimit<T>({ sleep }: Timing, limit_ms: number, work: Promise<T>): Promise<T> {
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

/**
 * This process must not write: it is no longer the leader, or another installation serves its class.
 */
export class NotLeading extends Error {
  override readonly name = 'NotLeading'
}

const notAllowed = 'the Lease has expired, or another installation serves the class'

/**
 * Wraps both clients so that writes fail once a Lease has expired, or while another installation
 * serves the class. A process that was suspended
 * (SIGSTOP, a frozen machine) resumes in the middle of a reconcile, before any timer fires.
 */
export function guardWrites(
  { kube, service }: { kube: KubeClient; service: ServiceClient },
  mayWrite: () => boolean,
): { kube: KubeClient; service: ServiceClient } {
  const write = <A extends unknown[], R>(send: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (!mayWrite()) throw new NotLeading(notAllowed)
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
        if (request.method !== 'GET' && !mayWrite()) throw new NotLeading(notAllowed)
        return service.request(request)
      },
    },
  }
}
