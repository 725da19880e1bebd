import { durationMs } from '../../../kernel/duration.ts'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { noteField, snoozeLength } from '../api/incidents/moves.ts'
import { type LinkAction, readLink } from '../messages/link-token.ts'
import type { MoveRequest } from '../store/moves.ts'
import { type LinkRoutesDeps, linkNotFound, linkRoute, toAnswer, token } from './contract.ts'
import { findLinked, useLink } from './links-store.ts'

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
