import type { z } from 'zod'
import { printable } from '../../../kernel/printable.ts'
import { problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { Mailer } from '../../../platform/mail/index.ts'
import { linkUrl, mintLink, type OneTimeLink } from '../one-time-links.ts'
import { type InvitationRow, invitationReply, type newInvitationSchema } from './invitation.ts'

/** Sends invitation links. */
export type InvitationLinks = {
  /** Lifetime of a link. */
  ttl_ms: number
  /** Maximum open invitations of an organization. */
  pending_max: number
  /** Without a configured mailer the inviter passes the link on. */
  mailer: Mailer | undefined
  /** Base of the links. */
  public_url: string | undefined
}

/** A new link, and whether it is mailed to the invited person. */
export type NewLink = OneTimeLink & { by_email: boolean }

/** Mints a link. */
export function newLink(about: { invitations: InvitationLinks; clock: Clock }): NewLink {
  const { invitations, clock } = about
  const link = mintLink(clock, { prefix: 'lti_', ttl_ms: invitations.ttl_ms })
  return { ...link, by_email: isMailed(invitations) }
}

/**
 * Mails the link of a stored invitation, or returns it to the inviter if no mail server is
 * configured. Throws `mail_unavailable`; the invitation then stays and its link can be resent.
 */
export async function deliverLink(
  { invitations }: { invitations: InvitationLinks },
  sent: { row: InvitationRow; organization: string; link: NewLink },
): Promise<z.input<typeof newInvitationSchema>> {
  const { row, organization, link } = sent
  const { mailer, public_url } = invitations
  const reply = invitationReply(row, link.now)
  const url = linkUrl(public_url, '/invitation', link.token)
  if (!link.by_email || mailer === undefined) {
    return { ...reply, token: link.token, accept_url: url }
  }
  const mail = { to: row.email, ...invitationMail({ organization, url, link }) }
  await mailer.send(mail).catch((cause: unknown) => {
    throw problem('mail_unavailable', {
      detail: `The invitation ${row.id} is stored, but its mail could not be sent. Resend it later.`,
      cause,
    })
  })
  return { ...reply, token: null, accept_url: null }
}

/** Writes the mail. Names come from users: they are quoted, on one line, and not in the subject. */
function invitationMail(about: {
  organization: string
  url: string | null
  link: Pick<NewLink, 'token' | 'expires_at'>
}): { subject: string; text: string } {
  const { organization, url, link } = about
  const name = printable(organization).replaceAll('"', "'")
  return {
    subject: 'Invitation to Looptrace',
    text: [
      `You are invited to the organization "${name}" in Looptrace.`,
      '',
      ...(url === null
        ? [
            'To accept, send this token to POST /api/v1/auth/invitations/accept, with a display name',
            'and a password of your own, or with your access token if you have an account:',
            '',
            link.token,
          ]
        : ['Open this link to accept:', '', url]),
      '',
      `The link works once, until ${link.expires_at.toISOString()}.`,
      'If you do not know the sender, ignore this mail: nothing changes.',
      '',
    ].join('\n'),
  }
}

function isMailed({ mailer }: InvitationLinks): boolean {
  return mailer?.configured === true
}
