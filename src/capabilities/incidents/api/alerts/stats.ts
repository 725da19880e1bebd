import { z } from 'zod'
import { record, windowSchema } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { readStats } from './store.ts'
import { alertWindow, windowQuery } from './window.ts'

const count = z.int().nonnegative()
const duration_ms = z.number().nullable()

const timesSchema = record('TimeStatistics', {
  incidents: count,
  median_ms: duration_ms.describe('By nearest rank; null without incidents.'),
  p90_ms: duration_ms.describe('By nearest rank; null without incidents.'),
})

/**
 * GET /api/v1/alerts/stats: statistics of the incidents that were opened in a window. Incidents of
 * shadow rules do not count.
 */
export function getAlertStats({ db, clock }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/alerts/stats',
    id: 'getAlertStats',
    summary: 'Times to acknowledge and to resolve, flapping and noise',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    query: z.strictObject(windowQuery),
    reply: record('AlertStats', {
      window: windowSchema,
      opened: count.describe('Incidents that were opened in the window.'),
      time_to_acknowledge: timesSchema.describe(
        'From the recording of the opening, about `delay` after its slot, to the first acknowledgement.',
      ),
      time_to_resolve: timesSchema.describe('From the opening to the resolve; resolved ones only.'),
      flapping: count.describe('Incidents that flapped.'),
      noise: record('AlertNoise', {
        resolved: count,
        without_move: count.describe('Resolved without a move of a person, key or channel.'),
        share: z
          .number()
          .min(0)
          .max(1)
          .nullable()
          .describe('`without_move` / `resolved`; null without resolved incidents.'),
      }),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const window = alertWindow(query, clock.now_ms())
      const stats = await readStats(db, project_id, window)
      const { opened = 0, resolved = 0, resolved_alone: without_move = 0 } = stats ?? {}
      return {
        window,
        opened,
        time_to_acknowledge: {
          incidents: stats?.acknowledged ?? 0,
          median_ms: stats?.ack_median ?? null,
          p90_ms: stats?.ack_p90 ?? null,
        },
        time_to_resolve: {
          incidents: resolved,
          median_ms: stats?.resolve_median ?? null,
          p90_ms: stats?.resolve_p90 ?? null,
        },
        flapping: stats?.flapping ?? 0,
        noise: { resolved, without_move, share: resolved === 0 ? null : without_move / resolved },
      }
    },
  })
}
