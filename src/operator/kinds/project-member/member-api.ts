import { z } from 'zod'
import { projectRoles } from '../../../kernel/scopes.ts'
import type { ReconcileDeps, ResourceMeta } from '../../contract.ts'
import { ServiceRefusal, ServiceUnavailable } from '../../service/service-client.ts'

const memberShape = z.object({
  id: z.string(),
  email: z.string(),
  role: z.enum(projectRoles),
  status: z.enum(['invited', 'link_not_sent', 'accepted', 'expired', 'ended']),
  member_role: z.enum(projectRoles).nullable(),
  managed_by: z.object({ uid: z.string() }).nullable(),
})

/** A declared member in the service. */
export type Member = z.output<typeof memberShape>

/** Reads the member that a resource declares. */
export async function readMember(
  meta: ResourceMeta,
  { service, project_id }: ReconcileDeps,
): Promise<Member | undefined> {
  try {
    const path = pathOf(meta, project_id)
    const { body } = await service.request({ method: 'GET', path, project_id })
    return parse(body)
  } catch (error) {
    if (isRefusal(error, 'member_not_found')) return undefined
    throw error
  }
}

/** Declares the member. */
export async function putMember(
  meta: ResourceMeta,
  { email, role }: Pick<Member, 'email' | 'role'>,
  { service, project_id }: ReconcileDeps,
): Promise<void> {
  const { kind, namespace, name, uid } = meta
  const body = { email, role, managed_by: { kind, namespace, name, uid } }
  await service.request({ method: 'PUT', path: rootOf(project_id), project_id, body })
}

/** Ends the declaration; a missing one, or a missing project, is ignored. */
export async function endMember(
  meta: ResourceMeta,
  { retain }: { retain: boolean },
  { service, project_id }: ReconcileDeps,
): Promise<void> {
  if (project_id === '') return
  try {
    const path = `${pathOf(meta, project_id)}${retain ? '&retain=true' : ''}`
    await service.request({ method: 'DELETE', path, project_id })
  } catch (error) {
    if (!isRefusal(error, 'project_not_found')) throw error
  }
}

/** Whether an error is a refusal with this code. */
export function isRefusal(error: unknown, code: string): error is ServiceRefusal {
  return error instanceof ServiceRefusal && error.code === code
}

const rootOf = (project_id: string) => `/api/v2/access/projects/${project_id}/declared-members`

function pathOf({ kind, namespace, name }: ResourceMeta, project_id: string): string {
  const query = new URLSearchParams({ managed_by: `${kind}/${namespace}/${name}` })
  return `${rootOf(project_id)}?${query}`
}

function parse(body: unknown): Member {
  const parsed = memberShape.safeParse(body)
  if (parsed.success) return parsed.data
  throw new ServiceUnavailable('the service answered with an unreadable member', {
    cause: parsed.error,
  })
}
