import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type ManagedBy, managedByField } from '../../../model/managed-by.ts'
import {
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
  type ResourceMeta,
} from '../../contract.ts'
import { isOwnedBy, ownerOf, ownerQuery } from '../../installation.ts'
import { isRefusal, parseAnswer, ServiceRefusal } from '../../service/service-client.ts'
import type { ProjectSpec, ProjectStatus } from './spec.ts'

type Project = Resource<ProjectSpec, ProjectStatus>

/**
 * Creates the project under the id of its grant, adopts it, or restores it. A repeated call finds
 * what it created, because the id depends on the names alone.
 */
export async function reconcileProject(
  { meta, spec, status }: Project,
  deps: ReconcileDeps,
): Promise<Reconciled<ProjectStatus>> {
  const before = await readProject(deps)
  const owner = ownerOf(meta, deps.installation)
  const isSettled = before !== undefined && isDeclared(before, owner, spec)
  const created = isSettled ? false : await putProject(owner, spec, deps)
  const after = isSettled ? before : await readProject(deps)
  if (after === undefined || !isDeclared(after, owner, spec)) {
    throw new NotReady('NotApplied', 'the project was written, but the read-back differs')
  }
  const wasReady = status.createdAt !== undefined
  const hasDrifted = !isSettled && wasReady && status.appliedGeneration === meta.generation
  const message = `project "${after.name}" is ${after.id}`
  return {
    conditions: [{ type: 'Ready', status: 'True', reason: 'Synced', message }],
    status: { createdAt: after.created_at, appliedGeneration: meta.generation },
    events: isSettled ? [] : [eventOf({ created, wasReady, hasDrifted })],
    drifted: hasDrifted ? 1 : 0,
  }
}

/** Archives the project, or with `deletionPolicy: Retain` ends only its declaration. */
export async function removeProject({ meta, spec }: Project, deps: ReconcileDeps): Promise<void> {
  await endDeclaration(meta, deps, { retain: spec.deletionPolicy === 'Retain' })
}

/** Ends the declaration after the grant was withdrawn. The project and its data stay. */
export async function withdrawProject(
  { meta }: Pick<Project, 'meta'>,
  deps: ReconcileDeps,
): Promise<void> {
  await endDeclaration(meta, deps, { retain: true })
}

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

async function readProject(deps: ReconcileDeps): Promise<StoredProject | undefined> {
  const { service, project_id } = deps
  try {
    const path = pathOf(project_id)
    const { body } = await service.request({ method: 'GET', path, project_id })
    return parseAnswer(projectShape, body, 'project')
  } catch (error) {
    if (isRefusal(error, 'project_not_found')) return undefined
    throw error
  }
}

function isDeclared(project: StoredProject, owner: ManagedBy, spec: ProjectSpec): boolean {
  const hasOwner = isDeepStrictEqual(project.managed_by, owner)
  return hasOwner && project.name === spec.name && hasEnvironments(project, spec)
}

/** Whether the project has the declared environments, in any order. */
function hasEnvironments(project: StoredProject, spec: ProjectSpec): boolean {
  const declared = spec.environments ?? null
  return isDeepStrictEqual(project.environments?.toSorted() ?? null, declared?.toSorted() ?? null)
}

/** Declares the project; returns whether it was created. */
async function putProject(
  managed_by: ManagedBy,
  spec: ProjectSpec,
  deps: ReconcileDeps,
): Promise<boolean> {
  const { organization, name, id, environments } = spec
  const body = { organization, name, adopt: id !== undefined, environments, managed_by }
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

async function endDeclaration(
  meta: ResourceMeta,
  deps: ReconcileDeps,
  { retain }: { retain: boolean },
): Promise<void> {
  const { service, project_id, installation } = deps
  if (project_id === '') return
  const owner = ownerOf(meta, installation)
  const managed_by = (await readProject(deps))?.managed_by
  if (managed_by == null) return
  refuseRenamed(managed_by, owner)
  if (!isOwnedBy(managed_by, owner)) return
  const query = new URLSearchParams({ managed_by: ownerQuery(owner) })
  if (retain) query.set('retain', 'true')
  try {
    const path = `${pathOf(project_id)}?${query}`
    await service.request({ method: 'DELETE', path, project_id })
  } catch (error) {
    const isGone = isRefusal(error, 'project_not_found')
    if (!isGone && !isRefusal(error, 'managed_by_kubernetes')) throw error
  }
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

function eventOf(about: { created: boolean; wasReady: boolean; hasDrifted: boolean }): EventDraft {
  const { created, wasReady, hasDrifted } = about
  const action = 'PutProject'
  if (hasDrifted) {
    const note = 'declared the project again after a change in the service'
    return { type: 'Warning', reason: 'DriftCorrected', action, note }
  }
  if (wasReady) {
    const note = 'wrote the changed spec to the service'
    return { type: 'Normal', reason: 'Updated', action, note }
  }
  return created
    ? { type: 'Normal', reason: 'Created', action, note: 'created the project' }
    : { type: 'Normal', reason: 'Adopted', action, note: 'adopted the project' }
}
