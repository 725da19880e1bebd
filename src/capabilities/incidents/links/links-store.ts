import { problem } from '../../../kernel/problem.ts'
import { currentCall } from '../../../platform/audit/index.ts'
import { sql } from '../../../platform/relational/index.ts'
import { hasAnswerLinks } from '../channels/channel.ts'
import { configOf, type StoredChannel } from '../channels/channel-secrets.ts'
import type { IncidentLink } from '../messages/link-token.ts'
import type { IncidentDb } from '../ports.ts'
import type { StoredIncident } from '../store/incident-row.ts'
import { type MoveRequest, moveInTransaction } from '../store/moves.ts'

/** An incident with the link's channel and project. */
export type Linked = {
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
export async function findLinked(db: IncidentDb, link: IncidentLink): Promise<Linked | undefined> {
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
export function useLink(
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
