import {
  KubeConflict,
  KubeForbidden,
  KubeNotFound,
  KubeUnavailable,
} from '../../platform/kube/index.ts'
import { NotReady } from '../contract.ts'
import { ServiceRefusal, ServiceUnavailable } from '../service/service-client.ts'
import { NotLeading } from './leader-election.ts'

/** What a reconcile that did not succeed leads to. */
export type Failure = {
  /** Of the Ready condition; undefined leaves the status as it is. */
  reason: string | undefined
  message: string
  /**
   * `wait`: nothing is wrong with us, look again after `after_ms` or at the next resync;
   * `service`: the long back-off; `item`: the short one, from milliseconds on; `now`: as `item`,
   * for what the next try will most likely do.
   */
  retry: 'wait' | 'service' | 'item' | 'now'
  /** At least that long. */
  after_ms: number | undefined
}

/** Refusals that another try, from a fresh look, may not meet: somebody else was quicker. */
const racing = new Set([409, 412])

/** Translates what a kind's `reconcile` or `remove` threw; the one place where that is done. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof NotReady) {
    return { reason: error.reason, message, retry: 'wait', after_ms: error.again_after_ms }
  }
  if (error instanceof ServiceUnavailable) {
    const after_ms = error.retry_after_ms
    return { reason: 'ServiceUnavailable', message, retry: 'service', after_ms }
  }
  if (error instanceof ServiceRefusal) return refusalOf(error)
  if (error instanceof KubeForbidden) {
    return { reason: 'Forbidden', message, retry: 'service', after_ms: undefined }
  }
  const isStale = error instanceof KubeConflict || error instanceof KubeNotFound
  if (isStale || error instanceof NotLeading) {
    return { reason: undefined, message, retry: 'now', after_ms: undefined }
  }
  if (error instanceof KubeUnavailable) {
    return { reason: undefined, message, retry: 'item', after_ms: error.retry_after_ms }
  }
  const name = error instanceof Error ? error.name : typeof error
  return {
    reason: 'InternalError',
    message: `the operator failed (${name}); its log says more`,
    retry: 'item',
    after_ms: undefined,
  }
}

function refusalOf(error: ServiceRefusal): Failure {
  const message = `the service refused (${error.status} ${error.code}): ${error.message}`
  const isManaged = error.code === 'managed_by_kubernetes'
  return {
    reason: isManaged ? 'Conflict' : 'ServiceRefused',
    message,
    retry: racing.has(error.status) && !isManaged ? 'item' : 'service',
    after_ms: undefined,
  }
}
