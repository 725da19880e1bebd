import type { Resource } from '../../contract.ts'
import type { RetentionPolicySpec, RetentionPolicyStatus } from './spec.ts'

export type RetentionPolicy = Resource<RetentionPolicySpec, RetentionPolicyStatus>

/** The project that a policy is about: as it is declared, and as it was looked up. */
export function projectWords({ spec, status }: RetentionPolicy): string[] {
  const { id, name } = spec.projectRef
  const ids = [id?.toLowerCase(), status.projectId].flatMap((one) => one ?? [])
  return [...new Set(ids.map(idWord)), ...(name === undefined ? [] : [nameWord(name)])]
}

/** Whose words are those of a rival: the same name is the same project, also before it was looked up. */
export function rivalWords({ spec }: RetentionPolicy, project_id: string): string[] {
  const { name } = spec.projectRef
  return [idWord(project_id), ...(name === undefined ? [] : [nameWord(name)])]
}

/**
 * Whom a project follows of the resources that declare its retention: the oldest, and of equally old
 * ones the first by namespace and name. `own` is among the answers, whether or not it is a peer.
 */
export function winnerOf(own: RetentionPolicy, peers: readonly RetentionPolicy[]): RetentionPolicy {
  const rivals = peers.filter((peer) => nameOf(peer) !== nameOf(own))
  return [own, ...rivals].toSorted(byAge)[0] ?? own
}

/** `team-a/default`. */
export function nameOf({ meta: { namespace, name } }: Pick<Resource, 'meta'>): string {
  return `${namespace}/${name}`
}

const idWord = (id: string) => `id/${id}`
const nameWord = (name: string) => `name/${name}`

function byAge(left: RetentionPolicy, right: RetentionPolicy): number {
  const [one, other] = [Date.parse(left.meta.created_at), Date.parse(right.meta.created_at)]
  if (one !== other) return one - other
  return nameOf(left) < nameOf(right) ? -1 : 1
}
