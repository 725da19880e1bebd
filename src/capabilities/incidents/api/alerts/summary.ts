import { z } from 'zod'
import { record, windowSchema } from '../../../../model/named-schemas.ts'
import { severities } from '../../../../model/severity.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { countInWindow, countUnresolved } from './store.ts'
import { alertWindow, windowQuery } from './window.ts'

const count = z.int().nonnegative()

/**
 * GET /api/v1/alerts/summary: unresolved incidents now, and those opened and resolved in a window.
 * Incidents of shadow rules do not count.
 */
export function getAlertSummary({ db, clock }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/alerts/summary',
    id: 'getAlertSummary',
    summary: 'Open incidents by severity and signal, new and resolved ones',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    query: z.strictObject(windowQuery),
    reply: record('AlertSummary', {
      open: count.describe('Unresolved incidents now, acknowledged ones too.'),
      acknowledged: count,
      suppressed: count,
      flapping: count,
      by_severity: record('SeverityCounts', {
        info: count,
        low: count,
        medium: count,
        high: count,
        critical: count,
      }),
      by_signal: z
        .array(record('SignalCount', { signal: z.string(), open: count }))
        .describe('Signals with unresolved incidents; for event rules, their source.'),
      window: windowSchema,
      new: count.describe('Incidents that were opened in the window.'),
      resolved: count.describe('Incidents that were resolved in the window, and are not reopened.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const window = alertWindow(query, clock.now_ms())
      const [open, inWindow] = await Promise.all([
        countUnresolved(db, project_id),
        countInWindow(db, project_id, window),
      ])
      const sum = (field: 'open' | 'acknowledged' | 'suppressed' | 'flapping') =>
        open.reduce((total, one) => total + one[field], 0)
      const bySignal = Map.groupBy(open, ({ signal }) => signal)
      const total = (rows: readonly { open: number }[]) =>
        rows.reduce((all, one) => all + one.open, 0)
      const bySeverity = (severity: string) =>
        total(open.filter((one) => one.severity === severity))
      const [info, low, medium, high, critical] = severities.map(bySeverity)
      return {
        open: sum('open'),
        acknowledged: sum('acknowledged'),
        suppressed: sum('suppressed'),
        flapping: sum('flapping'),
        by_severity: {
          info: info ?? 0,
          low: low ?? 0,
          medium: medium ?? 0,
          high: high ?? 0,
          critical: critical ?? 0,
        },
        by_signal: [...bySignal].map(([signal, rows]) => ({ signal, open: total(rows) })),
        window,
        ...inWindow,
      }
    },
  })
}
