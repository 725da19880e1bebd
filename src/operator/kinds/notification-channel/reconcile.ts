import { z } from 'zod'
import { managedByField } from '../../../model/managed-by.ts'
import type { ConditionDraft, ReconcileDeps, Reconciled, Resource } from '../../contract.ts'
import {
  type Collection,
  type DeclaredObject,
  declaredObject,
  removalOf,
} from '../../declared/declared-object.ts'
import { reconcileDeclared, synced, type Values } from '../../declared/reconcile-declared.ts'
import { annotations } from '../../names.ts'
import { parseAnswer } from '../../service/service-client.ts'
import {
  type ChannelSecret,
  readChannelSecret,
  redacted,
  secretFieldOf,
  secretRefOf,
  withoutSecret,
  withSecret,
} from './channel-secret.ts'
import {
  channelTypes,
  type NotificationChannelSpec,
  type NotificationChannelStatus,
  toChannel,
} from './spec.ts'

type NotificationChannel = Resource<NotificationChannelSpec, NotificationChannelStatus>

/** Interval at which deliveries are read. */
const delivery_ms = 60_000

/** A reconcile of one channel. */
type Run = {
  resource: NotificationChannel
  secret: ChannelSecret | undefined
  /** The declared channel without its secret. */
  channel: Values
  /** Whether the receiver may have ended the channel after it was written. */
  may_be_ended: boolean
}

/** Makes the channel in the service match the spec and the Secret, and reports the last delivery. */
export async function reconcileNotificationChannel(
  resource: NotificationChannel,
  deps: ReconcileDeps,
): Promise<Reconciled<NotificationChannelStatus>> {
  const { meta, spec, status } = resource
  const ref = secretRefOf(spec)
  const secret = ref && (await readChannelSecret(ref, deps))
  const object = declaredObject(channels, meta, deps)
  // A user resumes a channel that its receiver ended.
  const resume = meta.annotations[annotations.resume]
  const was_applied =
    status.appliedGeneration === meta.generation &&
    status.secretVersion === secret?.version &&
    resume === undefined
  const named = { name: meta.name, fallback: null, managed_by: object.owner }
  const channel = { ...named, ...toChannel(spec) }
  const run: Run = { resource, secret, channel, may_be_ended: was_applied }
  return reconcileDeclared(
    {
      noun: 'channel',
      action: 'PutChannel',
      idOf: channels.idOf,
      was_applied,
      object: withoutQuotes(object, secret),
      body: withSecret(channel, spec, secret?.value),
      values: { ...channel, secret: secret?.version },
      valuesOf: (stored, is_written) => comparedValues(run, stored, is_written),
      ...(resume !== undefined && { because: `resumed: ${resume.slice(0, 200)}` }),
      report: async (stored) => {
        if (resume !== undefined) await deps.removeAnnotation(annotations.resume, resume)
        const delivery = await readLastDelivery(stored, deps)
        return {
          conditions: [readyCondition(run, stored), deliveringCondition(run, stored, delivery)],
          status: statusOf(run, stored, delivery),
          again_after_ms: delivery_ms,
        }
      },
    },
    deps,
  )
}

/** Returns the object with writes whose errors never quote the secret. */
function withoutQuotes(
  object: DeclaredObject<Channel>,
  secret: ChannelSecret | undefined,
): DeclaredObject<Channel> {
  const write: typeof object.write = (body, before) =>
    object.write(body, before).catch((error: unknown) => {
      throw redacted(error, secret?.value)
    })
  return { ...object, write }
}

/**
 * Returns the values of a stored channel that a resource declares. Fields that the spec leaves to the
 * service are left out. A channel that its receiver ended differs only for a new spec.
 */
function comparedValues(run: Run, stored: Channel, is_written: boolean): Values {
  const { resource, secret, channel, may_be_ended } = run
  const isSet = secret !== undefined && stored.secrets[secretFieldOf(resource.spec)]?.set === true
  // Values of secrets cannot be read back, so another version of the Secret is written.
  const version = is_written ? secret?.version : resource.status.secretVersion
  const sections = channelTypes.map((type) => [type, declaredPart(stored[type], channel[type])])
  return {
    name: stored.name,
    fallback: stored.fallback,
    managed_by: stored.managed_by,
    templates: stored['templates'] ?? {},
    disabled: is_written || may_be_ended ? channel['disabled'] : stored.disabled,
    secret: isSet ? version : undefined,
    ...Object.fromEntries(sections),
  }
}

/** Returns the fields of a stored section that a declared section has. */
function declaredPart(stored: unknown, declared: unknown): unknown {
  if (typeof declared !== 'object' || typeof stored !== 'object' || stored === null) return stored
  const values = new Map(Object.entries(stored))
  return Object.fromEntries(Object.keys(Object(declared)).map((name) => [name, values.get(name)]))
}

function readyCondition({ resource: { spec }, secret }: Run, channel: Channel): ConditionDraft {
  if (channel.unusable_reason === 'mail_not_configured') {
    const message =
      'The service has the channel as declared, and no mail server (LOOPTRACE_SMTP_URL): it sends no mail.'
    return { type: 'Ready', status: 'False', reason: 'MailNotConfigured', message }
  }
  if (!channel.disabled || spec.disabled) {
    const state = spec.disabled ? 'The channel is disabled' : 'The service has the channel'
    return synced(`${state}${spec.disabled ? ', as declared.' : ' as declared.'}`)
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

/** A withdrawn channel is deleted: the namespace receives no further messages about the project. */
export const notificationChannelRemoval = removalOf(
  (meta, deps) => declaredObject(channels, meta, deps),
  { withdrawn: 'deleted' },
)

const channelShape = z.looseObject({
  channel_id: z.string(),
  name: z.string(),
  version: z.int(),
  fallback: z.string().nullish(),
  disabled: z.boolean(),
  disabled_reason: z.string().nullish(),
  unusable_reason: z.string().nullish(),
  managed_by: managedByField.nullable(),
  secrets: z.record(z.string(), z.looseObject({ set: z.boolean() })),
})

/** A channel in the service, without its secrets. */
type Channel = z.output<typeof channelShape>

/** The channels of a project. */
const channels: Collection<Channel> = {
  path: '/api/v2/observability/incidents/channels',
  noun: 'channel',
  list: 'channels',
  shape: channelShape,
  not_found: 'channel_not_found',
  reasons: {
    name_taken: 'NameTaken',
    limit_reached: 'LimitReached',
    project_not_found: 'ProjectNotFound',
  },
  idOf: ({ channel_id }) => channel_id,
}

const deliveryShape = z.looseObject({
  started_at: z.iso.datetime(),
  status: z.int().nullable(),
  error: z.string().nullable(),
})

/** An attempt to deliver a message. */
type Delivery = z.output<typeof deliveryShape>

/** Reads the last attempt of a channel to deliver a message. */
async function readLastDelivery(
  { channel_id }: Channel,
  { service, project_id }: ReconcileDeps,
): Promise<Delivery | undefined> {
  const path = `${channels.path}/${channel_id}/deliveries?limit=1`
  const { body } = await service.request({ method: 'GET', path, project_id })
  return parseAnswer(deliveries, body, 'list of deliveries').deliveries[0]
}

const deliveries = z.looseObject({ deliveries: z.array(deliveryShape) })
