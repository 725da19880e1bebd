import {
  type ConditionDraft,
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
} from '../../contract.ts'
import { annotations } from '../../names.ts'
import type { DeclaredObject } from '../../service/declared-object.ts'
import { ServiceRefusal, ServiceUnavailable } from '../../service/service-client.ts'
import {
  channelDifferences,
  type DesiredChannel,
  desiredChannel,
  secretFieldOf,
  withSecret,
} from './channel.ts'
import { type Channel, type Delivery, declaredChannel, readLastDelivery } from './channel-api.ts'
import {
  type ChannelSecret,
  readChannelSecret,
  secretRefOf,
  withoutSecret,
} from './channel-secret.ts'
import type { NotificationChannelSpec, NotificationChannelStatus } from './spec.ts'

type NotificationChannel = Resource<NotificationChannelSpec, NotificationChannelStatus>

/** Interval at which deliveries are read. */
const delivery_ms = 60_000

/** A reconcile of one channel. */
type Run = {
  resource: NotificationChannel
  deps: ReconcileDeps
  api: DeclaredObject<Channel>
  secret: ChannelSecret | undefined
  desired: DesiredChannel
  /** Whether the service had this generation and this version of the Secret at the last read-back. */
  was_applied: boolean
  /** Reason of a user to enable a channel again that its receiver ended. */
  resume: string | undefined
}

/** Makes the channel in the service match the spec and the Secret, and reports the last delivery. */
export async function reconcileNotificationChannel(
  resource: NotificationChannel,
  deps: ReconcileDeps,
): Promise<Reconciled<NotificationChannelStatus>> {
  const run = await startRun(resource, deps)
  const { api, resume } = run
  const before = await api.find()
  const changes = findChanges(run, before)
  if (changes.length > 0) await write(run, before)
  const after = changes.length > 0 ? await readBack(run) : before
  if (after === undefined) throw notApplied()
  await deps.noteExternalId(after.channel_id)
  if (resume !== undefined) await deps.removeAnnotation(annotations.resume, resume)
  const delivery = await readLastDelivery(after, deps)
  const drift = run.was_applied && resume === undefined && before !== undefined ? changes : []
  return {
    conditions: [readyCondition(run, after), deliveringCondition(run, after, delivery)],
    status: statusOf(run, after, delivery),
    events: eventsOf(run, { before, changes, drift }),
    drifted: drift.length,
    again_after_ms: delivery_ms,
  }
}

async function startRun(resource: NotificationChannel, deps: ReconcileDeps): Promise<Run> {
  const { meta, spec, status } = resource
  const ref = secretRefOf(spec)
  const secret = ref && (await readChannelSecret(ref, deps))
  return {
    ...{ resource, deps, secret },
    api: declaredChannel(meta, deps),
    desired: desiredChannel(resource),
    was_applied:
      status.appliedGeneration === meta.generation && status.secretVersion === secret?.version,
    resume: meta.annotations[annotations.resume],
  }
}

/** Returns what is to be written, in words; empty if the service has the channel as declared. */
function findChanges(run: Run, before: Channel | undefined): string[] {
  if (before === undefined) return ['channel']
  const { resource, secret, was_applied, resume } = run
  const differences = channelDifferences(before, run.desired, {
    owner: run.api.owner,
    secret_field: secret && secretFieldOf(resource.spec),
    is_ended_by_receiver: was_applied && resume === undefined,
  })
  // Values of secrets cannot be read back, so another version of the Secret is written.
  const isNewSecret = secret !== undefined && resource.status.secretVersion !== secret.version
  const all = isNewSecret ? [...differences, 'secret'] : differences
  return [...new Set(all)]
}

/** Writes the channel. An error never quotes the secret. */
async function write({ resource, api, desired, secret }: Run, before: Channel | undefined) {
  const value = secret?.value
  try {
    await api.write(withSecret(desired, resource.spec, value), before)
  } catch (error) {
    throw redacted(error, value)
  }
}

function redacted(error: unknown, value: string | undefined): unknown {
  const hidden =
    'the service refused a value of the Secret: compare it with the type of the channel'
  if (error instanceof ServiceRefusal) {
    const { status, code } = error
    const detail = withoutSecret(error.message, value, hidden)
    return new ServiceRefusal({ status, code, detail })
  }
  if (error instanceof NotReady) {
    return new NotReady(error.reason, withoutSecret(error.message, value, hidden))
  }
  if (!(error instanceof ServiceUnavailable)) return error
  const { retry_after_ms } = error
  const message = withoutSecret(error.message, value, 'the service did not accept the channel')
  return new ServiceUnavailable(message, {
    ...(retry_after_ms !== undefined && { retry_after_ms }),
  })
}

