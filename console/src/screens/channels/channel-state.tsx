import type { NotificationChannel } from '../../api/schema.gen.d.ts'
import { Badge } from '../../ui/parts.tsx'

/** Whether messages reach a channel, and why not. */
export function ChannelState({ of }: { of: NotificationChannel }) {
  if (of.unusable_reason !== null) {
    return <Badge tone="bad">{of.unusable_reason.replaceAll('_', ' ')}</Badge>
  }
  if (of.disabled) return <Badge tone="warn">disabled</Badge>
  return <Badge tone="good">active</Badge>
}

/** Returns the receiver of a channel, as far as the API shows it. */
export function receiverOf(channel: NotificationChannel): string {
  const { slack, email, pagerduty, alertmanager, webhook } = channel
  if (slack !== undefined) return slack.channel ?? slack.webhook_host ?? 'incoming webhook'
  if (email !== undefined) return email.to.join(', ')
  return webhook?.url ?? pagerduty?.url ?? alertmanager?.url ?? '–'
}
