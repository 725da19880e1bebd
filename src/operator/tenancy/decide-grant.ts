import type { ProjectRef } from '../common-spec.ts'
import { type Grant, type Labels, selects } from './grant.ts'

/** The demands of a resource on its grant. */
export type GrantNeeds = {
  scopes: readonly string[]
  roles: readonly string[]
  /** Number of keys that it declares. */
  keys: number
  /**
   * Set for a resource that declares the project itself. True: an existing one, which takes a grant
   * by id. False: a new one, which takes a grant by exactly its organization and name.
   */
  adopts?: boolean | undefined
}

/** A resource that names a project. */
export type GrantRequest = GrantNeeds & {
  namespace: string
  /** Labels of the namespace; undefined while they are not known. */
  namespace_labels: Labels | undefined
  kind: string
  /** The `projectRef` of its spec; undefined if the spec can't be read. */
  project_ref: ProjectRef | undefined
  /** Id of the project that the resource is bound to; undefined before its first reconcile. */
  bound_id: string | undefined
  /** Returns the keys that other resources of the namespace declare under a grant. */
  keysInUse: (grant: Grant) => number
}

export type GrantDecision =
  | { allowed: { grant: Grant; project_id: string } }
  | { refused: 'NotGranted' | 'ProjectAmbiguous' | 'ProjectChanged'; message: string }
  /** The decision needs something that is not known yet, as the sentence says. */
  | { unknown: string }

/**
 * Decides which project a resource may use. Nothing is allowed without a grant, and one grant must
 * allow all of it: ceilings of several grants are not combined. Names are resolved among the granted
 * projects only. A bound resource keeps its project, which must still be granted.
 */
export function decideGrant(request: GrantRequest, grants: readonly Grant[]): GrantDecision {
  const { namespace, namespace_labels, kind } = request
  const ofKind = grants.filter(({ kinds }) => kinds.includes(kind))
  const selected = ofKind.map((grant) => ({
    grant,
    selects: selects(grant.namespaces, namespace, namespace_labels),
  }))
  const covering = selected.flatMap(({ grant, selects }) => (selects === true ? [grant] : []))
  const named = covering.filter((grant) => isNamed(grant, request))
  const isUnknown = selected.some((one) => one.selects === 'unknown' && isNamed(one.grant, request))
  const ids = [...new Set(named.map(({ project_id }) => project_id))]
  if (isUnknown && (request.bound_id === undefined || ids.length === 0))
    return { unknown: labelsUnknown }
  if (ids.length > 1) return refuseAmbiguous(request, ids)
  const grant = named.toSorted(byName).find((one) => excessOf(request, one) === undefined)
  if (grant === undefined) {
    return isUnknown ? { unknown: labelsUnknown } : refuseNotGranted(request, named)
  }
  // Each grant of the project may know its organization, so all must have been matched.
  if (isUnknown && request.project_ref?.organization !== undefined) {
    return { unknown: labelsUnknown }
  }
  return isChanged(request, named)
    ? refuseChanged(request)
    : { allowed: { grant, project_id: grant.project_id } }
}

const labelsUnknown = 'the labels of the namespace are not known yet'

/** Whether a grant is of the project that the resource is bound to, else of the one it names. */
function isNamed({ project_id, project }: Grant, { bound_id, project_ref }: GrantRequest): boolean {
  if (bound_id !== undefined) return project_id === bound_id
  if (project_ref === undefined) return false
  const { id } = project_ref
  return id === undefined ? hasNames(project, project_ref) : project_id === id.toLowerCase()
}

/** Whether a grant names its project as a resource does; an organization may be left out. */
function hasNames(project: Grant['project'], { organization, name }: ProjectRef = {}): boolean {
  if (name === undefined || project?.name !== name) return false
  return organization === undefined || project.organization === organization
}

/** Whether projectRef was edited and no longer means the project that the resource is bound to. */
function isChanged({ bound_id, project_ref }: GrantRequest, granted: readonly Grant[]): boolean {
  if (bound_id === undefined || project_ref === undefined) return false
  const { id, organization } = project_ref
  if (id !== undefined) return id.toLowerCase() !== bound_id
  if (organization === undefined) return false
  const named = granted.flatMap(({ project }) => project ?? [])
  return named.length > 0 && named.every((project) => project.organization !== organization)
}

/** Returns what a resource declares beyond the ceilings of a grant; undefined if nothing. */
function excessOf(request: GrantRequest, grant: Grant): string | undefined {
  const scopes = request.scopes.filter((scope) => !grant.scopes.includes(scope))
  if (scopes.length > 0) return `allows no scope ${scopes.join(', ')}`
  const roles = request.roles.filter((role) => !grant.roles.includes(role))
  if (roles.length > 0) return `allows no role ${roles.join(', ')}`
  if (request.adopts === true && grant.project !== undefined) {
    return 'names its project by organization and name, so no resource may adopt it'
  }
  // The id may come from an annotation, which a user can set.
  if (request.adopts === false && !hasNames(grant.project, request.project_ref)) {
    return `does not name ${describeProject({ ...request, bound_id: undefined })}`
  }
  if (request.keys === 0) return undefined
  const used = request.keysInUse(grant)
  if (used + request.keys <= grant.max_keys) return undefined
  return `allows ${grant.max_keys} keys in a namespace: older resources declare ${used}, this one ${request.keys}`
}

function refuseNotGranted(request: GrantRequest, named: readonly Grant[]): GrantDecision {
  const [first] = named.toSorted(byName)
  const excess = first && excessOf(request, first)
  if (first !== undefined && excess !== undefined) {
    const message = `ProjectGrant ${first.name} ${excess}. Declare less, or ask an administrator of the cluster to extend the grant`
    return { refused: 'NotGranted', message }
  }
  const { namespace, kind } = request
  const message = `no ProjectGrant lets a ${kind} in namespace ${namespace} use ${describeProject(request)}. Ask an administrator of the cluster for a grant of this project, namespace and kind`
  return { refused: 'NotGranted', message }
}

function refuseAmbiguous(request: GrantRequest, ids: readonly string[]): GrantDecision {
  const message = `several projects named "${request.project_ref?.name}" are granted to namespace ${request.namespace}. Set projectRef.organization, or projectRef.id to one of ${ids.toSorted().join(', ')}`
  return { refused: 'ProjectAmbiguous', message }
}

function refuseChanged({ bound_id }: GrantRequest): GrantDecision {
  const message = `projectRef no longer means project ${bound_id}, which this resource uses. Nothing was moved. Undo the change, or create a new resource`
  return { refused: 'ProjectChanged', message }
}

function describeProject({ bound_id, project_ref }: GrantRequest): string {
  const { id, organization, name } = project_ref ?? {}
  if (bound_id !== undefined || id !== undefined) return `project ${bound_id ?? id}`
  return `project "${name}"${organization === undefined ? '' : ` of organization "${organization}"`}`
}

function byName(one: Grant, other: Grant): number {
  return one.name < other.name ? -1 : 1
}
