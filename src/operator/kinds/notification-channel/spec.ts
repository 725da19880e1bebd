import { z } from 'zod'
import type { channelFields } from '../../../capabilities/incidents/index.ts'
import { commonSpecFields, labelField, nameRule, projectRefField } from '../../common-spec.ts'
import { documentOf, elsewhere, named } from '../../declared/document.ts'

const url = z
  .string()
  .max(2_000)
  .regex(/^https?:\/\/[^\s/]+\S*$/)

/** The value of its Secret is in the request, and cannot be read back. */
const secretRef = elsewhere(
  z.strictObject({
    name: z
      .string()
      .max(253)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
      .describe(
        'Name of a Secret in this namespace with the label `looptrace.dev/channel: "true"`.',
      ),
    key: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[A-Za-z0-9._-]+$/)
      .describe('Key of the entry in the Secret. White space around the value is ignored.'),
  }),
)

export type SecretRef = z.output<typeof secretRef>

const webhook = z.strictObject({
  url: url.describe('URL that receives the messages (Standard Webhooks).'),
  secretRef: secretRef
    .optional()
    .describe(
      'Signing secret, `whsec_…`. Without it the service signs with a secret that no receiver knows.',
    ),
})

const answerLinks = z
  .boolean()
  .default(true)
  .describe(
    'Whether messages have links that acknowledge, resolve and silence their incident once, without a sign-in.',
  )

const slack = z.strictObject({
  channel: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Channel to post in, by id or name. Requires a bot token.'),
  secretRef: secretRef.describe(
    'Token of a bot if `channel` is set, otherwise the URL of an incoming webhook.',
  ),
  answerLinks,
})

const pagerduty = z.strictObject({
  secretRef: secretRef.describe('Routing key of an Events API v2 integration.'),
  url: url.optional().describe('URL of the events API. Default: that of PagerDuty.'),
})

const alertmanager = z.strictObject({
  url: url.describe('URL of an Alertmanager, without `/api/v2/alerts`.'),
  secretRef: secretRef
    .optional()
    .describe('Value of the header Authorization, such as `Bearer …`.'),
})

const email = z.strictObject({
  to: z
    .array(
      z
        .string()
        .max(320)
        .regex(/^[^@\s]+@[^@\s]+$/),
    )
    .min(1)
    .max(20)
    .describe('Recipients. The service sends through its own mail server.')
    .meta({ 'x-kubernetes-list-type': 'set' }),
  answerLinks,
})

const templates = z.strictObject({
  title: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe('First line of a message, or subject of a mail.'),
  body: z.string().min(1).max(4_000).optional().describe('Text below the title.'),
})

/** The sections of a spec, of which exactly one is set. */
export const channelTypes = ['webhook', 'slack', 'pagerduty', 'alertmanager', 'email'] as const

/** The spec of a NotificationChannel. */
export const notificationChannelSpec = z.strictObject({
  projectRef: projectRefField,
  channelName: named(
    labelField
      .optional()
      .describe('Unique name of the channel in the project. Default: the name of the resource.'),
    'name',
  ),
  webhook: webhook.optional().describe('Sends signed requests to a URL.'),
  slack: slack.optional().describe('Posts in Slack.'),
  pagerduty: pagerduty.optional().describe('Triggers and resolves alerts in PagerDuty.'),
  alertmanager: alertmanager.optional().describe('Sends alerts to a Prometheus Alertmanager.'),
  email: email.optional().describe('Sends mails.'),
  fallback: labelField
    .optional()
    .describe('Name of the channel that gets messages which this channel cannot deliver.'),
  templates: templates
    .default({})
    .describe('Texts with placeholders such as `{{severity}}`. Default: texts of the service.'),
  disabled: z.boolean().default(false).describe('Stops messages to the channel.'),
  ...commonSpecFields,
})

export type NotificationChannelSpec = z.output<typeof notificationChannelSpec>

/** Converts a spec to the fields of a channel, without its secret. */
export const toChannel =
  documentOf<z.input<z.ZodObject<typeof channelFields>>>()(notificationChannelSpec)

/** Rules over the whole resource. */
export const notificationChannelRules = [
  {
    rule: `[${channelTypes.map((type) => `has(self.spec.${type})`).join(', ')}].exists_one(is, is)`,
    message: `expected exactly one of ${channelTypes.join(', ')}`,
  },
  nameRule('channelName'),
] as const

/** The status of a NotificationChannel. */
export const notificationChannelStatus = z.strictObject({
  channelId: z.uuid().max(36).optional().describe('Id of the channel in the service.'),
  appliedGeneration: z
    .int()
    .min(0)
    .max(2 ** 53 - 2)
    .optional()
    .describe('Generation of the spec that the service followed at the last read-back.'),
  secretVersion: z
    .string()
    .max(128)
    .optional()
    .describe('`resourceVersion` of the Secret whose value the service has.'),
  lastDelivery: z
    .strictObject({
      time: z.iso.datetime().describe('Time of the attempt.'),
      status: z.int().min(0).max(999).optional().describe('HTTP status of the receiver.'),
    })
    .optional()
    .describe('Last attempt to deliver a message.'),
})

export type NotificationChannelStatus = z.output<typeof notificationChannelStatus>
