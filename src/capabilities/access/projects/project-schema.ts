import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { instantField, pageFields, projectRoleField } from '../fields.ts'

/** A project in a reply. */
export const projectSchema = z.strictObject({
  id: z.uuid(),
  organization_id: z.uuid(),
  name: z.string(),
  created_at: instantField,
})

/** A project, with what the caller is in it. */
export const seenProjectSchema = projectSchema
  .extend({
    role: projectRoleField
      .nullable()
      .describe('What you are in it; null for a service account and an operator.'),
  })
  .meta({ id: 'Project' })

/** A page of projects. */
export const projectListSchema = record('ProjectList', {
  projects: z.array(seenProjectSchema),
  ...pageFields,
})
