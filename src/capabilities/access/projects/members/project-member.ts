import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { organizationRoleField, projectRoleField } from '../../fields.ts'
import { effectiveRole } from '../../roles/store.ts'
import type { ProjectMemberRow } from './store.ts'

/** A person of a project in a reply. */
export const projectMemberSchema = record('ProjectMember', {
  user_id: z.uuid(),
  email: z.string(),
  display_name: z.string(),
  role: projectRoleField.describe('What the person may do here, by either of the two below.'),
  project_role: projectRoleField.nullable().describe('The role given in the project.'),
  organization_role: organizationRoleField.describe('Owners and admins are admin in its projects.'),
})

/** Shapes a row of somebody who can see the project. */
export function projectMember(row: ProjectMemberRow): z.input<typeof projectMemberSchema> {
  return { ...row, role: effectiveRole(row) ?? 'viewer' }
}
