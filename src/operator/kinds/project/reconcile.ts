import { z } from 'zod'
import {
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
  type ResourceMeta,
} from '../../contract.ts'
import { ServiceRefusal, ServiceUnavailable } from '../../service/service-client.ts'
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
  const isSettled = before !== undefined && isDeclared(before, { meta, spec })
  const created = isSettled ? false : await putProject({ meta, spec }, deps)
  const after = isSettled ? before : await readProject(deps)
  if (after === undefined || !isDeclared(after, { meta, spec })) {
    throw new NotReady('NotApplied', 'the project was written, but the read-back differs')
  }
  const wasReady = status.createdAt !== undefined
  const message = `project "${after.name}" is ${after.id}`
  return {
    conditions: [{ type: 'Ready', status: 'True', reason: 'Synced', message }],
    status: { createdAt: after.created_at },
    events: isSettled ? [] : [eventOf({ created, wasReady })],
    drifted: !isSettled && wasReady ? 1 : 0,
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
  managed_by: z
    .object({ kind: z.string(), namespace: z.string(), name: z.string(), uid: z.string() })
    .nullable(),
})

type StoredProject = z.output<typeof projectShape>
type Declared = Pick<Project, 'meta' | 'spec'>

const pathOf = (project_id: string) => `/api/v2/access/projects/${project_id}`

async function readProject(deps: ReconcileDeps): Promise<StoredProject | undefined> {
  const { service, project_id } = deps
  try {
    const path = pathOf(project_id)
    const { body } = await service.request({ method: 'GET', path, project_id })
    return projectShape.parse(body)
  } catch (error) {
    if (isGone(error)) return undefined
    if (!(error instanceof z.ZodError)) throw error
    throw new ServiceUnavailable('the service answered with an unreadable project')
  }
}

function isDeclared(project: StoredProject, { meta, spec }: Declared): boolean {
  const { managed_by } = project
  const { kind, namespace, name, uid } = meta
  const isOwner = managed_by?.kind === kind && managed_by.namespace === namespace
  const isSame = isOwner && managed_by.name === name && managed_by.uid === uid
  return isSame && project.name === spec.name
}

/** Declares the project; returns whether it was created. */
async function putProject({ meta, spec }: Declared, deps: ReconcileDeps): Promise<boolean> {
  const { organization, name, id } = spec
  const managed_by = ownerOf(meta)
  const body = { organization, name, adopt: id !== undefined, managed_by }
  try {
    const path = pathOf(deps.project_id)
    const { status } = await deps.service.request({ method: 'PUT', path, body })
    return status === 201
  } catch (error) {
    throw explain(error, spec)
  }
}

/** Converts a refusal that only a change of the spec or of the service resolves. */
function explain(error: unknown, { organization, name }: ProjectSpec): unknown {
  if (!(error instanceof ServiceRefusal)) return error
  if (error.code === 'organization_not_found') {
    const message = `organization "${organization}" does not exist: create it, or correct spec.organization`
    return new NotReady('OrganizationNotFound', message)
  }
  if (error.code !== 'name_taken' && error.code !== 'managed_by_kubernetes') return error
  const advice =
    'Use another name, or ask an administrator of the cluster to grant the project by id, and set spec.id'
  const message = `organization "${organization}" has a project "${name}" that this resource did not create. ${advice}`
  return new NotReady('NameTaken', message)
}

async function endDeclaration(
  meta: ResourceMeta,
  { service, project_id }: ReconcileDeps,
  { retain }: { retain: boolean },
): Promise<void> {
  if (project_id === '') return
  const { kind, namespace, name } = meta
  const query = new URLSearchParams({ managed_by: `${kind}/${namespace}/${name}` })
  if (retain) query.set('retain', 'true')
  try {
    const path = `${pathOf(project_id)}?${query}`
    await service.request({ method: 'DELETE', path, project_id })
  } catch (error) {
    const isForeign = error instanceof ServiceRefusal && error.code === 'managed_by_kubernetes'
    if (!isGone(error) && !isForeign) throw error
  }
}

function ownerOf({ kind, namespace, name, uid }: ResourceMeta) {
  return { kind, namespace, name, uid }
}

function isGone(error: unknown): boolean {
  return error instanceof ServiceRefusal && error.code === 'project_not_found'
}

function eventOf({ created, wasReady }: { created: boolean; wasReady: boolean }): EventDraft {
  const action = 'PutProject'
  if (wasReady) {
    const note = 'declared the project again after a change in the service'
    return { type: 'Warning', reason: 'DriftCorrected', action, note }
  }
  return created
    ? { type: 'Normal', reason: 'Created', action, note: 'created the project' }
    : { type: 'Normal', reason: 'Adopted', action, note: 'adopted the project' }
}
