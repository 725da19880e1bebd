import type { IncidentTables, Selectable } from '../../../platform/relational/index.ts'
import { ProjectTable } from '../../documents/index.ts'
import type { DefaultRoute } from '../rules/default-route.ts'

/** The default route of a project, as stored. */
type StoredRoute = Omit<Selectable<IncidentTables['incident_default_routes']>, 'spec'> & {
  spec: DefaultRoute
}

/** The table of default routes. */
export const routeTable = new ProjectTable<StoredRoute>('incident_default_routes', {
  json: ['spec'],
  defaults: { spec: { matches: [] } },
})
