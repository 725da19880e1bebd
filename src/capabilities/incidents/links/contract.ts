import { z } from 'zod'
import { type Problem, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import { record } from '../../../model/named-schemas.ts'
import { Answer } from '../../../platform/http/index.ts'
import { incidentSchema } from '../incident-view.ts'
import { type LinkAction, linkActions } from '../messages/link-token.ts'
import type { IncidentDb } from '../ports.ts'
import { toIncidentView } from '../store/incident-row.ts'
import type { Linked } from './links-store.ts'

/** Dependencies of the routes of links. */
export type LinkRoutesDeps = { db: IncidentDb; clock: Clock; secret_key: string }

/** The part of a link that proves the right to its move. */
export const token = z.string().min(1).max(256).describe('The part of the link after `token=`.')

const { number, title, state, severity, opened_at, snoozed_until } = incidentSchema.shape

const linkedSchema = record('LinkedIncident', {
  action: z
    .enum(linkActions)
    .meta({ id: 'IncidentLinkAction' })
    .describe('Move that the link makes.'),
  project: z.string().describe('Name of the project.'),
  ...{ number, title, state, severity, opened_at, snoozed_until },
})

/**
 * The definition that the routes of links share. They are public: the token is the right to one move
 * of one incident. It is in the body, because proxies log URLs.
 */
export const linkRoute = {
  method: 'POST',
  auth: 'public',
  scope: { level: 'public' },
  reply: linkedSchema,
  rate_per_minute_max: 60,
  body_bytes_max: 32 * 1024,
} as const

/** Returns the answer of a link, which no cache keeps. */
export function toAnswer(action: LinkAction, { incident, project }: Linked) {
  const { number, title, state, severity, opened_at, snoozed_until } = toIncidentView(incident)
  const reply = { action, project, number, title, state, severity, opened_at, snoozed_until }
  return new Answer(reply, { headers: { 'cache-control': 'no-store' } })
}

/** Returns the error for a link that cannot be used, the same for every reason. */
export function linkNotFound(): Problem {
  return problem('incident_link_not_found', {
    detail: 'The link does not exist, has ended or was used. A newer message has new links.',
  })
}
