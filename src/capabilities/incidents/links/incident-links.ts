import { z } from 'zod'
import { durationMs } from '../../../kernel/duration.ts'
import { type Problem, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import { record } from '../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import { noteField, snoozeLength } from '../api/incidents/moves.ts'
import { incidentSchema } from '../incident-view.ts'
import { type LinkAction, linkActions, readLink } from '../messages/link-token.ts'
import type { IncidentDb } from '../ports.ts'
import { toIncidentView } from '../store/incident-row.ts'
import type { MoveRequest } from '../store/moves.ts'
import { findLinked, type Linked, useLink } from './links-store.ts'

/** The routes that the page of a link calls. */
export function incidentLinkRoutes(deps: LinkRoutesDeps): Route[] {
  return [lookUpIncidentLink(deps), confirmIncidentLink(deps)]
}

/** POST /api/v2/observability/incident-links/lookup: the move and the incident of a link. Changes nothing. */
function lookUpIncidentLink({ db, clock, secret_key }: LinkRoutesDeps): Route {
  return defineRoute({
    ...linkRoute,
    url: '/api/v2/observability/incident-links/lookup',
    id: 'lookUpIncidentLink',
    summary: 'Move and incident of a link of a message',
    audit: 'refusals',
    body: record('LookUpIncidentLinkRequest', { token }),
    errors: ['incident_link_not_found', 'store_unavailable'],
    handle: async ({ body }) => {
      const link = readLink(body.token, { secret_key, now_ms: clock.now_ms() })
      if (link === undefined) throw linkNotFound()
      const linked = await findLinked(db, link)
      if (linked === undefined) throw linkNotFound()
      return toAnswer(link.action, linked)
    },
  })
}

/** POST /api/v2/observability/incident-links/confirm: does what a link is for, once. */
export function confirmIncidentLink({ db, clock, secret_key }: LinkRoutesDeps): Route {
  return defineRoute({
    ...linkRoute,
    url: '/api/v2/observability/incident-links/confirm',
    id: 'confirmIncidentLink',
    summary: 'Acknowledge, resolve or snooze an incident by a link of a message',
    body: record('ConfirmIncidentLinkRequest', {
      token,
      note: noteField.optional().describe('Text for people, in the timeline.'),
      for: snoozeLength.optional().describe('Length of a snooze, 5m to 7d; required for a snooze.'),
    }).superRefine(refuseUnstorable),
    errors: ['incident_link_not_found', 'incident_state_conflict', 'store_unavailable'],
    handle: async ({ body }) => {
      const now_ms = clock.now_ms()
      const link = readLink(body.token, { secret_key, now_ms })
      if (link === undefined) throw linkNotFound()
      const move = moveOf(link.action, body, now_ms)
      const used = await useLink(db, { link, move, now_ms })
      if (used === undefined) throw linkNotFound()
      return toAnswer(link.action, used)
    },
  })
}

type Given = { note?: string | undefined; for?: string | undefined }

/** Returns the move of a link. Throws `invalid_request` for a snooze without a length. */
function moveOf(action: LinkAction, { note, for: length }: Given, now_ms: number): MoveRequest {
  if (action !== 'snooze') return { type: action, note }
  if (length === undefined) {
    const detail = 'expected the length of the snooze, 5m to 7d'
    throw problem('invalid_request', {
      detail: `/for: ${detail}`,
      faults: [{ pointer: '/for', detail }],
    })
  }
  return { type: 'suppress', suppressed: true, until_ms: now_ms + durationMs(length), note }
}

/** Dependencies of the routes of links. */
type LinkRoutesDeps = { db: IncidentDb; clock: Clock; secret_key: string }

/** The part of a link that proves the right to its move. */
const token = z.string().min(1).max(256).describe('The part of the link after `token=`.')

const { number, title, state, severity, opened_at, snoozed_until } = incidentSchema.shape

const linkedSchema = record('LinkedIncident', {
  action: z
    .enum(linkActions)
    .meta({ id: 'IncidentLinkAction' })
    .describe('Move that the link makes.'),
  project: z.string().describe('Name of the project.'),
  number,
  title,
  state,
  severity,
  opened_at,
  snoozed_until,
})

/**
 * The definition that the routes of links share. They are public: the token is the right to one move
 * of one incident. It is in the body, because proxies log URLs.
 */
const linkRoute = {
  method: 'POST',
  auth: 'public',
  scope: { level: 'public' },
  reply: linkedSchema,
  rate_per_minute_max: 60,
  body_bytes_max: 32 * 1024,
} as const

/** Returns the answer of a link, which no cache keeps. */
function toAnswer(action: LinkAction, { incident, project }: Linked) {
  const { number, title, state, severity, opened_at, snoozed_until } = toIncidentView(incident)
  const reply = { action, project, number, title, state, severity, opened_at, snoozed_until }
  return new Answer(reply, { headers: { 'cache-control': 'no-store' } })
}

/** Returns the error for a link that cannot be used, the same for every reason. */
function linkNotFound(): Problem {
  return problem('incident_link_not_found', {
    detail: 'The link does not exist, has ended or was used. A newer message has new links.',
  })
}
