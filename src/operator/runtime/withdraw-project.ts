import { duration_ms } from '../common-spec.ts'
import type { EventDraft, Kind, ReconcileDeps } from '../contract.ts'
import type { ProjectStatus, Withdrawal } from '../tenancy/project-use.ts'
import type { CachedResource } from './cached-resource.ts'
import type { EventRecorder } from './event-recorder.ts'
import type { ResourceWriter } from './resource-writer.ts'

/** Grace of a resource that used its project before there were grants. */
const grace_default = '1h'

type WithdrawOptions = {
  kind: Kind
  events: EventRecorder
  writer: ResourceWriter
  deps: ReconcileDeps
  /** The reason why no grant allows the resource. */
  refusal: string
}

/**
 * Withdraws the project of a resource that is no longer granted it: notes the time at first, and at
 * the end of the grace calls the kind. The end is kept in the status, which only the operator may
 * write, so that no edit of the resource extends it. Returns the time until the next step, or
 * undefined when all is done.
 */
export async function withdrawProject(
  cached: CachedResource,
  options: WithdrawOptions,
): Promise<{ after_ms: number } | undefined> {
  const { kind, events, writer, deps, refusal } = options
  const { project } = cached
  const now_ms = deps.clock.now_ms()
  const withdrawal = project.withdrawal ?? startWithdrawal(project, now_ms)
  if (withdrawal.revokedAt !== undefined) {
    await writeWithdrawal(writer, project, withdrawal, refusal)
    return undefined
  }
  const after_ms = Date.parse(withdrawal.revokeAt) - now_ms
  if (after_ms > 0) {
    await writeWithdrawal(writer, project, withdrawal, refusal)
    if (project.withdrawal === undefined) {
      const note = describeWithdrawal(withdrawal, refusal)
      await events.record(cached.meta, [eventOf('NotGranted', note)])
    }
    return { after_ms }
  }
  const { meta, conditions } = cached
  const status = { ...cached.own_status, conditions }
  await kind.project?.withdraw({ meta, status }, deps)
  const revokedAt = new Date(now_ms).toISOString()
  await writeWithdrawal(writer, project, { ...withdrawal, revokedAt }, refusal)
  await events.record(meta, [eventOf('Withdrawn', 'keys are revoked and objects released')])
  return undefined
}

function startWithdrawal({ grant }: ProjectStatus, now_ms: number): Withdrawal {
  const grace_ms = duration_ms(grant?.revokeAfter ?? grace_default)
  return {
    since: new Date(now_ms).toISOString(),
    revokeAt: new Date(now_ms + grace_ms).toISOString(),
  }
}

async function writeWithdrawal(
  writer: ResourceWriter,
  project: ProjectStatus,
  withdrawal: Withdrawal,
  refusal: string,
): Promise<void> {
  const message = describeWithdrawal(withdrawal, refusal)
  await writer.status({
    conditions: [{ type: 'Ready', status: 'False', reason: 'NotGranted', message }],
    project: { ...project, withdrawal },
    synced: false,
  })
}

function describeWithdrawal({ revokeAt, revokedAt }: Withdrawal, refusal: string): string {
  const what =
    revokedAt === undefined
      ? `Keys are revoked and objects released at ${revokeAt}`
      : `Keys were revoked and objects released at ${revokedAt}`
  return `${refusal}. ${what}`
}

function eventOf(reason: string, note: string): EventDraft {
  return { type: 'Warning', reason, action: 'Withdraw', note }
}
