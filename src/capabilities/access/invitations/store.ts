import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import type { OrganizationRole, ProjectRole } from '../../../kernel/scopes.ts'
import type { IdPage } from '../../../model/id-pages.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { readById } from '../read-by-id.ts'
import type { InvitationRow } from './invitation.ts'
import { checkLinkLimits } from './limits.ts'
import type { NewLink } from './link.ts'

type Db = Kysely<AccessTables>

/** An invitation to store. */
export type NewInvitation = {
  organization_id: string
  /** Set for an invitation by an admin of this project. */
  project_id: string | null
  email: string
  role: OrganizationRole
  projects: readonly { project_id: string; role: ProjectRole }[]
  invited_by: string
  link: NewLink
  /** Maximum open invitations of the organization. */
  pending_max: number
}

/** A stored invitation with the name of its organization. */
export type StoredInvitation = { row: InvitationRow; organization: string }

/**
 * Stores an invitation in place of an open one to the same address. Run it in a transaction that
 * has locked the organization. Throws `project_not_found`, `limit_reached` and `rate_limited`. The
 * statements are the same for addresses with and without an account.
 */
export async function insertInvitation(trx: Db, given: NewInvitation): Promise<StoredInvitation> {
  const { organization_id, project_id, email, role, projects, invited_by, link } = given
  await checkProjects(trx, organization_id, projects)
  await trx
    .updateTable('invitations')
    .set({ revoked_at: link.now })
    .where('organization_id', '=', organization_id)
    .where('email', '=', email)
    .where('project_id', 'is not distinct from', project_id)
    .where('managed_by', 'is', null)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute()
  await checkLinkLimits(trx, given)
  const id = newId()
  const { token: _shownOnce, now, ...columns } = link
  await trx
    .insertInto('invitations')
    .values({
      id,
      organization_id,
      project_id,
      email,
      role,
      invited_by,
      ...columns,
      created_at: now,
    })
    .execute()
  if (projects.length > 0) {
    const grants = projects.map((grant) => ({ ...grant, invitation_id: id }))
    await trx.insertInto('invitation_projects').values(grants).execute()
  }
  return readInvitation(trx, id)
}

async function checkProjects(
  trx: Db,
  organization_id: string,
  projects: NewInvitation['projects'],
): Promise<void> {
  if (projects.length === 0) return
  const ids = projects.map(({ project_id }) => project_id)
  const rows = await trx
    .selectFrom('projects')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where('archived_at', 'is', null)
    .where('id', 'in', ids)
    .execute()
  const missing = ids.find((id) => !rows.some((row) => row.id === id))
  if (missing === undefined) return
  throw problem('project_not_found', {
    detail: `The organization has no project with the id ${missing}`,
  })
}

/** Gives an open or expired invitation a new link; the old one ends. Same errors as inserting. */
export async function renewInvitation(
  trx: Db,
  given: Omit<NewInvitation, 'project_id' | 'role' | 'projects'> & { id: string },
): Promise<StoredInvitation> {
  const { id, invited_by, link } = given
  const { token_hash, by_email, expires_at } = link
  await trx
    .updateTable('invitations')
    .set({ token_hash, by_email, expires_at, invited_by, delivered_at: link.now })
    .where('id', '=', id)
    .execute()
  await checkLinkLimits(trx, given)
  return readInvitation(trx, id)
}

/** Revokes open invitations of an organization, by their id or by the user's address. */
export async function revokeInvitations(
  trx: Db,
  which: { organization_id: string; now: Date } & ({ id: string } | { user_id: string }),
): Promise<void> {
  const open = trx
    .updateTable('invitations')
    .set({ revoked_at: which.now })
    .where('organization_id', '=', which.organization_id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
  if ('id' in which) {
    await open.where('id', '=', which.id).execute()
    return
  }
  const email = trx.selectFrom('users').select('email').where('id', '=', which.user_id)
  await open.where('email', '=', email).execute()
}

/** Returns an invitation of an organization that is neither accepted nor revoked. */
export function findOpen(
  db: Db,
  { organization_id, id }: { organization_id: string; id: string },
): Promise<InvitationRow | undefined> {
  return invitations(db)
    .where('invitations.organization_id', '=', organization_id)
    .where('invitations.id', '=', id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
}

/** Returns a page of an organization's invitations, the oldest first. */
export function listInvitations(
  db: Db,
  { organization_id, ...page }: IdPage & { organization_id: string },
): Promise<{ rows: InvitationRow[]; counted: number }> {
  const own = invitations(db).where('invitations.organization_id', '=', organization_id)
  return readById(db, own, 'invitations.id', page)
}

/** Returns an invitation with the name of its organization. */
export async function readInvitation(db: Db, id: string): Promise<StoredInvitation> {
  const { organization, ...row } = await invitations(db)
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .select('organizations.name as organization')
    .where('invitations.id', '=', id)
    .executeTakeFirstOrThrow()
  return { row, organization }
}

/** Selects invitations with the projects that they grant. */
function invitations(db: Db) {
  return db
    .selectFrom('invitations')
    .select(['invitations.id', 'invitations.email', 'invitations.role', 'invitations.by_email'])
    .select(['invitations.invited_by', 'invitations.created_at', 'invitations.expires_at'])
    .select(['invitations.accepted_at', 'invitations.revoked_at'])
    .select(
      sql<InvitationRow['projects']>`coalesce((
        select jsonb_agg(jsonb_build_object('project_id', grants.project_id, 'role', grants.role)
          order by grants.project_id)
        from invitation_projects grants where grants.invitation_id = invitations.id
      ), '[]')`.as('projects'),
    )
}
