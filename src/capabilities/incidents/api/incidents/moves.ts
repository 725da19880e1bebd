import { z } from 'zod'
import { durationMs } from '../../../../kernel/duration.ts'
import { problem } from '../../../../kernel/problem.ts'
import { expected } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import {
  Answer,
  type Caller,
  changedSince,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type RequestHeaders,
  type Route,
  versionToReplace,
} from '../../../../platform/http/index.ts'
import { findProjectMembers } from '../../../access/index.ts'
import { type IncidentView, incidentSchema } from '../../incident-view.ts'
import type { Actor } from '../../life-cycle/incident.ts'
import { duration } from '../../rules/condition-kinds.ts'
import { findIncident } from '../../store/find-incident.ts'
import { toIncidentView } from '../../store/incident-row.ts'
import { type MoveRequest, moveStored } from '../../store/moves.ts'
import type { IncidentRoutesDb, IncidentRoutesDeps } from '../contract.ts'
import { incidentPath } from './incident.ts'

/** Text of a person. */
export const noteField = z
  .string()
  .min(1)
  .max(4000, { error: expected('at most 4,000 characters') })
const note = noteField.optional().describe('Text for people and messages.')

/** Body of moves without fields of their own; may be left out. */
const noteBody = record('MoveIncidentRequest', { note }).superRefine(refuseUnstorable).optional()

/** The definition that all moves share. A resolved incident accepts only `reopen` and comments. */
const moveRoute = {
  method: 'POST',
  etag: true,
  auth: 'jwt_or_key',
  scope: { level: 'project', role: 'editor', key: 'incidents:write' },
  headers: [ifMatchHeader],
  params: incidentPath,
  reply: incidentSchema,
  errors: [
    'incident_not_found',
    'precondition_failed',
    'incident_state_conflict',
    'store_unavailable',
  ],
} as const

/** POST /api/v2/observability/incidents/{id}/ack: acknowledges, which stops reminders. */
export function acknowledgeIncident(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    ...moveRoute,
    url: '/api/v2/observability/incidents/{id}/ack',
    id: 'acknowledgeIncident',
    summary: 'Acknowledge an incident',
    body: noteBody,
    handle: ({ body, ...request }) => moveIncident(deps, request, { type: 'ack', ...body }),
  })
}

/**
 * POST /api/v2/observability/incidents/{id}/resolve: resolves. If the condition is still true, the
 * group is quiet until it was false once.
 */
export function resolveIncident(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    ...moveRoute,
    url: '/api/v2/observability/incidents/{id}/resolve',
    id: 'resolveIncident',
    summary: 'Resolve an incident',
    body: noteBody,
    handle: ({ body, ...request }) => moveIncident(deps, request, { type: 'resolve', ...body }),
  })
}

/**
 * POST /api/v2/observability/incidents/{id}/reopen: opens a resolved incident again, or withdraws an
 * acknowledgement.
 */
export function reopenIncident(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    ...moveRoute,
    url: '/api/v2/observability/incidents/{id}/reopen',
    id: 'reopenIncident',
    summary: 'Open an incident again',
    body: noteBody,
    handle: ({ body, ...request }) => moveIncident(deps, request, { type: 'reopen', ...body }),
  })
}

/** POST /api/v2/observability/incidents/{id}/assign: assigns to a member of the project. */
export function assignIncident(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    ...moveRoute,
    url: '/api/v2/observability/incidents/{id}/assign',
    id: 'assignIncident',
    summary: 'Assign an incident to a person',
    body: record('AssignIncidentRequest', {
      assignee: z
        .string()
        .min(1)
        .max(256)
        .nullable()
        .describe('E-mail or id of a member of the project; null removes the assignee.'),
      note,
    }).superRefine(refuseUnstorable),
    handle: async ({ body, ...request }) => {
      const assignee = body.assignee && (await findAssignee(deps.db, request.caller, body.assignee))
      return moveIncident(deps, request, { ...body, type: 'assign', assignee })
    },
  })
}

/** POST /api/v2/observability/incidents/{id}/comment: adds a comment to the timeline. */
export function commentIncident(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    ...moveRoute,
    url: '/api/v2/observability/incidents/{id}/comment',
    id: 'commentIncident',
    summary: 'Comment on an incident',
    idempotent: true,
    body: record('CommentIncidentRequest', { note: noteField }).superRefine(refuseUnstorable),
    handle: ({ body, ...request }) => moveIncident(deps, request, { type: 'comment', ...body }),
  })
}

type MoveCall = { params: { id: string }; caller: Caller; headers: RequestHeaders }

/** Moves an incident, and returns it with its ETag. The same move twice changes nothing. */
async function moveIncident(
  { db, clock }: IncidentRoutesDeps,
  { params, caller, headers }: MoveCall,
  request: MoveRequest,
): Promise<Answer<IncidentView>> {
  const { project_id } = caller
  const { id: incident_id } = await findIncident(db, project_id, params.id)
  const moved = await moveStored(db, {
    project_id,
    incident_id,
    move: request,
    actor: actorOf(caller),
    if_match: versionToReplace(headers),
    now_ms: clock.now_ms(),
  })
  if (moved === undefined) throw problem('incident_not_found')
  const { incident } = moved
  if (moved.kind !== 'refused') {
    return new Answer(toIncidentView(incident), { headers: { etag: etagOf(incident.version) } })
  }
  if (moved.code === 'precondition_failed') throw changedSince(headers, incident.version)
  throw problem(moved.code, { detail: `Incident ${incident.number}: ${moved.detail}` })
}

/** Returns who a caller is in a timeline. */
export function actorOf({ kind, id }: Caller): Actor {
  if (kind === 'user' || kind === 'key') return { type: kind, id }
  return { type: 'key', id: `${kind}:${id}` }
}

/**
 * Returns the e-mail of a member. The error is the same for other accounts and unknown ones. Throws
 * `invalid_request`.
 */
async function findAssignee(
  db: IncidentRoutesDb,
  { project_id }: Caller,
  given: string,
): Promise<string> {
  const [member] = await findProjectMembers(db, { project_id, named: [given.toLowerCase()] })
  if (member !== undefined) return member.email
  const detail = 'expected the e-mail or the id of a member of the project'
  throw problem('invalid_request', {
    detail: `/assignee: ${detail}`,
    faults: [{ pointer: '/assignee', detail }],
  })
}

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
