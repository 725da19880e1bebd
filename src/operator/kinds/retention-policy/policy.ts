import { z } from 'zod'
import { traceIdFrom } from '../../../kernel/ids.ts'
import { type ManagedBy, managedByField } from '../../../model/managed-by.ts'
import { NotReady, type Resource } from '../../contract.ts'
import { type Installation, ownerOf } from '../../installation.ts'
import { type ServiceClient, ServiceRefusal } from '../../service/service-client.ts'
import type { RetentionPolicySpec } from './spec.ts'

/** Retention in days, as the service has it; null: forever. */
type Days = { content: number | null; observations: number | null; traces: number | null } & {
  events: number | null
}

/** A legal hold, as the service accepts it from a resource. */
type DeclaredHold = { name: string; kind: string; value: string; reason: string }

/** The body of a PUT of the policy. */
export type DesiredPolicy = {
  days: Days
  environments: { environment: string; days: Partial<Days> }[]
  archive_before_delete: boolean
  archive: { enabled: boolean; after_days: number; schedule: string } | null
  managed_by: ManagedBy
  legal_holds: DeclaredHold[]
}

/** Converts the spec of a resource to the policy of the service. */
export function desiredPolicy(
  { meta, spec }: Pick<Resource<RetentionPolicySpec>, 'meta' | 'spec'>,
  installation?: Installation,
): DesiredPolicy {
  const { traces, observations, content, events } = spec
  return {
    days: {
      content: content?.days ?? null,
      observations: observations?.days ?? null,
      traces: traces?.days ?? null,
      events: events?.days ?? observations?.days ?? null,
    },
    environments: spec.environments.map((environment) => ({
      environment: environment.name,
      days: daysOf(environment),
    })),
    archive_before_delete: spec.archive?.beforeDelete ?? false,
    archive: archiveOf(spec),
    managed_by: ownerOf(meta, installation),
    legal_holds: spec.legalHolds.map(holdOf),
  }
}

const sections = ['content', 'observations', 'traces', 'events'] as const

/** Returns the days of an environment. A missing section inherits; one without days is forever. */
function daysOf(environment: RetentionPolicySpec['environments'][number]): Partial<Days> {
  const days: Partial<Days> = {}
  for (const section of sections) {
    const own = environment[section]
    if (own !== undefined) days[section] = own.days ?? null
  }
  return days
}

function archiveOf({ archive }: RetentionPolicySpec): DesiredPolicy['archive'] {
  if (!archive?.enabled || archive.afterDays === undefined) return null
  return { enabled: true, after_days: archive.afterDays, schedule: archive.schedule }
}

function holdOf(hold: RetentionPolicySpec['legalHolds'][number]): DeclaredHold {
  const { name, reason, traceId, taskId, conversationId, userId } = hold
  if (traceId !== undefined) return { name, kind: 'trace', value: traceId, reason }
  if (taskId !== undefined) return { name, kind: 'task', value: taskId, reason }
  if (conversationId !== undefined) {
    return { name, kind: 'conversation', value: conversationId, reason }
  }
  return { name, kind: 'user', value: userId ?? '', reason }
}

/** A value that differs from the spec, with its path in the spec. */
export type Difference = { path: string; got: string; expected: string }

type Value = string | number | boolean | null
type Values = ReadonlyMap<string, Value>
type Policy = DesiredPolicy | StoredPolicy

/**
 * Returns the differences between the service and the spec, sorted by path. Both sides are
 * normalised first: the order of lists, the spelling of ids and a disabled schedule make no
 * difference.
 */
export function differences(wanted: DesiredPolicy, stored: StoredPolicy | undefined): Difference[] {
  const [expected, got] = [valuesOf(wanted), stored === undefined ? noValues : valuesOf(stored)]
  const paths = new Set([...expected.keys(), ...got.keys()])
  return [...paths]
    .toSorted()
    .filter((path) => expected.get(path) !== got.get(path))
    .map((path) => ({ path, got: textOf(got, path), expected: textOf(expected, path) }))
}

/** Formats the first differences and the number of the others. */
export function describeDifferences(differences: readonly Difference[]): string {
  const some = differences
    .slice(0, shown_max)
    .map(({ path, got, expected }) => `${path} was ${got}, is ${expected}`)
  const others = differences.length - some.length
  return `${some.join('; ')}${others > 0 ? `; and ${others} more` : ''}`
}

const shown_max = 5
const noValues: Values = new Map()

function valuesOf(policy: Policy): Values {
  const values = new Map<string, Value>()
  const set = (path: string, value: Value | undefined) => {
    if (value !== undefined) values.set(path, value)
  }
  for (const [section, days] of Object.entries(policy.days)) set(`${section}.days`, days)
  for (const { environment, days } of policy.environments) {
    const path = `environments[${environment}]`
    set(path, 'present')
    for (const [section, own] of Object.entries(days)) set(`${path}.${section}.days`, own)
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
  set('managedBy', owner === null ? null : `${owner.kind} ${owner.namespace}/${owner.name}`)
  set(uidPath, owner && `${owner.uid} ${owner.installation ?? ''}`.trim())
  return values
}

/**
 * Path of the resource's uid and installation. They change after a restore from a backup and an
 * upgrade, which is not drift.
 */
export const uidPath = 'managedBy.uid'

function targetOf({ kind, value }: Pick<DeclaredHold, 'kind' | 'value'>): string {
  return `${kind} ${kind === 'trace' ? (traceIdFrom(value) ?? value) : value}`
}

function textOf(values: Values, path: string): string {
  const value = values.get(path)
  if (value === undefined) return 'missing'
  if (value === null) return path.endsWith('.days') ? 'forever' : 'nobody'
  return String(value).slice(0, text_max)
}

const text_max = 100

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
