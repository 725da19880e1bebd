import { z } from 'zod'
import { managedByField } from '../../../model/managed-by.ts'
import { NotReady } from '../../contract.ts'
import { type ServiceClient, ServiceRefusal } from '../../service/service-client.ts'

export const policyPath = '/api/v2/observability/retention-policy'

const days = z.number().nullable()
const count = z.number()

/** What the service answers, as far as it is read here. */
const storedPolicy = z.object({
  days: z.object({ content: days, observations: days, traces: days, events: days }),
  environments: z.array(
    z.object({
      environment: z.string(),
      days: z.object({ content: days, observations: days, traces: days, events: days }).partial(),
    }),
  ),
  archive_before_delete: z.boolean(),
  archive: z
    .object({ enabled: z.boolean(), after_days: z.number(), schedule: z.string() })
    .nullable(),
  version: z.number(),
  managed_by: managedByField.nullable(),
  legal_holds: z.array(
    z.object({
      hold_id: z.string(),
      name: z.string(),
      kind: z.string(),
      value: z.string(),
      reason: z.string(),
    }),
  ),
  last_run: z
    .object({
      job_id: z.string(),
      state: z.enum(['succeeded', 'failed']),
      ended_at: z.string(),
      deleted_rows: count,
      deleted_bytes: count,
    })
    .nullable(),
  deleted_rows: count,
  deleted_bytes: count,
  next_run_at: z.string().nullable(),
  next_archive_at: z.string().nullable(),
  held_count: count,
})

export type StoredPolicy = z.output<typeof storedPolicy>

/**
 * Reads the policy of a project, `NotReady` when there is none; undefined for one that can't be read, since somebody changed it in
 * the database to what the service would never have taken.
 */
export async function readPolicy(
  service: ServiceClient,
  project_id: string,
): Promise<StoredPolicy | undefined> {
  const request = { method: 'GET', path: policyPath, project_id } as const
  const { body } = await service.request(request).catch((error: unknown) => {
    throw asNotReady(error)
  })
  return storedPolicy.safeParse(body).data
}

/** What has to be put right elsewhere first, and then needs no hurry. */
const reasons: Readonly<Record<string, string>> = {
  project_not_found: 'ProjectNotFound',
  archive_not_configured: 'ArchiveNotConfigured',
  too_many_holds: 'TooManyHolds',
}

/** A refusal of the service in words of Ready, if it is of that sort; else the error as it came. */
export function asNotReady(error: unknown): unknown {
  if (!(error instanceof ServiceRefusal)) return error
  const reason = reasons[error.code]
  return reason === undefined ? error : new NotReady(reason, error.message)
}
