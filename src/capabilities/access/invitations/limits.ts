import { derivedId, newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import type { ManagedBy } from '../../../model/managed-by.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { runInInstallation } from '../../../platform/tenancy/index.ts'
import { day_ms, maxDroppedAtOnce, maxMailsPerDay } from '../one-time-links.ts'
import type { NewLink } from './link.ts'

type Db = Kysely<AccessTables>

/** Links that an organization may send within a minute. */
const maxLinksPerMinute = 20
/** Mails of resources to an address within a day: fewer, so that people can still invite it. */
const maxMailsOfResourcesPerDay = 2
/** Invitations that ended are kept for 90 days. */
const endedKeptMs = 90 * day_ms

const minute_ms = 60_000

/** A link to send; `id` is set when the invitation is stored already. */
type Sent = {
  id?: string
  organization_id: string
  email: string
  link: NewLink
  pending_max: number
  /**
   * The project and the resource of a declared member. Such invitations have limits per project and
   * namespace, so that they never use up those of the organization's people or of other namespaces.
   */
  declared?: { project_id: string; managed_by: ManagedBy }
}

/**
 * Counts a link. Throws `limit_reached` for too many open invitations of the organization or the
 * namespace, and `rate_limited` for too many links of it or too many mails to the address. The
 * transaction has locked the organization, so that concurrent calls are counted one after the
 * other.
 */
export async function checkLinkLimits(trx: Db, sent: Sent): Promise<void> {
  await runInInstallation('old links of all organizations', () => dropOld(trx, sent.link.now))
  await checkPending(trx, sent)
  const { organization_id, email, link, declared } = sent
  const namespace_id = declared === undefined ? null : namespaceId(declared)
  if (link.by_email) {
    await sql`select pg_advisory_xact_lock(hashtext(${`looptrace.invitation ${email}`}))`.execute(
      trx,
    )
  }
  const links = trx
    .selectFrom('invitation_links')
    .select(['organization_id', 'namespace_id', 'email', 'by_email', 'created_at'])
    .where(({ and, eb, or }) =>
      or([
        and([
          eb('organization_id', '=', organization_id),
          eb('namespace_id', 'is not distinct from', namespace_id),
          eb('created_at', '>', before(link.now, minute_ms)),
        ]),
        and([
          eb('email', '=', email),
          eb('by_email', '=', true),
          eb('created_at', '>', before(link.now, day_ms)),
        ]),
      ]),
    )
    .orderBy('created_at', 'desc')
    .limit(1_000)
  const recent = await runInInstallation('mails to the address from all organizations', () =>
    links.execute(),
  )
  const minute = recent.filter(
    (row) =>
      row.organization_id === organization_id &&
      row.namespace_id === namespace_id &&
      row.created_at > before(link.now, minute_ms),
  )
  refuseFrom(minute, maxLinksPerMinute, {
    now: link.now,
    window_ms: minute_ms,
    detail: `${declared ? 'A namespace in a project' : 'An organization'} sends at most ${maxLinksPerMinute} invitations per minute`,
  })
  if (link.by_email) {
    const mails = recent.filter((row) => row.email === email && row.by_email)
    refuseFrom(mails, maxMailsPerDay, {
      now: link.now,
      window_ms: day_ms,
      detail: `An address gets at most ${maxMailsPerDay} invitations by mail per day`,
    })
    if (declared !== undefined) {
      const ofResources = mails.filter((row) => row.namespace_id !== null)
      refuseFrom(ofResources, maxMailsOfResourcesPerDay, {
        now: link.now,
        window_ms: day_ms,
        detail: `Resources send an address at most ${maxMailsOfResourcesPerDay} invitations per day`,
      })
    }
  }
  await trx
    .insertInto('invitation_links')
    .values({
      id: newId(),
      organization_id,
      namespace_id,
      email,
      by_email: link.by_email,
      created_at: link.now,
    })
    .execute()
}

async function checkPending(
  trx: Db,
  { id, organization_id, link, pending_max, declared }: Sent,
): Promise<void> {
  const open = await trx
    .selectFrom('invitations')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where(declared ? ofNamespace(declared) : sql<boolean>`managed_by is null`)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', link.now.toISOString())
    .$if(id !== undefined, (query) => query.where('id', '!=', id ?? ''))
    .limit(pending_max)
    .execute()
  if (open.length < pending_max) return
  throw problem('limit_reached', {
    detail: declared
      ? `The namespace has ${pending_max} pending invitations in this project. Delete a ProjectMember first.`
      : `The organization has ${pending_max} pending invitations. Revoke one first.`,
  })
}

/** Matches the invitations by resources of the same namespace in the same project. */
function ofNamespace({ project_id, managed_by }: NonNullable<Sent['declared']>) {
  const { namespace, installation = null } = managed_by
  return sql<boolean>`project_id = ${project_id} and managed_by->>'namespace' = ${namespace}
    and managed_by->>'installation' is not distinct from ${installation}::text`
}

/** Derives the id of a namespace in a project, by which its links are counted. */
function namespaceId({ project_id, managed_by }: NonNullable<Sent['declared']>): string {
  const { namespace, installation = '' } = managed_by
  return derivedId(project_id, `${installation}/${namespace}`)
}

/** Throws `rate_limited` if there are `max` links or more; the newest is first. */
function refuseFrom(
  links: readonly { created_at: string }[],
  max: number,
  about: { now: Date; window_ms: number; detail: string },
): void {
  const oldest = links.at(max - 1)
  if (oldest === undefined) return
  const free_at_ms = Date.parse(oldest.created_at) + about.window_ms
  throw problem('rate_limited', {
    detail: about.detail,
    retry_after_s: Math.max(1, Math.ceil((free_at_ms - about.now.getTime()) / 1000)),
  })
}

/** Deletes a few old links and ended invitations, so that the tables do not grow. */
async function dropOld(trx: Db, now: Date): Promise<void> {
  await sql`
    delete from invitation_links where id in (
      select id from invitation_links where created_at < ${before(now, day_ms)}
      order by created_at limit ${maxDroppedAtOnce} for update skip locked)`.execute(trx)
  await sql`
    delete from invitations where id in (
      select id from invitations where expires_at < ${before(now, endedKeptMs)} and managed_by is null
      order by expires_at limit ${maxDroppedAtOnce} for update skip locked)`.execute(trx)
}

function before(now: Date, ms: number): string {
  return new Date(now.getTime() - ms).toISOString()
}
