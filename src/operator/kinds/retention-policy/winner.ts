import type { Resource } from '../../contract.ts'
import type { RetentionPolicySpec } from './spec.ts'
import type { RetentionPolicyStatus } from './status.ts'

export type RetentionPolicy = Resource<RetentionPolicySpec, RetentionPolicyStatus>

/**
 * Whom a project follows of the resources that declare its retention: the oldest, and of equally old
 * ones the first by namespace and name. `own` is among the answers.
 */
export function winnerOf(
  own: RetentionPolicy,
  peers: readonly RetentionPolicy[],
  project_id: string,
): RetentionPolicy {
  const rivals = peers.filter((peer) => !isSame(peer, own) && isAbout(peer, own, project_id))
  return [own, ...rivals].toSorted(byAge)[0] ?? own
}

/** `team-a/default`. */
export function nameOf({ meta: { namespace, name } }: Pick<Resource, 'meta'>): string {
  return `${namespace}/${name}`
}

/** A name that is the same as that of `own` names the same project, also before it was looked up. */
function isAbout(peer: RetentionPolicy, own: RetentionPolicy, project_id: string): boolean {
  const { id, name } = peer.spec.projectRef
  return (
    peer.status.projectId === project_id ||
    id?.toLowerCase() === project_id ||
    (name !== undefined && name === own.spec.projectRef.name)
  )
}

function isSame(left: RetentionPolicy, right: RetentionPolicy): boolean {
  return nameOf(left) === nameOf(right)
}

function byAge(left: RetentionPolicy, right: RetentionPolicy): number {
  const [one, other] = [Date.parse(left.meta.created_at), Date.parse(right.meta.created_at)]
  if (one !== other) return one - other
  return nameOf(left) < nameOf(right) ? -1 : 1
}
