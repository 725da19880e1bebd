import { z } from 'zod'
import { projectRoles } from '../../../kernel/scopes.ts'
import { commonSpecFields, immutable, projectRefField } from '../../common-spec.ts'
import { documentOf, elsewhere } from '../../declared/document.ts'

/** Spec of a ProjectMember. */
export const projectMemberSpec = z.strictObject({
  projectRef: projectRefField,
  email: z
    .string()
    .max(320)
    .regex(/^[^@\sA-Z]+@[^@\sA-Z]+\.[^@\sA-Z]+$/)
    .describe('E-mail address of the person, in lower case. Immutable.')
    .meta(immutable('email', 'ProjectMember')),
  role: z
    .enum(projectRoles)
    .describe('Role of the person in the project. The grant must list it in its roles.'),
  ...commonSpecFields,
  deletionPolicy: elsewhere(
    z
      .enum(['Delete', 'Retain'])
      .default('Delete')
      .describe(
        'On deletion of the resource: `Delete` revokes the invitation and the membership that it gave, `Retain` keeps the membership.',
      ),
  ),
})

export type ProjectMemberSpec = z.output<typeof projectMemberSpec>

/** Converts a spec to the member of the service. */
export const toMember = documentOf<Pick<ProjectMemberSpec, 'email' | 'role'>>()(projectMemberSpec)

/** Status of the member in the service. */
export const projectMemberStatus = z.strictObject({
  invitationId: z.uuid().max(36).optional().describe('Id of the invitation in the service.'),
  state: z
    .enum(['Invited', 'LinkNotSent', 'Accepted', 'Expired', 'Ended'])
    .optional()
    .describe('State of the invitation. It does not depend on whether the person has an account.'),
})

export type ProjectMemberStatus = z.output<typeof projectMemberStatus>
