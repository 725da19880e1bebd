import { z } from 'zod'
import { projectRoles } from '../../../kernel/scopes.ts'
import { managedByField } from '../../../model/managed-by.ts'
import type { ReconcileDeps, ResourceMeta } from '../../contract.ts'
import { isOwnedBy, ownerOf, ownerQuery } from '../../installation.ts'
import { isRefusal, parseAnswer } from '../../service/service-client.ts'

const memberShape = z.object({
  id: z.string(),
  email: z.string(),
  role: z.enum(projectRoles),
  status: z.enum(['invited', 'link_not_sent', 'accepted', 'expired', 'ended']),
  member_role: z.enum(projectRoles).nullable(),
  managed_by: managedByField.nullable(),
})

/** A declared member in the service. */
export type Member = z.output<typeof memberShape>

/** Reads the member that a resource declares. */
export async function readMember(
  meta: ResourceMeta,
  deps: ReconcileDeps,
): Promise<Member | undefined> {
  const { service, project_id, installation } = deps
  try {
    const path = pathOf(meta, deps)
    const { body } = await service.request({ method: 'GET', path, project_id })
    const member = parseAnswer(memberShape, body, 'member')
    const { managed_by } = member
    const isOwn = managed_by !== null && isOwnedBy(managed_by, ownerOf(meta, installation))
    return isOwn ? member : undefined
  } catch (error) {
    if (isRefusal(error, 'member_not_found')) return undefined
    throw error
  }
}

/** Declares the member. */
export async function putMember(
  meta: ResourceMeta,
  { email, role }: Pick<Member, 'email' | 'role'>,
  { service, project_id, installation }: ReconcileDeps,
): Promise<void> {
  const body = { email, role, managed_by: ownerOf(meta, installation) }
  await service.request({ method: 'PUT', path: rootOf(project_id), project_id, body })
}

/** Ends the declaration; a missing one, or a missing project, is ignored. */
export async function endMember(
  meta: ResourceMeta,
  { retain }: { retain: boolean },
  deps: ReconcileDeps,
): Promise<void> {
  const { service, project_id } = deps
  if (project_id === '') return
  try {
    if ((await readMember(meta, deps)) === undefined) return
    const path = `${pathOf(meta, deps)}${retain ? '&retain=true' : ''}`
    await service.request({ method: 'DELETE', path, project_id })
  } catch (error) {
    if (!isRefusal(error, 'project_not_found')) throw error
  }
}

const rootOf = (project_id: string) => `/api/v2/access/projects/${project_id}/declared-members`

function pathOf(
  meta: ResourceMeta,
  { project_id, installation }: Pick<ReconcileDeps, 'project_id' | 'installation'>,
): string {
  const query = new URLSearchParams({ managed_by: ownerQuery(ownerOf(meta, installation)) })
  return `${rootOf(project_id)}?${query}`
}
