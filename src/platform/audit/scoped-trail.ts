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
    append: (entry) =>
      entry.organization_id === null
        ? runInInstallation('the chain of the installation', () => trail.append(entry))
        : runInOrganization(entry.organization_id, () => trail.append(entry)),
  }
}
