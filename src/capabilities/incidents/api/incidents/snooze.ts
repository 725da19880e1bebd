import { z } from 'zod'
import { durationMs } from '../../../../kernel/duration.ts'
import { problem } from '../../../../kernel/problem.ts'
import { record } from '../../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { duration } from '../../rules/condition-kinds.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { moveIncident, moveRoute, noteBody, noteField } from './moves.ts'

/** Bounds of a snooze: what rests for longer is a suppression, which has a comment and an owner. */
const [least, most] = ['5m', '7d'] as const

/** Length of a snooze. */
export const snoozeLength = duration(least, most).describe(
  `Length of the snooze, ${least} to ${most}.`,
)

/** How long a snooze lasts; `until` or `for`, not both. */
const snoozeBody = record('SnoozeIncidentRequest', {
  until: z.iso
    .datetime({ offset: true })
    .optional()
    .describe(`End of the snooze, ${least} to ${most} from now.`),
  for: snoozeLength.optional(),
  note: noteField.optional().describe('Text for people, in the timeline.'),
})
  .superRefine((body, context) => {
    if ((body.until === undefined) !== (body.for === undefined)) return
    const message = 'expected either `until` or `for`'
    context.addIssue({ code: 'custom', path: ['until'], message })
  })
  .superRefine(refuseUnstorable)

/**
 * POST /api/v2/observability/incidents/{id}/snooze: rests the messages and the escalation of an
 * incident until a time. If it is then open and not acknowledged, it is announced again.
 */
export function snoozeIncident(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    ...moveRoute,
    url: '/api/v2/observability/incidents/{id}/snooze',
    id: 'snoozeIncident',
    summary: 'Rest the messages of an incident for a time',
    body: snoozeBody,
    handle: ({ body: { note, ...given }, ...request }) => {
      const until_ms = endOf(given, deps.clock.now_ms())
      return moveIncident(deps, request, { type: 'suppress', suppressed: true, until_ms, note })
    },
  })
}

/**
 * POST /api/v2/observability/incidents/{id}/unsnooze: ends a snooze. An open incident is announced as
 * still firing.
 */
export function unsnoozeIncident(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    ...moveRoute,
    url: '/api/v2/observability/incidents/{id}/unsnooze',
    id: 'unsnoozeIncident',
    summary: 'End the snooze of an incident',
    body: noteBody,
    handle: ({ body, ...request }) =>
      moveIncident(deps, request, { type: 'suppress', suppressed: false, ...body }),
  })
}

/** Returns the end of a snooze. Throws `invalid_request` for one that is too near or too far. */
function endOf(
  { until, for: length }: { until?: string | undefined; for?: string | undefined },
  now_ms: number,
): number {
  if (length !== undefined) return now_ms + durationMs(length)
  const until_ms = Date.parse(until ?? '')
  const length_ms = until_ms - now_ms
  if (length_ms >= durationMs(least) && length_ms <= durationMs(most)) return until_ms
  const detail = `got ${JSON.stringify(until)}, expected a time ${least} to ${most} from now`
  throw problem('invalid_request', {
    detail: `/until: ${detail}`,
    faults: [{ pointer: '/until', detail }],
  })
}
