import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import {
  Answer,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type Route,
  writeIfMatch,
} from '../../../../platform/http/index.ts'
import { requesterOf } from '../../../jobs/index.ts'
import { defaultRouteShape } from '../../rules/default-route.ts'
import { findRoute, putRoute, replaceRoute, type StoredRoute } from '../../store/default-route.ts'
import type { IncidentRoutesDb, IncidentRoutesDeps } from '../contract.ts'
import { channelNames } from './evaluation-store.ts'

const url = '/api/v2/observability/incidents/default-route'

const routeSchema = record('DefaultRoute', {
  ...defaultRouteShape.shape,
  version: z.int().describe('Version; also the ETag. 0: the project has set no route.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable(),
  warnings: z.array(z.string()).describe('Why the route may not do what its author expects.'),
})

/** GET /api/v2/observability/incidents/default-route: the channels of rules that name none. */
export function getDefaultRoute({ db }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'getIncidentDefaultRoute',
    summary: 'Default route of incidents: the channels of rules that name none',
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    reply: routeSchema,
    errors: ['store_unavailable'],
    handle: async ({ caller: { project_id } }) =>
      toAnswer(db, project_id, await findRoute(db, project_id)),
  })
}

/**
 * PUT /api/v2/observability/incidents/default-route: replaces the route. It applies to openings,
 * reopenings and raised severities from then on; open incidents keep their channels.
 */
export function putDefaultRoute({ db, clock }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'PUT',
    url,
    id: 'putIncidentDefaultRoute',
    summary: 'Set the default route of incidents',
    etag: true,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    headers: [ifMatchHeader],
    body: defaultRouteShape
      .superRefine(refuseUnstorable)
      .meta({ id: 'StorableDefaultRouteRequest' }),
    reply: routeSchema,
    errors: ['precondition_failed', 'store_unavailable'],
    handle: async ({ body: spec, caller, headers }) => {
      const { project_id } = caller
      const updated_at = new Date(clock.now_ms())
      const change = { project_id, spec, updated_at, updated_by: requesterOf(caller) }
      const stored = await writeIfMatch(headers, {
        put: () => putRoute(db, change),
        replace: (version) => replaceRoute(db, change, version),
        find: () => findRoute(db, project_id),
      })
      return toAnswer(db, project_id, stored)
    },
  })
}

async function toAnswer(
  db: IncidentRoutesDb,
  project_id: string,
  stored: StoredRoute | undefined,
): Promise<Answer<z.input<typeof routeSchema>>> {
  const { spec = { matches: [] }, ...rest } = stored ?? {}
  const known = await channelNames(db, project_id)
  const body = {
    ...spec,
    ...{ version: 0, updated_at: null, updated_by: null },
    ...rest,
    warnings: warningsOf(spec, known),
  }
  return new Answer(body, { headers: { etag: etagOf(body.version) } })
}

function warningsOf({ matches }: StoredRoute['spec'], known: ReadonlySet<string>): string[] {
  const names = new Set(matches.flatMap(({ notify }) => notify))
  const warnings = [...names]
    .filter((name) => !known.has(name))
    .map((name) => `No channel has the name \`${name}\`. Create it, or no message reaches it.`)
  const isAll = ({ min_severity = 'info', labels }: (typeof matches)[number]) =>
    min_severity === 'info' && Object.keys(labels).length === 0
  const first = matches.findIndex(isAll)
  if (first === -1 && matches.length > 0) {
    warnings.push('No match is without conditions, so that some rules may have no channel.')
  }
  if (first !== -1 && first < matches.length - 1) {
    warnings.push(`Match ${first + 1} has no conditions, so that the matches after it never apply.`)
  }
  return warnings
}
