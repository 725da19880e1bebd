import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { newInvitationSchema } from '../../invitations/invitation.ts'
import { deliverLink, newLink } from '../../invitations/link.ts'
import { renewInvitation } from '../../invitations/store.ts'
import { invitationParams, lockOpen } from './invitations.ts'

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
