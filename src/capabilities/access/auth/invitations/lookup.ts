import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { organizationRoleField } from '../../fields.ts'
import { findByLink, invitationNotFound } from '../../invitations/accept.ts'
import { hashSecret } from '../../keys/project-key.ts'

/** The token of a link. A text of another form counts as an unknown token. */
export const linkTokenField = z
  .string()
  .min(1)
  .max(256)
  .describe('The part of the link after `token=`.')

/**
 * POST /api/v1/auth/invitations/lookup: the organization and role of an invitation. Changes
 * nothing. The token is in the body, because proxies log URLs.
 */
export function lookUpInvitation({ db, clock }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/auth/invitations/lookup',
    id: 'lookUpInvitation',
    summary: 'Organization and role that a link invites to',
    audit: 'refusals',
    auth: 'public',
    scope: { level: 'public' },
    body: record('LookUpInvitationRequest', { token: linkTokenField }),
    reply: record('LinkedInvitation', {
      organization: z.string().describe('Name of the organization.'),
      email: z.string(),
      role: organizationRoleField,
    }),
    errors: ['invitation_not_found', 'store_unavailable'],
    rate_per_minute_max: 60,
    body_bytes_max: 16 * 1024,
    handle: async ({ body }) => {
      const now = new Date(clock.now_ms())
      const found = await findByLink(db, { token_hash: hashSecret(body.token), now })
      if (found === undefined) throw invitationNotFound()
      const { organization, email, role } = found
      const headers = { 'cache-control': 'no-store' }
      return new Answer({ organization, email, role }, { headers })
    },
  })
}
