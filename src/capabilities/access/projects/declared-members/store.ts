import { newId } from '../../../../kernel/ids.ts'
import type { ProjectRole } from '../../../../kernel/scopes.ts'
import {
  type ManagedBy,
  type ResourceName,
  refuseOtherInstallation,
} from '../../../../model/managed-by.ts'
import {
  type AccessTables,
  type Kysely,
  ownedBy,
  sql,
} from '../../../../platform/relational/index.ts'
import { settleMembership } from '../../invitations/declared-membership.ts'
import { checkLinkLimits } from '../../invitations/limits.ts'
import type { NewLink } from '../../invitations/link.ts'
import { readInvitation, type StoredInvitation } from '../../invitations/store.ts'
import { lockOrganization } from '../../organizations/store.ts'
import { lockProjectOrganization } from '../store.ts'

type Db = Kysely<AccessTables>

/** Open invitations that resources of a namespace may have in a project. */
const pending_max = 50

/** A member that a resource declares: an invitation, with the role after its acceptance. */
export type DeclaredMemberRow = {
  id: string
  organization_id: string
  email: string
  role: ProjectRole
  /** Role of the person in the project; null before the acceptance, and without one. */
  member_role: ProjectRole | null
  expires_at: string
  accepted_at: string | null
  accepted_by: string | null
  revoked_at: string | null
  delivered_at: string | null
  managed_by: ManagedBy | null
}

/**
 * Returns the member that a resource declares in a project. One of its installation comes before
 * one of an earlier version, which names no installation.
 */
export function findDeclaredMember(
  db: Db,
  which: { project_id: string; by: ResourceName },
): Promise<DeclaredMemberRow | undefined> {
  const { project_id, by } = which
  return db
    .selectFrom('invitations')
    .innerJoin('invitation_projects', 'invitation_projects.invitation_id', 'invitations.id')
    .leftJoin('project_members', (join) =>
      join
        .onRef('project_members.project_id', '=', 'invitations.project_id')
        .onRef('project_members.user_id', '=', 'invitations.accepted_by'),
    )
    .select(['invitations.id', 'invitations.organization_id', 'invitations.email'])
    .select(['invitation_projects.role', 'project_members.role as member_role'])
    .select(['invitations.expires_at', 'invitations.accepted_at', 'invitations.accepted_by'])
    .select(['invitations.revoked_at', 'invitations.delivered_at', 'invitations.managed_by'])
    .where('invitations.project_id', '=', project_id)
    .where('released_at', 'is', null)
    .where(ownedBy(by))
    .orderBy(sql`managed_by->>'installation' is null`)
    .executeTakeFirst()
}

/** A member to declare. */
export type MemberDeclaration = {
  project_id: string
  email: string
  role: ProjectRole
  managed_by: ManagedBy
  /** Used for a new invitation, and for one whose link was not sent. */
  link: NewLink
}

/**
 * Invites a person for a resource, or changes the role that the resource gives. Returns the
 * invitation if its link must be sent; undefined for an archived project. The statements are the
 * same whether or not the person has an account or is a member.
 */
export function declareMember(
  db: Db,
  declared: MemberDeclaration,
): Promise<{ to_send: StoredInvitation | undefined } | undefined> {
  const { project_id, email, role, managed_by, link } = declared
  return db.transaction().execute(async (trx) => {
    const organization_id = await lockProjectOrganization(trx, project_id)
    if (organization_id === undefined) return undefined
    const known = await findDeclaredMember(trx, { project_id, by: managed_by })
    if (known?.email === email) {
      await changeDeclared(trx, { project_id, member: known, role, managed_by, now: link.now })
      return { to_send: await renewUnsent(trx, known, { ...declared, organization_id }) }
    }
    if (known === undefined) await refuseServed(trx, { project_id, managed_by })
    else await endMember(trx, { project_id, member: known, now: link.now })
    const id = await insertDeclared(trx, { ...declared, organization_id })
    return { to_send: link.by_email ? await readInvitation(trx, id) : undefined }
  })
}

/**
 * Gives an open invitation whose link was never sent a new link; returns the invitation to send.
 */
async function renewUnsent(
  trx: Db,
  known: DeclaredMemberRow,
  declared: Invited,
): Promise<StoredInvitation | undefined> {
  const { token_hash, by_email, expires_at } = declared.link
  const isPending = known.accepted_at === null && known.revoked_at === null
  if (!isPending || known.delivered_at !== null || !by_email) return undefined
  await checkLinkLimits(trx, { ...limitsOf(declared), id: known.id })
  const renewed = { token_hash, by_email, expires_at }
  await trx.updateTable('invitations').set(renewed).where('id', '=', known.id).execute()
  return readInvitation(trx, known.id)
}

