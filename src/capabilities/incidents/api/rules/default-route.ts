import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import type { Route } from '../../../../platform/http/index.ts'
import { projectDocumentRoutes } from '../../../documents/index.ts'
import { type DefaultRoute, defaultRouteShape } from '../../rules/default-route.ts'
import { routeTable } from '../../store/default-route.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { channelNames } from './evaluation-store.ts'

const routeSchema = record('DefaultRoute', {
  ...defaultRouteShape.shape,
  version: z.int().describe('Version; also the ETag. 0: the project has set no route.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable(),
  warnings: z.array(z.string()).describe('Why the route may not do what its author expects.'),
})

/**
 * Routes GET and PUT of /api/v2/observability/incidents/default-route: the channels of rules that
 * name none. A change applies to openings, reopenings and raised severities from then on; open
 * incidents keep their channels.
 */
export function defaultRouteRoutes(deps: IncidentRoutesDeps): Route[] {
  return projectDocumentRoutes(deps, {
    table: routeTable,
    url: '/api/v2/observability/incidents/default-route',
    get: {
      id: 'getIncidentDefaultRoute',
      summary: 'Default route of incidents: the channels of rules that name none',
      auth: 'jwt_or_key',
      scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    },
    put: { id: 'putIncidentDefaultRoute', summary: 'Set the default route of incidents' },
    body: defaultRouteShape
      .superRefine(refuseUnstorable)
      .meta({ id: 'StorableDefaultRouteRequest' }),
    reply: routeSchema,
    errors: ['store_unavailable'],
    toColumns: (spec) => ({ spec }),
    toReply: async ({ project_id, spec, ...row }) => {
      const known = await channelNames(deps.db, project_id)
      return { ...spec, ...row, warnings: warningsOf(spec, known) }
    },
  })
}

function warningsOf({ matches }: DefaultRoute, known: ReadonlySet<string>): string[] {
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
