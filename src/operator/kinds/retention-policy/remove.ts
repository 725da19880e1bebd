import { NotReady, type ReconcileDeps } from '../../contract.ts'
import { resolveProject } from '../../project-ref.ts'
import { type ServiceClient, ServiceRefusal } from '../../service-client.ts'
import { policyPath } from './stored-policy.ts'
import type { RetentionPolicy } from './winner.ts'

/**
 * Takes the policy and its holds back, so that everything stays for ever again; with
 * `deletionPolicy: Retain` lets go of them. Both are left alone where they are another's.
 */
export async function removeRetention(
  resource: RetentionPolicy,
  { service }: Pick<ReconcileDeps, 'service'>,
): Promise<void> {
  for (const project_id of await projectsOf(resource, service)) {
    await letGo(resource, service, project_id)
  }
}

/** Takes back what the resource declares in a project. */
export async function letGo(
  { meta, spec }: RetentionPolicy,
  service: ServiceClient,
  project_id: string,
): Promise<void> {
  const { kind, namespace, name } = meta
  const query = new URLSearchParams({ managed_by: `${kind}/${namespace}/${name}` })
  if (spec.deletionPolicy === 'Retain') query.set('retain', 'true')
  const path = `${policyPath}?${query}`
  try {
    await service.request({ method: 'DELETE', path, project_id })
  } catch (error) {
    if (!isNoLongerOurs(error)) throw error
  }
}

/** The project is gone, or another resource declares its retention by now. */
const done = new Set(['project_not_found', 'managed_by_kubernetes'])

function isNoLongerOurs(error: unknown): boolean {
  return error instanceof ServiceRefusal && done.has(error.code)
}

/**
 * Projects in which the resource may have written: as the annotation, the status and the spec say.
 * Only where none names one is the name looked up.
 */
async function projectsOf(
  { meta, status, spec }: RetentionPolicy,
  service: ServiceClient,
): Promise<string[]> {
  const known = [meta.external_id, status.projectId, spec.projectRef.id?.toLowerCase()]
  const ids = new Set(known.filter((id) => id !== undefined))
  if (ids.size > 0) return [...ids]
  try {
    return [await resolveProject(spec.projectRef, service)]
  } catch (error) {
    if (error instanceof NotReady) return []
    throw error
  }
}