/**
 * Throws `managed_by_kubernetes` if another installation declares a member for the same resource,
 * as after a change of the installation's name. The uid distinguishes it from a resource of another
 * cluster.
 */
async function refuseServed(
  trx: Db,
  { project_id, managed_by }: { project_id: string; managed_by: ManagedBy },
): Promise<void> {
  const { uid, installation: _own, ...names } = managed_by
  const stored = await trx
    .selectFrom('invitations')
    .select('managed_by')
    .where('project_id', '=', project_id)
    .where('released_at', 'is', null)
    .where(sql<boolean>`managed_by @> ${JSON.stringify({ ...names, uid })}::jsonb`)
    .executeTakeFirst()
  refuseOtherInstallation(stored?.managed_by ?? null, managed_by)
}

/** Notes that the link of an invitation was sent. */
export async function noteDelivery(db: Db, { id, at }: { id: string; at: Date }): Promise<void> {
  await db.updateTable('invitations').set({ delivered_at: at }).where('id', '=', id).execute()
}

/**
 * Ends the declaration of a member: revokes the open invitation, and the membership that it gave.
 * With `retain` the role that it gave stays, and no role of another resource. A membership that a
 * person gave stays.
 */
export function endDeclaredMember(
  db: Db,
  which: { project_id: string; by: ResourceName; retain: boolean; now: Date },
): Promise<void> {
  const { project_id, retain, now } = which
  return db.transaction().execute(async (trx) => {
    const seen = await findDeclaredMember(trx, which)
    if (seen === undefined) return
    await lockOrganization(trx, seen.organization_id)
    const member = await findDeclaredMember(trx, which)
    if (member === undefined) return
    const isMember = member.accepted_by !== null && member.revoked_at === null
    if (!(retain && isMember)) return endMember(trx, { project_id, member, now })
    const released = { released_at: now }
    await trx.updateTable('invitations').set(released).where('id', '=', member.id).execute()
  })
}

/**
 * Ends all declarations of members of a project, as `endDeclaredMember` does. Released roles stay.
 * The caller archives the project, so that no declaration is added meanwhile.
 */
export async function endDeclaredMembers(
  trx: Db,
  which: { organization_id: string; project_id: string; now: Date },
): Promise<void> {
  const { organization_id, project_id, now } = which
  const ended = await trx
    .deleteFrom('invitations')
    .where('project_id', '=', project_id)
    .where('managed_by', 'is not', null)
    .where('released_at', 'is', null)
    .returning('accepted_by')
    .execute()
  const people = new Set(ended.flatMap(({ accepted_by }) => accepted_by ?? []))
  for (const user_id of people) {
    await settleMembership(trx, { organization_id, project_id, user_id }, now)
  }
}

type OfProject = { project_id: string; member: DeclaredMemberRow; now: Date }

async function endMember(trx: Db, { project_id, member, now }: OfProject): Promise<void> {
  await trx.deleteFrom('invitations').where('id', '=', member.id).execute()
  const { organization_id, accepted_by: user_id } = member
  if (user_id !== null) await settleMembership(trx, { organization_id, project_id, user_id }, now)
}

async function changeDeclared(
  trx: Db,
  change: OfProject & { role: ProjectRole; managed_by: ManagedBy },
): Promise<void> {
  const { project_id, member, role, managed_by, now } = change
  await trx
    .updateTable('invitations')
    .set({ managed_by: JSON.stringify(managed_by) })
    .where('id', '=', member.id)
    .execute()
  if (member.role === role) return
  await trx
    .updateTable('invitation_projects')
    .set({ role })
    .where('invitation_id', '=', member.id)
    .execute()
  const { organization_id, accepted_by: user_id, revoked_at } = member
  if (user_id === null || revoked_at !== null) return
  await settleMembership(trx, { organization_id, project_id, user_id }, now)
}

type Invited = MemberDeclaration & { organization_id: string }

async function insertDeclared(trx: Db, declared: Invited): Promise<string> {
  const { organization_id, project_id, email, role, managed_by, link } = declared
  await checkLinkLimits(trx, limitsOf(declared))
  const id = newId()
  const { token: _neverShown, now, ...columns } = link
  await trx
    .insertInto('invitations')
    .values({
      id,
      organization_id,
      project_id,
      email,
      ...columns,
      created_at: now,
      role: 'member',
      invited_by: null,
      managed_by: JSON.stringify(managed_by),
    })
    .execute()
  await trx
    .insertInto('invitation_projects')
    .values({ invitation_id: id, project_id, role })
    .execute()
  return id
}

function limitsOf({ organization_id, project_id, email, link, managed_by }: Invited) {
  const declared = { project_id, managed_by }
  return { organization_id, email, link, pending_max, declared }
}
