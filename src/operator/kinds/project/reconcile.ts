import { z } from 'zod'
import { type ManagedBy, managedByField } from '../../../model/managed-by.ts'
import {
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
  type ResourceMeta,
} from '../../contract.ts'
import { type DeclaredObject, removalOf, singleObject } from '../../declared/declared-object.ts'
import { type Declaration, reconcileDeclared, synced } from '../../declared/reconcile-declared.ts'
import { ServiceRefusal } from '../../service/service-client.ts'
import { type ProjectSpec, type ProjectStatus, toProject } from './spec.ts'

type Project = Resource<ProjectSpec, ProjectStatus>

/**
 * Creates the project under the id of its grant, adopts it, or restores it. A repeated call finds
 * what it created, because the id depends on the names alone.
 */
export async function reconcileProject(
  { meta, spec, status }: Project,
  deps: ReconcileDeps,
): Promise<Reconciled<ProjectStatus>> {
  const object = declaredProject(meta, deps)
  const was_ready = status.createdAt !== undefined
  let is_new = false
  const write = async (body: object) => {
    is_new = await putProject(body, spec, deps)
  }
  const declaration: Declaration<StoredProject, ProjectStatus> = {
    noun: 'project',
    action: 'PutProject',
    is_permanent: true,
    object: { ...object, write },
    body: { adopt: false, ...toProject(spec), managed_by: object.owner },
    values: valuesOf({ ...spec, managed_by: object.owner }),
    valuesOf,
    was_applied: was_ready && status.appliedGeneration === meta.generation,
    explain: () => explainChange({ was_ready, is_new }),
    report: ({ id, name, created_at }) => ({
      conditions: [synced(`project "${name}" is ${id}`)],
      status: { createdAt: created_at, appliedGeneration: meta.generation },
    }),
  }
  return reconcileDeclared(declaration, deps)
}

/** A project is archived with its resource. `Retain`, and a withdrawn grant, end only its declaration. */
export const projectRemoval = removalOf(declaredProject, { withdrawn: 'kept' })

const projectShape = z.object({
  id: z.string(),
  name: z.string(),
  created_at: z.string(),
  // A service of an earlier version, during an upgrade, returns none.
  environments: z.array(z.string()).nullable().default(null),
  managed_by: managedByField.nullable(),
})

type StoredProject = z.output<typeof projectShape>

const pathOf = (project_id: string) => `/api/v2/access/projects/${project_id}`

function declaredProject(meta: ResourceMeta, deps: ReconcileDeps): DeclaredObject<StoredProject> {
  const object = singleObject<StoredProject>(
    {
      path: pathOf(deps.project_id),
      noun: 'project',
      shape: projectShape,
      not_found: 'project_not_found',
      is_read_before_removal: true,
      reasons: {},
      gone: ['managed_by_kubernetes'],
    },
    meta,
    deps,
  )
  const remove: typeof object.remove = async (options) => {
    const managed_by = deps.project_id === '' ? null : (await object.find())?.managed_by
    if (managed_by != null) refuseRenamed(managed_by, object.owner)
    await object.remove(options)
  }
  return { ...object, remove }
}

/** Returns the declared values of a project. Environments have no order. */
function valuesOf({
  name,
  environments,
  managed_by,
}: Pick<StoredProject, 'name' | 'managed_by'> & {
  environments?: readonly string[] | null | undefined
}) {
  return { name, environments: environments?.toSorted(), managed_by }
}

/** Declares the project, which may not exist yet; returns whether it was created. */
async function putProject(body: object, spec: ProjectSpec, deps: ReconcileDeps): Promise<boolean> {
  try {
    const path = pathOf(deps.project_id)
    const { status } = await deps.service.request({ method: 'PUT', path, body })
    return status === 201
  } catch (error) {
    throw explain(error, spec)
  }
}

/** Converts a refusal that only a change of the spec or of the service resolves. */
function explain(error: unknown, { organization, name, id }: ProjectSpec): unknown {
  if (!(error instanceof ServiceRefusal)) return error
  if (error.code === 'project_not_found') {
    return new NotReady(
      'ProjectNotFound',
      `no project has the id ${id}: create a new Project with another spec.id`,
    )
  }
  if (error.code === 'organization_not_found') {
    const message = `organization "${organization}" does not exist: create it, or correct spec.organization`
    return new NotReady('OrganizationNotFound', message)
  }
  if (error.code === 'managed_by_kubernetes') {
    const message = `another resource declares project "${name}" of organization "${organization}": ${error.message}`
    return new NotReady('NameTaken', message)
  }
  if (error.code !== 'name_taken') return error
  const advice =
    'Use another name, or ask an administrator of the cluster to grant the project by id, and set spec.id in a new Project'
  const message = `organization "${organization}" has a project "${name}" that this resource did not create. ${advice}`
  return new NotReady('NameTaken', message)
}

/**
 * Throws `NotReady` (`Conflict`) if another installation declared the project for this very
 * resource, so that the resource is not gone before the declaration ends.
 */
function refuseRenamed(stored: ManagedBy, owner: ManagedBy): void {
  const { uid, installation } = stored
  if (uid !== owner.uid || installation === undefined || installation === owner.installation) return
  throw new NotReady(
    'Conflict',
    `the installation ${installation} serves the project of this resource. Give this operator the name of that installation (LOOPTRACE_OPERATOR_INSTALLATION)`,
  )
}

function explainChange({ was_ready, is_new }: { was_ready: boolean; is_new: boolean }) {
  if (was_ready) return { reason: 'Updated', note: 'wrote the changed spec to the service' }
  return is_new
    ? { reason: 'Created', note: 'created the project' }
    : { reason: 'Adopted', note: 'adopted the project' }
}
