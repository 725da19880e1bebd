import type { Route } from '../../../platform/http/index.ts'
import { confirmIncidentLink } from './confirm.ts'
import type { LinkRoutesDeps } from './contract.ts'
import { lookUpIncidentLink } from './lookup.ts'

/** The routes that the page of a link calls. */
export function incidentLinkRoutes(deps: LinkRoutesDeps): Route[] {
  return [lookUpIncidentLink(deps), confirmIncidentLink(deps)]
}
