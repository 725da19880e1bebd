import { runInInstallation, runInOrganization, runInProject } from '../tenancy/index.ts'
import type { AuditTrail } from './audited-call.ts'

/**
 * Returns a trail that reads and writes in the scope of each entry's organization instead of the
 * scope of the call. A refused call has no scope.
 */
export function scopeTrail(trail: AuditTrail): AuditTrail {
  return {
    ...trail,
    findOrganization: (project_id) =>
      runInProject(project_id, () => trail.findOrganization(project_id)),
    append: (entry) => runForChain(entry.organization_id, () => trail.append(entry)),
  }
}

/** Runs work on the chain of an organization in its scope; null: the chain of the installation. */
export function runForChain<T>(organization_id: string | null, work: () => T): T {
  return organization_id === null
    ? runInInstallation('the chain of the installation', work)
    : runInOrganization(organization_id, work)
}
