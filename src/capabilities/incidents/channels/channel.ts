import { z } from 'zod'
import { expected, isStorable } from '../../../model/list-query.ts'
import { labelPattern, managedByField } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import { signingBytes } from '../../../platform/outbound/index.ts'
import { templateFault } from './templates.ts'

/** Types of channels: the section of the body that is set. */
export const channelTypes = ['webhook', 'slack', 'pagerduty', 'alertmanager', 'email'] as const
export type ChannelType = (typeof channelTypes)[number]
export const channelType = z.enum(channelTypes).meta({ id: 'ChannelType' })

/** Fields of each type that are sealed in the store. Replies say only whether they are set. */
export const secretFields = {
  webhook: ['url', 'secret', 'previous_secret'],
  slack: ['token', 'webhook_url'],
  pagerduty: ['routing_key'],
  alertmanager: ['authorization'],
  email: [],
} as const satisfies Record<ChannelType, readonly string[]>

const httpUrl = z
  .url({ protocol: /^https?$/, error: expected('an http or https URL') })
  .max(2000)
  .refine((text) => !/[\s\p{Cc}]/u.test(text), { error: 'expected a URL without white space' })
  .refine((text) => hasNoLogin(text), { error: 'expected a URL without user and password' })

function hasNoLogin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && url.username === '' && url.password === ''
}

const signingSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/)
  .refine((text) => signingBytes(text).length >= 24 && signingBytes(text).length <= 64, {
    error: 'expected `whsec_` and 24 to 64 bytes as base64',
  })

/** Name of a channel. Rules, and the field `fallback`, use it. */
const channelName = z
  .string()
  .min(1)
  .max(63)
  .regex(labelPattern, { error: expected('a Kubernetes name (DNS label)') })
  .describe('Name of a channel, as rules name it in `notify`.')

const template = (length_max: number) =>
  z
    .string()
    .min(1)
    .max(length_max)
    .refine(isStorable, { error: 'expected text without U+0000' })
    .superRefine((text, context) => {
      const message = templateFault(text)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })

const answerLinks = z
  .boolean()
  .default(true)
  .describe(
    'Whether messages have links that acknowledge, resolve and silence their incident. Who reads a message can use them once, without a sign-in.',
  )

const optionalSecret = 'Write-only. Left out in a PUT: the stored value is kept.'

