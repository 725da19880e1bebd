import type { Resource } from '../../contract.ts'
import type { RetentionPolicySpec, RetentionPolicyStatus } from './spec.ts'

/** A RetentionPolicy resource. */
export type RetentionPolicy = Resource<RetentionPolicySpec, RetentionPolicyStatus>

/** Returns the index terms of a policy: its project as declared and as looked up. */
export function projectTerms({ spec, status }: RetentionPolicy): string[] {
  const { id, name } = spec.projectRef
  const ids = [id?.toLowerCase(), status.projectId].flatMap((one) => one ?? [])
  return [...new Set(ids.map(idTerm)), ...(name === undefined ? [] : [nameTerm(name)])]
}

/** Returns the index terms of rival policies: those with the same project id or project name. */
export function rivalTerms({ spec }: RetentionPolicy, project_id: string): string[] {
  const { name } = spec.projectRef
  return [idTerm(project_id), ...(name === undefined ? [] : [nameTerm(name)])]
}

/**
 * Finds the policy that a project follows: the oldest, and among equally old ones the first by
 * namespace and name. `own` takes part even if it is not among the peers.
 */
export function findWinner(
  own: RetentionPolicy,
  peers: readonly RetentionPolicy[],
): RetentionPolicy {
  const rivals = peers.filter((peer) => nameOf(peer) !== nameOf(own))
  return [own, ...rivals].toSorted(byAge)[0] ?? own
}

/** Returns `namespace/name`. */
export function nameOf({ meta: { namespace, name } }: Pick<Resource, 'meta'>): string {
  return `${namespace}/${name}`
}

const idTerm = (id: string) => `id/${id}`
const nameTerm = (name: string) => `name/${name}`

function byAge(left: RetentionPolicy, right: RetentionPolicy): number {
  const [one, other] = [Date.parse(left.meta.created_at), Date.parse(right.meta.created_at)]
  if (one !== other) return one - other
  return nameOf(left) < nameOf(right) ? -1 : 1
}
