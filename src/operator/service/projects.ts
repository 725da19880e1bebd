import { z } from 'zod'
import { derivedId } from '../../kernel/ids.ts'
import { NotReady } from '../contract.ts'
import { isRefusal, parseAnswer, type ServiceClient } from './service-client.ts'

const root = '/api/v2/access/projects'

const projectList = z.object({ projects: z.array(z.object({ id: z.uuid(), name: z.string() })) })

/**
 * Finds the one project with a name in an organization, both exactly. Throws `NotReady`
 * (`ProjectNotFound`) when it does not exist.
 */
export async function findProject(
  service: ServiceClient,
  { organization, name }: { organization: string; name: string },
): Promise<string> {
  const path = `${root}?${new URLSearchParams({ organization, name, limit: '2' })}`
  const { body } = await service.request({ method: 'GET', path })
  const [project, another] = parseAnswer(projectList, body, 'list of projects').projects
  // An older service ignores the organization.
  if (project?.name === name && another === undefined) return project.id.toLowerCase()
  throw new NotReady(
    'ProjectNotFound',
    `organization "${organization}" has no project "${name}": create it, or correct spec.project`,
    { again_after_ms: notFoundMs },
  )
}

/** Interval of look-ups of a project that may be created later. */
const notFoundMs = 30_000

/** Throws `NotReady` (`ProjectNotFound`) when no project has the id. */
export async function requireProjectById(service: ServiceClient, id: string): Promise<void> {
  try {
    await service.request({ method: 'GET', path: `${root}/${id}`, project_id: id })
  } catch (error) {
    if (!isRefusal(error, 'project_not_found')) throw error
    throw new NotReady('ProjectNotFound', `no project has the id ${id}: correct spec.project`)
  }
}

/**
 * Returns the id under which a Project creates the project of these names. Only operators choose ids
 * of projects, so no other caller can create a project with this id.
 */
export function newProjectId(names: { organization: string; name: string }): string {
  const { organization, name } = names
  return derivedId(projectIds, JSON.stringify([organization, name]))
}

const projectIds = '5c0d0f5e-6a55-5d0b-9c0e-2f6f2e1f6b7a'
