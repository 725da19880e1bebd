import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { organizationRoleField } from '../../fields.ts'
import { findByLink, invitationNotFound } from '../../invitations/accept.ts'
import { hashSecret } from '../../keys/project-key.ts'

/** The token of a link; any other text is an unknown one. */
export const linkTokenField = z.string().min(1).max(256)

/** GET /api/v1/auth/invitations/{token}: the organization and role of an invitation. Changes nothing. */
export function getLinkedInvitation({ db, clock }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/auth/invitations/{token}',
    id: 'getLinkedInvitation',
    summary: 'Organization and role that a link invites to',
    auth: 'public',
    scope: { level: 'public' },
    params: z.strictObject({ token: linkTokenField }),
    reply: record('LinkedInvitation', {
      organization: z.string().describe('Name of the organization.'),
      email: z.string(),
      role: organizationRoleField,
    }),
    errors: ['invitation_not_found', 'store_unavailable'],
    rate_per_minute_max: 60,
    handle: async ({ params }) => {
      const now = new Date(clock.now_ms())
      const found = await findByLink(db, { token_hash: hashSecret(params.token), now })
      if (found === undefined) throw invitationNotFound()
      const { organization, email, role } = found
      const headers = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
      return new Answer({ organization, email, role }, { headers })
    },
  })
}
