import type { ManagedBy } from '../../../model/managed-by.ts'
import type { Resource } from '../../contract.ts'
import type { RetentionPolicySpec } from './spec.ts'

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
