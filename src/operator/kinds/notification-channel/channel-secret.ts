import { NotReady, type ReconcileDeps } from '../../contract.ts'
import { channelLabel } from '../../names.ts'
import { ServiceRefusal, ServiceUnavailable } from '../../service/service-client.ts'
import { channelTypes, type NotificationChannelSpec, type SecretRef } from './spec.ts'

/** The value of an entry of a Secret, and the version of the Secret. */
export type ChannelSecret = { value: string; version: string }

/** Returns the reference to the Secret of the section that is set. */
export function secretRefOf(spec: NotificationChannelSpec): SecretRef | undefined {
  return channelTypes.flatMap((type) => {
    const section = spec[type]
    return section !== undefined && 'secretRef' in section ? (section.secretRef ?? []) : []
  })[0]
}

/**
 * Reads the Secret of a channel from the namespace of the resource. Only labelled Secrets are used: a
 * user who may create channels but not read Secrets could otherwise send any Secret of the namespace
 * to a receiver of their choice. A missing Secret and one without the label have the same message, so
 * that a status does not show which Secrets exist.
 */
export async function readChannelSecret(
  { name, key }: SecretRef,
  { secrets }: Pick<ReconcileDeps, 'secrets'>,
): Promise<ChannelSecret> {
  const secret = await secrets.read(name)
  if (secret === undefined || secret.labels[channelLabel.name] !== channelLabel.value) {
    throw new NotReady(
      'SecretNotUsable',
      `Secret ${name} does not exist in this namespace, or lacks the label ${channelLabel.name}: "${channelLabel.value}". Create it, or label it: kubectl label secret ${name} ${channelLabel.name}=${channelLabel.value}`,
    )
  }
  const value = secret.data[key]?.trim() ?? ''
  if (value === '') {
    throw new NotReady(
      'SecretNotUsable',
      `Secret ${name} has no value in its entry ${key}. Add it.`,
    )
  }
  return { value, version: secret.resource_version }
}

/** Returns the name of the field of the API that has the value of the Secret. */
export function secretFieldOf({ webhook, slack, pagerduty }: NotificationChannelSpec): string {
  if (webhook !== undefined) return 'secret'
  if (slack !== undefined) return slack.channel === undefined ? 'webhook_url' : 'token'
  return pagerduty === undefined ? 'authorization' : 'routing_key'
}

/** Returns the channel with the value of its Secret in the section that is set. */
export function withSecret(
  channel: Readonly<Record<string, unknown>>,
  spec: NotificationChannelSpec,
  value: string | undefined,
): object {
  const type = channelTypes.find((one) => spec[one] !== undefined)
  if (value === undefined || type === undefined) return channel
  return { ...channel, [type]: { ...Object(channel[type]), [secretFieldOf(spec)]: value } }
}

/** Returns the error of a write without the value. */
export function redacted(error: unknown, value: string | undefined): unknown {
  const hidden =
    'the service refused a value of the Secret: compare it with the type of the channel'
  if (error instanceof ServiceRefusal) {
    const { status, code } = error
    return new ServiceRefusal({ status, code, detail: withoutSecret(error.message, value, hidden) })
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

/** Length of the parts of a value that a text must not contain. */
const part_characters = 6

/**
 * Returns the text, or the replacement if the text quotes a value or a part of it. The service may
 * quote what it refuses.
 */
export function withoutSecret(
  text: string,
  value: string | undefined,
  replacement: string,
): string {
  if (value === undefined) return text
  const size = Math.min(part_characters, value.length)
  for (let at = 0; at + size <= value.length; at += 1) {
    if (text.includes(value.slice(at, at + size))) return replacement
  }
  return text
}
