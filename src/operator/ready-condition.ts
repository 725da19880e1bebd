/** Reasons of the condition Ready that every kind may have; the reference of kinds lists them. */
export const commonReasons: Readonly<Record<string, string>> = {
  Pending: 'Unknown: no operator has looked at it yet. The CRD puts it there.',
  Reconciling: 'Unknown: it was seen, and the service was not asked yet.',
  Synced: 'True: the service was read and has what the spec says.',
  Suspended: 'Unknown: nothing is done while `spec.suspend` is true.',
  Paused: 'Unknown: nothing is done while the annotation `looptrace.dev/paused` is `"true"`.',
  InvalidSpec:
    'The spec is none of this operator’s version: the CRD in the cluster is an older one.',
  ProjectNotFound: 'projectRef names no project.',
  ProjectAmbiguous: 'projectRef names several projects: say its id.',
  ProjectNotAllowed:
    'Resources of this namespace may not name the project (`LOOPTRACE_OPERATOR_PROJECTS`).',
  Conflict: 'Another resource declares the same, and keeps it.',
  NotApplied: 'It was written, and reads back otherwise.',
  ServiceUnavailable: 'The service gives no answer. It is tried again, and nothing is deleted.',
  ServiceRefused: 'The service said no; the message says why.',
  Forbidden: 'The operator may not do something in the cluster; the message says which verb.',
  InternalError: 'A defect of the operator; its log says more. It is tried again.',
}

/**
 * What the CRD puts into the status of a resource that nobody has looked at: whoever lists it sees
 * that, with an operator or without one, and the operator need not write it (as Gateway API does).
 */
export const pendingCondition = {
  type: 'Ready',
  status: 'Unknown',
  reason: 'Pending',
  message: 'no operator has looked at it yet',
  lastTransitionTime: '1970-01-01T00:00:00Z',
} as const

/** Whether a condition is that one. */
export function isPending(condition: unknown): boolean {
  return (
    typeof condition === 'object' &&
    condition !== null &&
    'reason' in condition &&
    condition.reason === pendingCondition.reason
  )
}
