import { isDeepStrictEqual } from 'node:util'
import type { ManagedBy } from '../../../model/managed-by.ts'
import type { ResourceMeta } from '../../contract.ts'
import type { Channel } from './channel-api.ts'
import { channelTypes, type NotificationChannelSpec } from './spec.ts'

/** The body of a channel, without its owner and its secret. */
export type DesiredChannel = {
  name: string
  fallback: string | null
  disabled: boolean
  templates: object
} & Readonly<Record<string, unknown>>

/** Returns the channel that a spec declares. */
export function desiredChannel({
  meta,
  spec,
}: {
  meta: Pick<ResourceMeta, 'name'>
  spec: NotificationChannelSpec
}): DesiredChannel {
  const { webhook, slack, pagerduty, alertmanager, email, disabled } = spec
  return {
    name: spec.channelName ?? meta.name,
    fallback: spec.fallback ?? null,
    disabled,
    templates: spec.templates,
    ...(webhook && { webhook: { url: webhook.url } }),
    ...(slack && {
      slack: {
        answer_links: slack.answerLinks,
        ...(slack.channel !== undefined && { channel: slack.channel }),
      },
    }),
    ...(pagerduty && { pagerduty: { ...(pagerduty.url !== undefined && { url: pagerduty.url }) } }),
    ...(alertmanager && { alertmanager: { url: alertmanager.url } }),
    ...(email && { email: { to: email.to, answer_links: email.answerLinks } }),
  }
}

/** Returns the name of the field of the API that has the value of the Secret. */
export function secretFieldOf({ webhook, slack, pagerduty }: NotificationChannelSpec): string {
  if (webhook !== undefined) return 'secret'
  if (slack !== undefined) return slack.channel === undefined ? 'webhook_url' : 'token'
  return pagerduty === undefined ? 'authorization' : 'routing_key'
}

/** Returns the request body: the channel with the value of its Secret in the section that is set. */
export function withSecret(
  desired: DesiredChannel,
  spec: NotificationChannelSpec,
  value: string | undefined,
): object {
  const type = channelTypes.find((one) => spec[one] !== undefined)
  if (value === undefined || type === undefined) return desired
  const section = desired[type]
  return { ...desired, [type]: { ...Object(section), [secretFieldOf(spec)]: value } }
}

/**
 * Returns the fields in which a stored channel differs from the declared one. Fields that the spec
 * leaves to the service are not compared. A channel that its receiver ended differs only for a new
 * spec.
 */
export function channelDifferences(
  stored: Channel,
  desired: DesiredChannel,
  expected: { owner: ManagedBy; secret_field: string | undefined; is_ended_by_receiver: boolean },
): string[] {
  const { owner, secret_field, is_ended_by_receiver } = expected
  const isSame = {
    name: stored.name === desired.name,
    fallback: (stored.fallback ?? null) === desired.fallback,
    templates: isDeepStrictEqual(stored['templates'] ?? {}, desired.templates),
    disabled: stored.disabled === desired.disabled || is_ended_by_receiver,
    owner:
      stored.managed_by?.uid === owner.uid && stored.managed_by.installation === owner.installation,
    secret: secret_field === undefined || stored.secrets[secret_field]?.set === true,
  }
  const sections = channelTypes.filter((type) => !includes(stored[type], desired[type]))
  const fields = Object.entries(isSame).flatMap(([field, same]) => (same ? [] : [field]))
  return [...fields, ...sections]
}

/** Whether a stored section has the values of the declared one. */
function includes(stored: unknown, desired: unknown): boolean {
  if (desired === undefined) return stored === undefined || stored === null
  if (typeof stored !== 'object' || stored === null) return false
  const values = new Map(Object.entries(stored))
  return Object.entries(Object(desired)).every(([field, value]) =>
    isDeepStrictEqual(values.get(field), value),
  )
}
