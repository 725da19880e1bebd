import {
  KubeConflict,
  KubeForbidden,
  KubeNotFound,
  KubeUnavailable,
} from '../../platform/kube/index.ts'
import { NotReady } from '../contract.ts'
import { ServiceRefusal, ServiceUnavailable } from '../service/service-client.ts'
import { NotLeading } from './leader-election.ts'

/** The consequences of a failed reconcile. */
export type Failure = {
  /** Reason of the Ready condition; undefined leaves the status unchanged. */
  reason: string | undefined
  message: string
  /**
   * `wait`: not a fault of the operator; reconcile after `after_ms` or at the next resync.
   * `service`: back off from 10 s. `item`: back off from milliseconds. `now`: as `item`, where the
   * next attempt will most likely succeed.
   */
  retry: 'wait' | 'service' | 'item' | 'now'
  /** Minimum wait. */
  after_ms: number | undefined
}

/** Statuses of lost races: an attempt from a fresh read may succeed. */
const racing = new Set([409, 412])

/** Classifies an error of a kind's `reconcile` or `remove`. */
export function classifyFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof NotReady) {
    return { reason: error.reason, message, retry: 'wait', after_ms: error.again_after_ms }
  }
  if (error instanceof ServiceUnavailable) {
    const after_ms = error.retry_after_ms
    return { reason: 'ServiceUnavailable', message, retry: 'service', after_ms }
  }
  if (error instanceof ServiceRefusal) return classifyRefusal(error)
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
    message: `the operator failed (${name}): see its log`,
    retry: 'item',
    after_ms: undefined,
  }
}

function classifyRefusal(error: ServiceRefusal): Failure {
  const message = `the service refused the request (${error.status} ${error.code}): ${error.message}`
  const isManaged = error.code === 'managed_by_kubernetes'
  return {
    reason: isManaged ? 'Conflict' : 'ServiceRefused',
    message,
    retry: racing.has(error.status) && !isManaged ? 'item' : 'service',
    after_ms: undefined,
  }
}
