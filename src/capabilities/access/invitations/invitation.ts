import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { idField, instantField, organizationRoleField, projectRoleField } from '../fields.ts'

/** A project role that an invitation grants. */
const grantSchema = record('InvitedProject', { project_id: z.uuid(), role: projectRoleField })

/** Project roles in a request. */
export const grantsField = z
  .array(record('InviteToProject', { project_id: idField, role: projectRoleField }))
  .max(50)
  .refine((grants) => new Set(grants.map(({ project_id }) => project_id)).size === grants.length, {
    error: 'expected each project once',
  })

const invitationFields = {
  id: z.uuid(),
  email: z.string(),
  role: organizationRoleField.describe('Role in the organization after acceptance.'),
  projects: z.array(grantSchema).describe('Project roles after acceptance.'),
  status: z.enum(['pending', 'accepted', 'revoked', 'expired']).meta({ id: 'InvitationStatus' }),
  delivery: z
    .enum(['email', 'link'])
    .meta({ id: 'InvitationDelivery' })
    .describe('`email`: the link was mailed. `link`: no mail server is configured; pass it on.'),
  invited_by: z.uuid().nullable().describe('Id of the inviting user.'),
  created_at: instantField,
  expires_at: instantField,
}

/** An invitation in a reply. */
export const invitationSchema = record('Invitation', invitationFields)

/** An invitation with its link. */
export const newInvitationSchema = record('NewInvitation', {
  ...invitationFields,
  token: z
    .string()
    .nullable()
    .describe('Token of the link, shown once. Null if the link was mailed.'),
  accept_url: z
    .string()
    .nullable()
    .describe('The link, shown once. Null if it was mailed or no public URL is configured.'),
})

/** A stored invitation without the hash of its token. */
export type InvitationRow = {
  id: string
  email: string
  role: 'owner' | 'admin' | 'member'
  projects: { project_id: string; role: 'admin' | 'editor' | 'viewer' }[]
  by_email: boolean
  invited_by: string | null
  created_at: string
  expires_at: string
  accepted_at: string | null
  revoked_at: string | null
}

/** Shapes an invitation for a reply. */
export function invitationReply(row: InvitationRow, now: Date): z.input<typeof invitationSchema> {
  const { by_email, accepted_at, revoked_at, ...shown } = row
  return { ...shown, delivery: by_email ? 'email' : 'link', status: statusOf(row, now) }
}

function statusOf(row: InvitationRow, now: Date) {
  if (row.accepted_at !== null) return 'accepted'
  if (row.revoked_at !== null) return 'revoked'
  return row.expires_at <= now.toISOString() ? 'expired' : 'pending'
}
