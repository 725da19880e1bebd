import { type Kind, projectIdColumn } from '../../contract.ts'
import { channelLabel } from '../../names.ts'
import { secretRefOf } from './channel-secret.ts'
import { notificationChannelRemoval, reconcileNotificationChannel } from './reconcile.ts'
import {
  type NotificationChannelSpec,
  type NotificationChannelStatus,
  notificationChannelRules,
  notificationChannelSpec,
  notificationChannelStatus,
} from './spec.ts'

/** The kind of a receiver of messages about incidents. */
export const notificationChannelKind: Kind<NotificationChannelSpec, NotificationChannelStatus> = {
  kind: 'NotificationChannel',
  plural: 'notificationchannels',
  singular: 'notificationchannel',
  short_names: ['channel'],
  description:
    'A receiver of messages about the incidents of a project. Incident rules name it. Its secret is in a Secret of the namespace.',
  spec: notificationChannelSpec,
  status: notificationChannelStatus,
  rules: notificationChannelRules,
  columns: [
    {
      name: 'Delivering',
      type: 'string',
      path: '.status.conditions[?(@.type=="Delivering")].status',
      description: 'Whether the receiver accepted the last message.',
    },
    {
      name: 'Last Delivery',
      type: 'date',
      path: '.status.lastDelivery.time',
      description: 'Time of the last attempt to deliver a message.',
    },
    projectIdColumn,
  ],
  reasons: {
    SecretNotUsable:
      'The Secret does not exist, lacks the label `looptrace.dev/channel: "true"`, or has no such entry. The channel in the service keeps the last value.',
    NameTaken: 'The project has another channel of this name. Set channelName.',
    LimitReached: 'The project has the maximum number of channels. Delete one.',
    MailNotConfigured:
      'The service has no mail server, so it cannot send mail. Set LOOPTRACE_SMTP_URL.',
    Disabled:
      'The service disabled the channel, because the receiver answered 410 Gone. Repair the receiver, then change the resource or its Secret, or set the annotation `looptrace.dev/resume`.',
  },
  reads_secrets: {
    label_selector: `${channelLabel.name}=${channelLabel.value}`,
    nameIn: (spec) => secretRefOf(spec)?.name,
  },
  project: { withdraw: notificationChannelRemoval.withdraw },
  example: {
    metadata: { name: 'on-call', namespace: 'looptrace' },
    spec: {
      projectRef: { name: 'default' },
      webhook: {
        url: 'https://incidents.example.com/looptrace',
        secretRef: { name: 'on-call', key: 'signing-secret' },
      },
    },
  },
  reconcile: reconcileNotificationChannel,
  remove: notificationChannelRemoval.remove,
}
