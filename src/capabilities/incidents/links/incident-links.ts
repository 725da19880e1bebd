import { z } from 'zod'
import { durationMs } from '../../../kernel/duration.ts'
import { type Problem, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import { record } from '../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import { currentCall } from '../../../platform/audit/index.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import { sql } from '../../../platform/relational/index.ts'
import { noteField, snoozeLength } from '../api/incidents/moves.ts'
import { hasAnswerLinks } from '../channels/channel.ts'
import { configOf, type StoredChannel } from '../channels/channel-secrets.ts'
import { incidentSchema } from '../incident-view.ts'
import {
  type IncidentLink,
  type LinkAction,
  linkActions,
  readLink,
} from '../messages/link-token.ts'
import type { IncidentDb } from '../ports.ts'
import { type StoredIncident, toIncidentView } from '../store/incident-row.ts'
import { type MoveRequest, moveInTransaction } from '../store/moves.ts'

/** The routes that the page of a link calls. */
export function incidentLinkRoutes(deps: LinkRoutesDeps): Route[] {
  return [lookUpIncidentLink(deps), confirmIncidentLink(deps)]
}

/** POST /api/v2/observability/incident-links/lookup: the move and the incident of a link. Changes nothing. */
function lookUpIncidentLink({ db, clock, secret_key }: LinkRoutesDeps): Route {
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

/** An incident with the link's channel and project. */
type Linked = {
  incident: StoredIncident
  /** Name of the channel that the link was sent to. */
  channel: string
  project: string
  organization_id: string
}

type FoundRow = Omit<Linked, 'incident'> &
  Pick<StoredChannel, 'type' | 'config'> & { incident_id: string }

/**
 * Finds the incident of a link. Undefined if the link was used, if its message or incident was
 * deleted, or if its channel was deleted or disabled, or its links were turned off.
 */
async function findLinked(db: IncidentDb, link: IncidentLink): Promise<Linked | undefined> {
  const { project_id, message_id, action } = link
  const { rows } = await sql<FoundRow>`
    select message.incident_id, message.channel, channel.type, channel.config,
      projects.name as project, projects.organization_id
    from notification_outbox as message
    join projects on projects.id = message.project_id
    join notification_channels as channel
      on channel.project_id = message.project_id and channel.name = message.channel
    where message.project_id = ${project_id} and message.id = ${message_id}
      and channel.disabled_at is null and not (${action} = any(message.used_links))
  `.execute(db)
  const [found] = rows
  if (found === undefined) return undefined
  const { incident_id, channel, type, config, project, organization_id } = found
  if (!hasAnswerLinks({ type, section: configOf({ config }).section })) return undefined
  const incident = await db
    .selectFrom('incidents')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', incident_id)
    .executeTakeFirst()
  return incident && { incident, channel, project, organization_id }
}

/**
 * Uses a link: moves its incident, in one transaction. A move that the incident refuses leaves the
 * link. Of two calls with one link, one finds it. Returns undefined for a link that has ended.
 * Throws `incident_state_conflict`.
 */
function useLink(
  db: IncidentDb,
  { link, move, now_ms }: { link: IncidentLink; move: MoveRequest; now_ms: number },
): Promise<Linked | undefined> {
  const { project_id, message_id, action } = link
  return db.transaction().execute(async (trx) => {
    const linked = await findLinked(trx, link)
    if (linked === undefined) return undefined
    // The link proves that the call belongs to the project.
    currentCall()?.noteProject(project_id)
    currentCall()?.noteOrganization(linked.organization_id)
    // Its lock lets the second of two calls see that the link was used. Incidents are locked last.
    const { numUpdatedRows } = await trx
      .updateTable('notification_outbox')
      .set({ used_links: sql<string[]>`array_append(used_links, ${action})` })
      .where('project_id', '=', project_id)
      .where('id', '=', message_id)
      .where(sql<boolean>`not (${action} = any(used_links))`)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return undefined
    const { incident, channel } = linked
    const actor = { type: 'channel', id: channel } as const
    const asked = { project_id, incident_id: incident.id, move, actor, now_ms }
    const moved = await moveInTransaction(trx, asked)
    if (moved === undefined) return undefined
    if (moved.kind === 'refused') {
      throw problem(moved.code, { detail: `Incident ${incident.number}: ${moved.detail}` })
    }
    return { ...linked, incident: moved.incident }
  })
}

/** POST /api/v2/observability/incident-links/confirm: does what a link is for, once. */
export function confirmIncidentLink({ db, clock, secret_key }: LinkRoutesDeps): Route {
  return defineRoute({
    ...linkRoute,
    url: '/api/v2/observability/incident-links/confirm',
    id: 'confirmIncidentLink',
    summary: 'Acknowledge, resolve or snooze an incident by a link of a message',
    body: record('ConfirmIncidentLinkRequest', {
      token,
      note: noteField.optional().describe('Text for people, in the timeline.'),
      for: snoozeLength.optional().describe('Length of a snooze, 5m to 7d; required for a snooze.'),
    }).superRefine(refuseUnstorable),
    errors: ['incident_link_not_found', 'incident_state_conflict', 'store_unavailable'],
    handle: async ({ body }) => {
      const now_ms = clock.now_ms()
      const link = readLink(body.token, { secret_key, now_ms })
      if (link === undefined) throw linkNotFound()
      const move = moveOf(link.action, body, now_ms)
      const used = await useLink(db, { link, move, now_ms })
      if (used === undefined) throw linkNotFound()
      return toAnswer(link.action, used)
    },
  })
}

type Given = { note?: string | undefined; for?: string | undefined }

/** Returns the move of a link. Throws `invalid_request` for a snooze without a length. */
function moveOf(action: LinkAction, { note, for: length }: Given, now_ms: number): MoveRequest {
  if (action !== 'snooze') return { type: action, note }
  if (length === undefined) {
    const detail = 'expected the length of the snooze, 5m to 7d'
    throw problem('invalid_request', {
      detail: `/for: ${detail}`,
      faults: [{ pointer: '/for', detail }],
    })
  }
  return { type: 'suppress', suppressed: true, until_ms: now_ms + durationMs(length), note }
}

/** Dependencies of the routes of links. */
type LinkRoutesDeps = { db: IncidentDb; clock: Clock; secret_key: string }

/** The part of a link that proves the right to its move. */
const token = z.string().min(1).max(256).describe('The part of the link after `token=`.')

const { number, title, state, severity, opened_at, snoozed_until } = incidentSchema.shape

const linkedSchema = record('LinkedIncident', {
  action: z
    .enum(linkActions)
    .meta({ id: 'IncidentLinkAction' })
    .describe('Move that the link makes.'),
  project: z.string().describe('Name of the project.'),
  number,
  title,
  state,
  severity,
  opened_at,
  snoozed_until,
})

/**
 * The definition that the routes of links share. They are public: the token is the right to one move
 * of one incident. It is in the body, because proxies log URLs.
 */
const linkRoute = {
  method: 'POST',
  auth: 'public',
  scope: { level: 'public' },
  reply: linkedSchema,
  rate_per_minute_max: 60,
  body_bytes_max: 32 * 1024,
} as const

/** Returns the answer of a link, which no cache keeps. */
function toAnswer(action: LinkAction, { incident, project }: Linked) {
  const { number, title, state, severity, opened_at, snoozed_until } = toIncidentView(incident)
  const reply = { action, project, number, title, state, severity, opened_at, snoozed_until }
  return new Answer(reply, { headers: { 'cache-control': 'no-store' } })
}

/** Returns the error for a link that cannot be used, the same for every reason. */
function linkNotFound(): Problem {
  return problem('incident_link_not_found', {
    detail: 'The link does not exist, has ended or was used. A newer message has new links.',
  })
}
