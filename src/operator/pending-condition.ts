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
