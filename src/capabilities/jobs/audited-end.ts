import type { Clock } from '../../kernel/time.ts'
import { AuditedCall, type AuditTrail, runInCall } from '../../platform/audit/index.ts'
import { runInInstallation } from '../../platform/tenancy/index.ts'
import type { Job } from './contract.ts'

/** Where the ends of jobs are recorded; undefined: nowhere. */
export type JobAudit = { trail: AuditTrail; clock: Clock } | undefined

/**
 * Writes the end of a job, and its audit record in the same transaction. A write that finds no row,
 * because the lease is lost, leaves no record. A job of no known project has its record in the
 * chain of the installation, which the scope of a project may not write.
 */
export async function writeAuditedEnd(
  audit: JobAudit,
  { job, isFailed }: { job: Job; isFailed: boolean },
  write: () => Promise<boolean>,
): Promise<boolean> {
  if (audit === undefined) return write()
  const call = new AuditedCall(audit.trail, {
    recorded_at: new Date(audit.clock.now_ms()).toISOString(),
    action: `job.${job.kind}`,
    resource_type: 'jobs',
    resource_id: job.id,
    request_id: job.id,
    origin: null,
    user_agent: null,
    is_collection: false,
  })
  call.noteActor('job', job.id)
  call.noteProject(job.project_id)
  if (isFailed) call.noteFailure()
  const end = () => runInCall(call, () => call.change(write))
  const organization_id = await audit.trail.findOrganization(job.project_id)
  return organization_id === undefined
    ? runInInstallation('the chain of the installation', end)
    : end()
}
