import { createHash } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { expected, nsFromIso } from '../../../model/list-query.ts'
import { documentedAs, record } from '../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import {
  Answer,
  type Caller,
  defineRoute,
  type Route,
  requesterOf,
} from '../../../platform/http/index.ts'
import { type OnboardingDeps, writeScope } from '../contract.ts'
import { correctTime, eventNameList, eventNames, isSecretLike, maskMetadata } from './event.ts'
import { type NewEvent, type StoredEvent, storeEvents } from './store.ts'

const maxEventsOfRequest = 100
const maxMetadataNames = 16
const maxMetadataTextChars = 256

const id = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, {
    error: expected('1 to 128 letters, digits, dots, colons, hyphens or underscores'),
    abort: true,
  })
  .refine((text) => !isSecretLike(text) || /^[0-9a-f]{32,64}$/i.test(text), {
    error: 'expected an id, got what may be a secret',
  })
  .meta({ id: 'OnboardingClientId' })

const instant = z
  .string()
  .refine((text) => nsFromIso(text) !== undefined, {
    error: expected('an ISO 8601 instant from 1970 to 2261 with Z or an offset'),
  })
  .meta({ format: 'date-time' })

const metadataValue = z
  .union([z.string().max(maxMetadataTextChars), z.number(), z.boolean()], {
    error: `expected a text of at most ${maxMetadataTextChars} characters, a number, or true or false`,
  })
  .meta({ id: 'OnboardingMetadataValue' })

const metadata = z
  .record(
    z.string().regex(/^[a-z][a-z0-9_.]{0,62}$/, {
      error: expected('a name of lower-case letters, digits, dots and underscores, at most 63'),
    }),
    metadataValue,
  )
  .refine((values) => Object.keys(values).length <= maxMetadataNames, {
    error: `expected at most ${maxMetadataNames} values`,
  })
  .default({})
  .describe('Metadata of the event, such as a version. Values that may be secrets are masked.')

const nameMeanings = eventNameList.map((name) => `\`${name}\`: ${eventNames[name]}`).join(' ')

const eventFields = {
  event_id: id.describe(
    'Id of the event, chosen by the client. An event with a repeated id is stored once.',
  ),
  name: z
    .enum(eventNameList, { error: expected(`one of ${eventNameList.join(', ')}`) })
    .meta({ id: 'OnboardingEventName' })
    .describe(nameMeanings),
  occurred_at: instant
    .optional()
    .describe('Time of the event, by the clock of the client. Default: the time of receipt.'),
  installation_id: id
    .optional()
    .describe(
      'Id of the installation that the event is about. Default: the event is about the caller.',
    ),
  metadata,
}

const eventSchema = record('OnboardingEventRequest', eventFields)

const sentAt = instant
  .optional()
  .describe('Time of sending, by the clock of the client. Used to correct `occurred_at`.')

const batchBody = record('OnboardingEventsRequest', {
  events: z
    .array(eventSchema)
    .min(1, { error: expected('1 to 100 events') })
    .max(maxEventsOfRequest, { error: `expected at most ${maxEventsOfRequest} events` }),
  sent_at: sentAt,
})

const singleBody = record('SingleOnboardingEventRequest', { ...eventFields, sent_at: sentAt })

/** One event, or a list of them. Faults point into the form that was sent. */
const eventsBody = documentedAs(
  z.unknown().transform((value, context): z.output<typeof batchBody> => {
    const isSingle = typeof value === 'object' && value !== null && 'name' in value
    const parsed = isSingle ? singleBody.safeParse(value) : batchBody.safeParse(value)
    if (!parsed.success) {
      for (const issue of parsed.error.issues) addFault(issue, context)
      return z.NEVER
    }
    refuseUnstorable(parsed.data, context)
    if ('events' in parsed.data) return parsed.data
    const { sent_at, ...event } = parsed.data
    return { events: [event], sent_at }
  }),
  z.union([batchBody, singleBody]).meta({ id: 'OnboardingEventsBody' }),
)

/** Adds a fault of a body, with the path that was sent. */
function addFault(issue: z.core.$ZodIssue, context: z.core.$RefinementCtx): void {
  const faults =
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => [[...issue.path, key], 'unknown field'] as const)
      : [[issue.path, issue.message] as const]
  for (const [path, message] of faults) {
    context.addIssue({ code: 'custom', path: [...path], message, input: undefined })
  }
}