const sections = {
  webhook: record('WebhookChannel', {
    url: httpUrl
      .optional()
      .describe(
        `Receiver of signed POST requests. ${optionalSecret} Replies show scheme and host.`,
      ),
    secret: signingSecret
      .optional()
      .describe(`Signing secret, \`whsec_…\`. Left out in a POST: generated. ${optionalSecret}`),
    previous_secret: signingSecret
      .nullish()
      .describe(
        'Second signing secret while the receiver changes to the new one. A new `secret` makes the stored one the previous one; null ends it.',
      ),
  }),
  slack: record('SlackChannel', {
    token: z
      .string()
      .regex(/^xox[a-z]-[A-Za-z0-9-]{8,250}$/, { error: 'expected a bot token, `xoxb-…`' })
      .optional()
      .describe(`Token of a bot with the scope \`chat:write\`. ${optionalSecret}`),
    channel: z
      .string()
      .regex(/^([CDG][A-Z0-9]{5,20}|#?[a-z0-9][a-z0-9_-]{0,79})$/)
      .optional()
      .describe('Id or name of the Slack channel. Requires `token`.'),
    webhook_url: httpUrl
      .optional()
      .describe(`Incoming webhook, instead of \`token\` and \`channel\`. ${optionalSecret}`),
    answer_links: answerLinks,
  }),
  pagerduty: record('PagerDutyChannel', {
    routing_key: z
      .string()
      .regex(/^[A-Za-z0-9]{32}$/, { error: 'expected 32 letters and digits' })
      .optional()
      .describe(`Integration key of Events API v2. ${optionalSecret}`),
    url: httpUrl
      .default('https://events.pagerduty.com/v2/enqueue')
      .describe('Endpoint of Events API v2; another one for the EU.'),
  }),
  alertmanager: record('AlertmanagerChannel', {
    url: httpUrl.describe('Base URL of Alertmanager; alerts go to `/api/v2/alerts` below it.'),
    authorization: z
      .string()
      .max(2000)
      .regex(/^(Bearer|Basic) [\x21-\x7e]+$/, { error: 'expected `Bearer …` or `Basic …`' })
      .optional()
      .describe(`Value of the header Authorization. ${optionalSecret}`),
  }),
  email: record('EmailChannel', {
    to: z.array(z.email().max(254)).min(1).max(20).describe('Addresses. They see each other.'),
    answer_links: answerLinks,
  }),
}

/** Whether the messages of a channel have links that answer their incidents. */
export function hasAnswerLinks({ type, section }: { type: string; section: Section }): boolean {
  return (type === 'slack' || type === 'email') && section['answer_links'] !== false
}

/** Texts of a channel. The default reads well. */
export const templatesSchema = record('ChannelTemplates', {
  title: template(300).optional().describe('First line, or subject of a mail.'),
  body: template(4000).optional().describe('Text below the title.'),
})
export type Templates = z.output<typeof templatesSchema>

/** Fields of the body of POST and PUT; exactly one of the types is set. */
export const channelFields = {
  name: channelName,
  webhook: sections.webhook.optional(),
  slack: sections.slack.optional(),
  pagerduty: sections.pagerduty.optional(),
  alertmanager: sections.alertmanager.optional(),
  email: sections.email.optional(),
  fallback: channelName
    .nullish()
    .transform((name) => name ?? null)
    .describe('Name of the channel that receives messages that this one could not deliver.'),
  disabled: z.boolean().default(false).describe('Whether messages are not delivered.'),
  templates: templatesSchema.default({}),
}

/** Adds the faults that concern several fields of a channel. */
export function checkChannel(
  given: Partial<Record<ChannelType, unknown>> & { name: string; fallback: string | null },
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  const add = (path: string[], message: string) =>
    context.addIssue({ code: 'custom', path, message })
  const types = channelTypes.filter((type) => given[type] !== undefined)
  if (types.length !== 1) {
    add([], `got ${types.length} types, expected exactly one of ${channelTypes.join(', ')}`)
  }
  if (given.fallback === given.name) add(['fallback'], 'expected another channel')
  const { token, channel, webhook_url } = Object(given.slack)
  if (webhook_url !== undefined && (token !== undefined || channel !== undefined)) {
    add(['slack', 'webhook_url'], 'expected either webhook_url, or token and channel')
  }
}

/** A section with its secrets, as a sender uses it. All values are text but `to` and `answer_links`. */
export type Section = Readonly<Record<string, unknown>>

/** A channel in replies. */
export const channelSchema = record('NotificationChannel', {
  channel_id: z.uuid(),
  name: z.string(),
  type: channelType,
  webhook: record('ShownWebhookChannel', {
    url: z
      .string()
      .nullable()
      .describe(
        'Scheme and host; for an operator the whole URL, if a resource declares the channel. Null: cannot be decrypted.',
      ),
  }).optional(),
  slack: record('ShownSlackChannel', {
    channel: z.string().optional(),
    answer_links: z.boolean().optional(),
    webhook_host: z.string().nullable().optional().describe('Scheme and host of `webhook_url`.'),
  }).optional(),
  pagerduty: record('ShownPagerDutyChannel', { url: z.string() }).optional(),
  alertmanager: record('ShownAlertmanagerChannel', { url: z.string() }).optional(),
  email: record('ShownEmailChannel', {
    to: z.array(z.string()),
    answer_links: z.boolean().optional(),
  }).optional(),
  secrets: z
    .record(z.string(), record('StoredSecret', { set: z.boolean() }))
    .describe('Secret fields of the type, and whether they have a value.'),
  generated_secret: z
    .string()
    .nullable()
    .optional()
    .describe('The generated signing secret. Shown once, in the reply to POST.'),
  fallback: z.string().nullable(),
  disabled: z.boolean(),
  disabled_at: z.iso.datetime().nullable(),
  disabled_reason: z.string().nullable(),
  unusable_reason: z
    .enum(['mail_not_configured'])
    .nullable()
    .describe('Why the service cannot send to any channel of the type: it has no mail server.'),
  templates: templatesSchema,
  version: z.int().describe('Version, incremented by each change; also the ETag.'),
  managed_by: managedByField
    .nullable()
    .describe('Kubernetes resource that declares the channel; only that resource may change it.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  updated_by: z.string(),
})
