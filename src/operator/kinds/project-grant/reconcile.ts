import { isUuid } from '../../../kernel/ids.ts'
import { NotReady, type ReconcileDeps, type Reconciled, type Resource } from '../../contract.ts'
import { findProject, requireProjectById } from '../../service/projects.ts'
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
  const { organization = '', name = '' } = resource.spec.project
  const known = projectIdOf(resource)
  const projectId = known ?? (await findProject(deps.service, { organization, name }))
  if (known !== undefined) await requireProjectById(deps.service, known)
  await deps.noteExternalId(projectId)
  const namespaces = deps.countNamespaces(resource.spec.namespaces)
  if (namespaces === undefined) {
    throw new NotReady('NamespacesUnknown', 'the labels of namespaces are not known yet', {
      again_after_ms: namespaces_ms,
    })
  }
  const message = `project ${projectId} is granted to ${namespaces} namespaces`
  return {
    conditions: [{ type: 'Ready', status: 'True', reason: 'Synced', message }],
    status: { projectId, namespaces },
  }
}

const namespaces_ms = 1_000

/** Converts a resource to a grant; undefined until the project is found. */
export function toGrant(resource: ProjectGrant): Grant | undefined {
  const { meta, spec } = resource
  const project_id = projectIdOf(resource)
  if (project_id === undefined) return undefined
  const { organization, name } = spec.project
  const isNamed = organization !== undefined && name !== undefined
  return {
    ...{ name: meta.name, project_id, project: isNamed ? { organization, name } : undefined },
    ...{ namespaces: spec.namespaces, kinds: spec.kinds, scopes: spec.scopes, roles: spec.roles },
    ...{ max_keys: spec.maxKeys, revoke_after: spec.revokeAfter },
  }
}

function projectIdOf({ meta, spec, status }: ProjectGrant): string | undefined {
  const noted = isUuid(meta.external_id ?? '') ? meta.external_id : undefined
  return (spec.project.id ?? status.projectId ?? noted)?.toLowerCase()
}
