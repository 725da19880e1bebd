import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { Semaphore } from '../../../../kernel/semaphore.ts'
import { record } from '../../../../model/named-schemas.ts'
import { severities } from '../../../../model/severity.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { isMatch, type Suppression, timesOf } from '../../muting/suppression.ts'
import { suppressionWarnings } from '../../muting/suppression-warnings.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { ruleReferences } from '../rules/store.ts'
import { type OpenIncident, openIncidentsOf } from './store.ts'
import { storableSuppression } from './suppressions.ts'

/** Maximum unresolved incidents that a preview compares, the newest ones. */
const compared_max = 1_000

/** Matched incidents in a reply. */
const shown_max = 100

/** Hostile globs may take 2 ms an incident; other requests are served between the batches. */
const batch = 20

const matchSchema = record('SuppressedIncident', {
  incident_id: z.uuid(),
  number: z.int(),
  title: z.string(),
  rule: z.string(),
  severity: z.enum(severities),
})

/**
 * POST /api/v2/observability/incidents/suppressions/preview: the unresolved incidents that a
 * suppression would mute. Stores nothing.
 */
export function previewSuppression({ db, clock }: IncidentRoutesDeps): Route {
  const running = new Semaphore({ permits_max: 1 })
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/incidents/suppressions/preview',
    id: 'previewIncidentSuppression',
    summary: 'List the incidents that a suppression would mute',
    audit: 'refusals',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    body: storableSuppression,
    reply: record('IncidentSuppressionPreview', {
      active: z.boolean().describe('Whether it would be in effect now.'),
      next_start: z.iso.datetime().nullable(),
      warnings: z.array(z.string()).describe('As in the reply of the suppression.'),
      compared: z.int().describe('Unresolved incidents that were compared: the newest 1,000.'),
      matching: z.int().describe('Compared incidents that match.'),
      incidents: z.array(matchSchema).max(shown_max).describe('Matches, newest first.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ body, caller: { project_id }, signal }) => {
      const open = await openIncidentsOf(db, project_id, compared_max)
      const found = await running.run(() => findMatches(body, open, signal), signal)
      const now_ms = clock.now_ms()
      const { state, next_start_ms } = timesOf(body, now_ms)
      return {
        active: state === 'active',
        next_start: next_start_ms === null ? null : new Date(next_start_ms).toISOString(),
        warnings: suppressionWarnings(body, await ruleReferences(db, project_id), now_ms),
        compared: open.length,
        matching: found.length,
        incidents: found
          .slice(0, shown_max)
          .map(({ dedup_key: _, labels: __, group: ___, ...shown }) => shown),
      }
    },
  })
}

async function findMatches(
  suppression: Suppression,
  open: readonly OpenIncident[],
  signal: AbortSignal,
): Promise<OpenIncident[]> {
  const found: OpenIncident[] = []
  for (const [at, incident] of open.entries()) {
    if (at % batch === batch - 1) {
      await setImmediate()
      signal.throwIfAborted()
    }
    if (isMatch(suppression, incident)) found.push(incident)
  }
  return found
}
