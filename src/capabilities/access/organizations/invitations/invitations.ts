import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { idPageQuery, pageFields, readIdPage } from '../../../../model/id-pages.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { idField } from '../../fields.ts'
import {
  type InvitationRow,
  invitationReply,
  invitationSchema,
  newInvitationSchema,
} from '../../invitations/invitation.ts'
import { deliverLink, newLink } from '../../invitations/link.ts'
import {
  findOpen,
  listInvitations,
  renewInvitation,
  revokeInvitations,
} from '../../invitations/store.ts'
import { lockedState } from '../members/store.ts'
import { checkRoleChange } from '../role-change.ts'

/** GET /api/v2/access/organizations/{organization_id}/invitations: open and ended invitations. */
export function getInvitations({ db, clock }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/organizations/{organization_id}/invitations',
    id: 'listInvitations',
    summary: 'Invitations to an organization and its projects',
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    params: z.strictObject({ organization_id: idField }),
    query: z.strictObject(idPageQuery),
    reply: record('InvitationList', { invitations: z.array(invitationSchema), ...pageFields }),
    errors: ['organization_not_found', 'invalid_cursor'],
    handle: async ({ params, query: { cursor, limit } }) => {
      const { items, info } = await readIdPage(list, { cursor, limit }, (page) =>
        listInvitations(db, { ...params, ...page }),
      )
      const now = new Date(clock.now_ms())
      return { invitations: items.map((row) => invitationReply(row, now)), ...info }
    },
  })
}

/**
 * DELETE /api/v2/access/organizations/{organization_id}/invitations/{invitation_id}: revokes an
 * invitation; its link ends.
 */
export function revokeInvitation({ db, clock }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/organizations/{organization_id}/invitations/{invitation_id}',
    id: 'revokeInvitation',
    summary: 'Revoke an invitation',
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    status: 204,
    params: invitationParams,
    reply: z.undefined(),
    errors: ['organization_not_found', 'invitation_not_found'],
    handle: ({ params, caller }) =>
      db.transaction().execute(async (trx) => {
        await lockOpen(trx, { ...params, actor_id: caller.id })
        const { organization_id, invitation_id: id } = params
        await revokeInvitations(trx, { organization_id, id, now: new Date(clock.now_ms()) })
        return undefined
      }),
  })
}

const list = 'invitations'

/** The path of a route of one invitation. */
const invitationParams = z.strictObject({
  organization_id: idField,
  invitation_id: idField,
})

/**
 * Locks the organization and returns an open invitation of it that the actor may change. Throws
 * `invitation_not_found` and `permission_denied`.
 */
async function lockOpen(
  trx: Access['db'],
  which: z.output<typeof invitationParams> & { actor_id: string },
): Promise<InvitationRow> {
  const { organization_id, invitation_id: id, actor_id } = which
  const state = await lockedState(trx, { organization_id, actor_id, user_id: undefined })
  const open = await findOpen(trx, { organization_id, id })
  if (open === undefined) {
    throw problem('invitation_not_found', {
      detail: `The organization has no open invitation with the id ${id}`,
    })
  }
  checkRoleChange({ ...state, next: open.role })
  return open
}

/**
 * POST /api/v2/access/organizations/{organization_id}/invitations/{invitation_id}/resend: sends a
 * new link with a new expiry. The old link ends, and the caller becomes the inviter.
 */
export function resendInvitation(access: Access): Route {
  const { db, invitations } = access
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/organizations/{organization_id}/invitations/{invitation_id}/resend',
    id: 'resendInvitation',
    summary: 'Send a new link of an invitation',
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    params: invitationParams,
    reply: newInvitationSchema,
    errors: ['organization_not_found', 'invitation_not_found', 'limit_reached', 'mail_unavailable'],
    handle: async ({ params, caller }) => {
      const link = newLink(access)
      const renewed = await db.transaction().execute(async (trx) => {
        const { id, email } = await lockOpen(trx, { ...params, actor_id: caller.id })
        const { organization_id } = params
        const { pending_max } = invitations
        const given = { id, email, organization_id, invited_by: caller.id, link, pending_max }
        return renewInvitation(trx, given)
      })
      return deliverLink(access, { ...renewed, link })
    },
  })
}
