import { isUuid } from '../../../kernel/ids.ts'
import {
  type ConditionDraft,
  type EventDraft,
  type Kind,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
  type SpecFault,
} from '../../contract.ts'
import { findProject, newProjectId, requireProjectById } from '../../service/projects.ts'
import type { Grant } from '../../tenancy/grant.ts'
import type { ProjectGrantSpec, ProjectGrantStatus } from './spec.ts'

type ProjectGrant = Resource<ProjectGrantSpec, ProjectGrantStatus>

/**
 * Finds the project once, by organization and name, and keeps its id: a later project of the name is
 * not the granted one. Throws `NotReady` (`ProjectNotFound`) when it does not exist.
 */
export async function reconcileGrant(
  resource: ProjectGrant,
  deps: ReconcileDeps,
): Promise<Reconciled<ProjectGrantStatus>> {
  const known = projectIdOf(resource)
  const projectId = known ?? (await findNamed(resource, deps))
  if (known !== undefined) await requireProjectById(deps.service, known)
  await deps.noteExternalId(projectId)
  const namespaces = deps.countNamespaces(resource.spec.namespaces)
  if (namespaces === undefined) {
    throw new NotReady('NamespacesUnknown', 'the labels of namespaces are not known yet', {
      again_after_ms: namespaces_ms,
    })
  }
  const granted = `project ${projectId} is granted to ${namespaces} namespaces`
  const faults = grantFaults(resource.spec, deps.kinds)
  const ready: ConditionDraft =
    faults.length === 0
      ? { type: 'Ready', status: 'True', reason: 'Synced', message: granted }
      : {
          type: 'Ready',
          status: 'False',
          reason: 'UnknownKind',
          message: `${faults.map(({ message }) => message).join('; ')}. With the other kinds ${granted}`,
        }
  return {
    conditions: [ready],
    status: { projectId, namespaces, kinds: resource.spec.kinds },
    events: leftKinds(resource, deps),
  }
}

/** Returns a warning about kinds that left the grant while resources use it. */
function leftKinds(
  { meta, spec, status }: ProjectGrant,
  { countUses }: Pick<ReconcileDeps, 'countUses'>,
): EventDraft[] {
  const left = (status.kinds ?? []).filter((kind) => !spec.kinds.includes(kind))
  const used = left.flatMap((kind) => {
    const uses = countUses(kind, meta.name)
    return uses === 0 ? [] : [`${kind} (${uses})`]
  })
  if (used.length === 0) return []
  const note = `Kinds in use left the grant: ${used.join(', ')}. Without another grant their keys are revoked and their objects released in ${spec.revokeAfter}.`
  return [{ type: 'Warning', reason: 'KindsInUseLeft', action: 'Grant', note }]
}

/** Returns the kinds of a grant that no resource with a project can have. */
export function grantFaults(
  { kinds: asked }: Pick<ProjectGrantSpec, 'kinds'>,
  kinds: readonly Pick<Kind, 'kind' | 'project'>[],
): SpecFault[] {
  const known = kinds.flatMap(({ kind, project }) => (project === undefined ? [] : [kind]))
  return asked.flatMap((kind, at) => {
    if (known.includes(kind)) return []
    const message = `got "${kind}", expected kinds that use a project: ${known.toSorted().join(', ')}`
    return [{ path: ['kinds', at], message }]
  })
}

const namespaces_ms = 1_000

/** Finds the project by its names. One that a resource may create is looked up more often. */
async function findNamed({ spec }: ProjectGrant, { service }: ReconcileDeps): Promise<string> {
  const { organization = '', name = '' } = spec.project
  try {
    return await findProject(service, { organization, name })
  } catch (error) {
    const isAbsent = error instanceof NotReady && error.reason === 'ProjectNotFound'
    if (!isAbsent || !spec.kinds.includes(creator)) throw error
    const message = `${error.message}. A Project in a granted namespace creates it`
    throw new NotReady(error.reason, message, { again_after_ms: created_ms })
  }
}

/** The kind that creates projects. */
const creator = 'Project'
const created_ms = 5_000

/**
 * Converts a resource to a grant. Until the project is found, the grant allows only its creation,
 * under an id that depends on the names alone, so that a repeated creation finds the project.
 */
export function toGrant(resource: ProjectGrant): Grant | undefined {
  const { meta, spec } = resource
  const { organization, name } = spec.project
  const isNamed = organization !== undefined && name !== undefined
  const found_id = projectIdOf(resource)
  const project_id = found_id ?? (isNamed ? newProjectId({ organization, name }) : undefined)
  if (project_id === undefined) return undefined
  const kinds = found_id === undefined ? spec.kinds.filter((kind) => kind === creator) : spec.kinds
  if (kinds.length === 0) return undefined
  return {
    name: meta.name,
    project_id,
    project: isNamed ? { organization, name } : undefined,
    namespaces: spec.namespaces,
    kinds,
    scopes: spec.scopes,
    roles: spec.roles,
    max_keys: spec.maxKeys,
    revoke_after: spec.revokeAfter,
  }
}

function projectIdOf({ meta, spec, status }: ProjectGrant): string | undefined {
  const noted = isUuid(meta.external_id ?? '') ? meta.external_id : undefined
  return (spec.project.id ?? status.projectId ?? noted)?.toLowerCase()
}
