import type { Resource } from '../../contract.ts'
import type { RetentionPolicySpec, RetentionPolicyStatus } from './spec.ts'

/** A RetentionPolicy resource. */
export type RetentionPolicy = Resource<RetentionPolicySpec, RetentionPolicyStatus>

/**
 * Finds the policy that a project follows among those that may use it: the oldest, and among equally
 * old ones the first by namespace and name. `own` takes part even if it is not among the rivals.
 */
export function findWinner(
  own: RetentionPolicy,
  rivals: readonly RetentionPolicy[],
): RetentionPolicy {
  return [own, ...rivals].toSorted(byAge)[0] ?? own
}

/** Returns `namespace/name`. */
export function nameOf({ meta: { namespace, name } }: Pick<Resource, 'meta'>): string {
  return `${namespace}/${name}`
}

function byAge(left: RetentionPolicy, right: RetentionPolicy): number {
  const [one, other] = [Date.parse(left.meta.created_at), Date.parse(right.meta.created_at)]
  if (one !== other) return one - other
  return nameOf(left) < nameOf(right) ? -1 : 1
}
