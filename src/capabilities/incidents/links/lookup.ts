import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { readLink } from '../messages/link-token.ts'
import { type LinkRoutesDeps, linkNotFound, linkRoute, toAnswer, token } from './contract.ts'
import { findLinked } from './links-store.ts'

/** POST /api/v2/observability/incident-links/lookup: the move and the incident of a link. Changes nothing. */
export function lookUpIncidentLink({ db, clock, secret_key }: LinkRoutesDeps): Route {
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