async function readBack({ api, desired, resource, secret }: Run): Promise<Channel> {
  const after = await api.find()
  if (after === undefined) throw notApplied()
  const left = channelDifferences(after, desired, {
    owner: api.owner,
    secret_field: secret && secretFieldOf(resource.spec),
    // The receiver may end the channel right after the write.
    is_ended_by_receiver: true,
  })
  if (left.length > 0) throw notApplied(left)
  return after
}

function notApplied(left: readonly string[] = ['channel']): NotReady {
  const message = `the channel was written, but the read-back differs: ${left.join(', ')}`
  return new NotReady('NotApplied', message, { again_after_ms: 10_000 })
}

function readyCondition({ desired, secret }: Run, channel: Channel): ConditionDraft {
  if (channel.unusable_reason === 'mail_not_configured') {
    const message =
      'The service has the channel as declared, and no mail server (LOOPTRACE_SMTP_URL): it sends no mail.'
    return { type: 'Ready', status: 'False', reason: 'MailNotConfigured', message }
  }
  if (!channel.disabled || desired.disabled) {
    const message = desired.disabled
      ? 'The channel is disabled, as declared.'
      : 'The service has the channel as declared.'
    return { type: 'Ready', status: 'True', reason: 'Synced', message }
  }
  const why = withoutSecret(channel.disabled_reason ?? 'unknown', secret?.value, 'see the service')
  const message = `The service disabled the channel: ${why}. Repair the receiver, then change the resource or its Secret, or set the annotation ${annotations.resume} to a reason.`
  return { type: 'Ready', status: 'False', reason: 'Disabled', message }
}

function deliveringCondition(
  { secret }: Run,
  { disabled }: Channel,
  delivery: Delivery | undefined,
): ConditionDraft {
  const type = 'Delivering'
  if (disabled) {
    const message = 'The channel is disabled: no messages are sent.'
    return { type, status: 'False', reason: 'Disabled', message }
  }
  if (delivery === undefined) {
    const message = 'No message was sent yet.'
    return { type, status: 'Unknown', reason: 'NoDelivery', message }
  }
  if (delivery.error === null) {
    const message = 'The receiver accepted the last message.'
    return { type, status: 'True', reason: 'Delivered', message }
  }
  const text = withoutSecret(delivery.error, secret?.value, 'see the deliveries of the channel')
  const message = `The last attempt failed: ${text.slice(0, 500)}`
  return { type, status: 'False', reason: 'DeliveryFailed', message }
}

function statusOf(
  { resource: { meta }, secret }: Run,
  channel: Channel,
  delivery: Delivery | undefined,
): NotificationChannelStatus {
  return {
    channelId: channel.channel_id,
    appliedGeneration: meta.generation,
    ...(secret !== undefined && { secretVersion: secret.version }),
    ...(delivery !== undefined && {
      lastDelivery: {
        time: delivery.started_at,
        ...(delivery.status !== null && { status: delivery.status }),
      },
    }),
  }
}

function eventsOf(
  { resume }: Run,
  seen: { before: Channel | undefined; changes: readonly string[]; drift: readonly string[] },
): EventDraft[] {
  const { before, changes, drift } = seen
  if (changes.length === 0) return []
  const action = 'PutChannel'
  const what = changes.join(', ')
  if (before === undefined) {
    return [{ type: 'Normal', reason: 'Created', action, note: 'Created the channel.' }]
  }
  if (drift.length > 0) {
    const note = `Corrected changes made in the service: ${what}`
    return [{ type: 'Warning', reason: 'DriftCorrected', action, note }]
  }
  const why = resume === undefined ? '' : ` (resumed: ${resume.slice(0, 200)})`
  return [{ type: 'Normal', reason: 'Updated', action, note: `Wrote ${what}${why}` }]
}

/** Deletes the channel; `Retain` removes only its owner. */
export async function removeNotificationChannel(
  { meta, spec }: NotificationChannel,
  deps: ReconcileDeps,
): Promise<void> {
  await declaredChannel(meta, deps).remove({ retain: spec.deletionPolicy === 'Retain' })
}

/**
 * Deletes the channel after the grant was withdrawn, so that the namespace receives no further
 * messages about the project.
 */
export async function withdrawNotificationChannel(
  { meta }: Pick<NotificationChannel, 'meta'>,
  deps: ReconcileDeps,
): Promise<void> {
  await declaredChannel(meta, deps).remove({ retain: false })
}