const eventReply = record('OnboardingEvent', {
  event_id: z.string(),
  name: eventFields.name,
  subject: z.string().describe('`installation:<id>`, `user:<id>`, `key:<id>` and so on.'),
  occurred_at: z.iso.datetime().describe('Time of the event, corrected by `skew_ms`.'),
  received_at: z.iso
    .datetime()
    .describe('Time when the event was first received, by the clock of the server.'),
  clock: z
    .enum(['client', 'corrected', 'server'])
    .meta({ id: 'OnboardingEventClock' })
    .describe(
      'Clock of `occurred_at`. `corrected`: moved by `skew_ms`. `server`: the time of receipt, because the time of the client was missing or impossible.',
    ),
  skew_ms: z
    .int()
    .nullable()
    .describe(
      'Clock of the server minus clock of the client, in milliseconds; null without `sent_at`.',
    ),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  masked: z.array(z.string()).describe('Names of masked values.'),
  replayed: z.boolean().describe('Whether the event was stored before.'),
})

const eventsReply = record('OnboardingEventsReply', {
  events: z.array(eventReply),
  accepted: z.int().nonnegative().describe('Number of new events.'),
  replayed: z.int().nonnegative().describe('Number of events that were stored before.'),
})

/**
 * POST /api/v1/onboarding/events: stores onboarding events, all or none. 201 with a
 * new event, 200 when all were stored before.
 */
export function postOnboardingEvents({ db, clock }: OnboardingDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/onboarding/events',
    id: 'postOnboardingEvents',
    summary: 'Record onboarding events, such as an installation or a first call',
    audit: 'people',
    status: 201,
    auth: 'jwt_or_key',
    scope: writeScope,
    body_bytes_max: 262_144,
    body: eventsBody,
    reply: eventsReply,
    also: { status: 200, description: 'All events were stored before.', reply: eventsReply },
    errors: ['idempotency_conflict', 'limit_reached', 'rate_limited', 'store_unavailable'],
    handle: async ({ body, caller }) => {
      const received_at_ms = clock.now_ms()
      const events = body.events.map((event) => {
        return toNewEvent(event, { caller, sent_at: body.sent_at, received_at_ms })
      })
      const stored = await storeEvents(db, caller.project_id, events)
      const accepted = stored.filter(({ is_new }) => is_new).length
      const reply = {
        events: stored.map(({ event, is_new }) => toReply(event, !is_new)),
        accepted,
        replayed: stored.length - accepted,
      }
      return new Answer(reply, { status: accepted > 0 ? 201 : 200 })
    },
  })
}

function toNewEvent(
  event: z.output<typeof eventSchema>,
  receipt: { caller: Caller; sent_at: string | undefined; received_at_ms: number },
): NewEvent {
  const { event_id, name, occurred_at, installation_id } = event
  const { received_at_ms } = receipt
  const posted_by = requesterOf(receipt.caller)
  const subject = installation_id === undefined ? posted_by : `installation:${installation_id}`
  const time = correctTime({
    occurred_at_ms: msFrom(occurred_at),
    sent_at_ms: msFrom(receipt.sent_at),
    received_at_ms,
  })
  return {
    event_id,
    name,
    subject,
    posted_by,
    clock: time.clock,
    skew_ms: time.skew_ms,
    occurred_at: new Date(time.occurred_at_ms),
    client_at: occurred_at === undefined ? null : new Date(occurred_at),
    received_at: new Date(received_at_ms),
    ...maskMetadata(event.metadata),
    digest: createHash('sha256')
      .update(canonicalJson([subject, event]))
      .digest(),
  }
}

function msFrom(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

function toReply(event: StoredEvent, replayed: boolean): z.input<typeof eventReply> {
  const { event_id, name, subject, occurred_at, received_at, clock, skew_ms } = event
  return {
    event_id,
    subject,
    occurred_at,
    received_at,
    clock,
    skew_ms,
    replayed,
    name: name as z.input<typeof eventReply>['name'],
    metadata: event.metadata,
    masked: event.masked,
  }
}
