import { traceIdFrom } from '../../../kernel/ids.ts'
import type { ManagedBy } from '../../../model/managed-by.ts'
import type { Resource } from '../../contract.ts'
import type { RetentionPolicySpec } from './spec.ts'
import type { StoredPolicy } from './stored-policy.ts'

/** Days by what is kept, as the service has them; null: for ever. */
type Days = { content: number | null; observations: number | null; traces: number | null } & {
  events: number | null
}

/** A hold as the service takes it from a resource. */
export type DeclaredHold = { name: string; kind: string; value: string; reason: string }

/** What PUT of the policy takes, in the service's words. */
export type DesiredPolicy = {
  days: Days
  environments: { environment: string; days: Partial<Days> }[]
  archive_before_delete: boolean
  archive: { enabled: boolean; after_days: number; schedule: string } | null
  managed_by: ManagedBy
  legal_holds: DeclaredHold[]
}

/** What a resource wants of the service. */
export function desiredPolicy({
  meta,
  spec,
}: Pick<Resource<RetentionPolicySpec>, 'meta' | 'spec'>): DesiredPolicy {
  const { traces, observations, content, events } = spec
  const { kind, namespace, name, uid } = meta
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
    managed_by: { kind, namespace, name, uid },
    legal_holds: spec.legalHolds.map(holdOf),
  }
}

const sections = ['content', 'observations', 'traces', 'events'] as const

/** A section that is left out is as in the policy; one without days is for ever. */
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

/** One value that is not as the spec says, by its place there. */
export type Difference = { path: string; got: string; expected: string }

type Value = string | number | boolean | null
type Values = ReadonlyMap<string, Value>
type Policy = DesiredPolicy | StoredPolicy

/**
 * Where the service differs from what a resource wants, in the order of paths. Both sides are
 * brought to one form first: the order of lists, the spelling of ids and a schedule that is off make
 * no difference.
 */
export function differences(wanted: DesiredPolicy, stored: StoredPolicy | undefined): Difference[] {
  const [expected, got] = [valuesOf(wanted), stored === undefined ? noValues : valuesOf(stored)]
  const paths = new Set([...expected.keys(), ...got.keys()])
  return [...paths]
    .toSorted()
    .filter((path) => expected.get(path) !== got.get(path))
    .map((path) => ({ path, got: textOf(got, path), expected: textOf(expected, path) }))
}

/** As people read them: a few, and how many there are besides. */
export function differencesText(found: readonly Difference[]): string {
  const some = found
    .slice(0, told_max)
    .map(({ path, got, expected }) => `${path} was ${got}, is ${expected}`)
  const others = found.length - some.length
  return `${some.join('; ')}${others > 0 ? `; and ${others} more` : ''}`
}

const told_max = 5
const noValues: Values = new Map()

function valuesOf(policy: Policy): Values {
  const values = new Map<string, Value>()
  const set = (path: string, value: Value | undefined) => {
    if (value !== undefined) values.set(path, value)
  }
  for (const [section, days] of Object.entries(policy.days)) set(`${section}.days`, days)
  for (const { environment, days } of policy.environments) {
    const path = `environments[${environment}]`
    set(path, 'there')
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
  set(uidPath, owner?.uid)
  return values
}

/** Where the uid of the resource stands: it is another after a restore, which is no drift. */
export const uidPath = 'managedBy.uid'

function targetOf({ kind, value }: Pick<DeclaredHold, 'kind' | 'value'>): string {
  return `${kind} ${kind === 'trace' ? (traceIdFrom(value) ?? value) : value}`
}

function textOf(values: Values, path: string): string {
  const value = values.get(path)
  if (value === undefined) return 'not there'
  if (value === null) return path.endsWith('.days') ? 'for ever' : 'nobody'
  return String(value).slice(0, text_max)
}

const text_max = 100
