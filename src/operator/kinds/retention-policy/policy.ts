import { z } from 'zod'
import { traceIdFrom } from '../../../kernel/ids.ts'
import { managedByField } from '../../../model/managed-by.ts'
import type { Resource } from '../../contract.ts'
import type { Single } from '../../declared/declared-object.ts'
import type { Difference } from '../../declared/reconcile-declared.ts'
import { type Installation, ownerOf } from '../../installation.ts'
import { type RetentionPolicySpec, toPolicy } from './spec.ts'

/** Converts the spec of a resource to the policy of the service. */
export function desiredPolicy(
  { meta, spec }: Pick<Resource<RetentionPolicySpec>, 'meta' | 'spec'>,
  installation?: Installation,
) {
  const { days, environments = [], archive = null, legal_holds = [], ...more } = toPolicy(spec)
  const events = spec.events?.days ?? spec.observations?.days ?? null
  return {
    archive_before_delete: false,
    ...more,
    days: { content: null, observations: null, traces: null, ...days, events },
    environments: environments.map((one) => ({ ...one, days: { ...one.days } })),
    archive,
    legal_holds,
    managed_by: ownerOf(meta, installation),
  }
}

/** The body of a PUT of the policy. */
export type DesiredPolicy = ReturnType<typeof desiredPolicy>

/** Formats the first differences and the number of the others. */
export function describeDifferences(differences: readonly Difference[]): string {
  const some = differences
    .slice(0, shown_max)
    .map(({ path, got, expected }) => `${path} was ${textOf(got)}, is ${textOf(expected)}`)
  const others = differences.length - some.length
  return `${some.join('; ')}${others > 0 ? `; and ${others} more` : ''}`
}

const shown_max = 5
const text_max = 100
const textOf = (value: unknown) => String(value ?? 'missing').slice(0, text_max)

type Values = Readonly<Record<string, string | number | boolean>>

/**
 * Returns the values of a policy by their paths in the spec. The order of lists, the spelling of ids
 * and a disabled schedule make no difference.
 */
export function valuesOf(policy: DesiredPolicy | StoredPolicy): Values {
  const values: Record<string, string | number | boolean> = {}
  const set = (path: string, value: string | number | boolean | undefined) => {
    if (value !== undefined) values[path] = value
  }
  const setDays = (at: string, days: Readonly<Record<string, number | null | undefined>>) => {
    for (const [section, own] of Object.entries(days)) {
      set(`${at}${section}.days`, own === null ? 'forever' : own)
    }
  }
  setDays('', policy.days)
  for (const { environment, days } of policy.environments) {
    const path = `environments[${environment}]`
    set(path, 'present')
    setDays(`${path}.`, days)
  }
  set('archive.beforeDelete', policy.archive_before_delete)
  const archive = policy.archive?.enabled ? policy.archive : undefined
  set('archive.enabled', archive !== undefined)
  set('archive.afterDays', archive?.after_days)
  set('archive.schedule', archive?.schedule)
  for (const hold of policy.legal_holds) {
    set(`legalHolds[${hold.name}]`, targetOf(hold))
    set(`legalHolds[${hold.name}].reason`, hold.reason)
  }
  const owner = policy.managed_by
  set('managedBy', owner === null ? 'nobody' : `${owner.kind} ${owner.namespace}/${owner.name}`)
  set(uidPath, owner === null ? 'nobody' : `${owner.uid} ${owner.installation ?? ''}`.trim())
  return values
}

/**
 * Path of the resource's uid and installation. They change after a restore from a backup and an
 * upgrade, which is not drift.
 */
export const uidPath = 'managedBy.uid'

function targetOf({ kind, value }: { kind: string; value: string }): string {
  return `${kind} ${kind === 'trace' ? (traceIdFrom(value) ?? value) : value}`
}

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

/** The policy of a project. One in an invalid format, as after a manual change, is replaced. */
export const retention: Single<StoredPolicy> = {
  path: '/api/v2/observability/retention-policy',
  noun: 'policy',
  shape: storedPolicy,
  is_replaced_if_unreadable: true,
  reasons: {
    project_not_found: 'ProjectNotFound',
    archive_not_configured: 'ArchiveNotConfigured',
    too_many_holds: 'TooManyHolds',
  },
  // Another resource owns the policy.
  gone: ['managed_by_kubernetes'],
}
