import { z } from 'zod'
import { managedByField } from '../../../model/managed-by.ts'
import { NotReady } from '../../contract.ts'
import { type ServiceClient, ServiceRefusal } from '../../service/service-client.ts'

export const policyPath = '/api/v2/observability/retention-policy'

const days = z.number().nullable()
const count = z.number()

/** The parts of the service's answer that are read here. */
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
 * Reads the policy of a project. Returns undefined for a policy in an invalid format, as after a
 * manual change in the database. Throws `NotReady` when the project does not exist.
 */
export async function readPolicy(
  service: ServiceClient,
  project_id: string,
): Promise<StoredPolicy | undefined> {
  const request = { method: 'GET', path: policyPath, project_id } as const
  const { body } = await service.request(request).catch((error: unknown) => {
    throw toNotReady(error)
  })
  return storedPolicy.safeParse(body).data
}

/** Reasons of Ready by error code, for refusals that must be resolved outside the operator. */
const reasons: Readonly<Record<string, string>> = {
  project_not_found: 'ProjectNotFound',
  archive_not_configured: 'ArchiveNotConfigured',
  too_many_holds: 'TooManyHolds',
}

/** Converts a refusal with such a code to `NotReady`; returns other errors unchanged. */
export function toNotReady(error: unknown): unknown {
  if (!(error instanceof ServiceRefusal)) return error
  const reason = reasons[error.code]
  return reason === undefined ? error : new NotReady(reason, error.message)
}
