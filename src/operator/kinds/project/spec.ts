import { z } from 'zod'
import { commonSpecFields, projectNameField } from '../../common-spec.ts'

const immutable = (field: string) => ({
  'x-kubernetes-validations': [
    { rule: 'self == oldSelf', message: `${field} is immutable: create a new Project` },
  ],
})

/** The names in the service have no white space at the ends. */
const trimmed = /^[^\s](.*[^\s])?$/

/** Spec of a Project. */
export const projectSpec = z.strictObject({
  organization: projectNameField
    .regex(trimmed)
    .describe('Name of the organization, which must exist. Immutable.')
    .meta(immutable('organization')),
  name: projectNameField
    .regex(trimmed)
    .describe('Name of the project, unique in the organization. Immutable.')
    .meta(immutable('name')),
  id: z
    .uuid()
    .max(36)
    .optional()
    .describe(
      'Id of an existing project to adopt. A ProjectGrant must grant it by id. Default: a new project. Immutable.',
    )
    .meta(immutable('id')),
  ...commonSpecFields,
  deletionPolicy: z
    .enum(['Delete', 'Retain'])
    .default('Retain')
    .describe(
      'On deletion of the resource: `Retain` keeps the project, `Delete` archives it: calls to it are refused, its data is kept.',
    ),
})

export type ProjectSpec = z.output<typeof projectSpec>

/** Status of the project in the service. */
export const projectStatus = z.strictObject({
  createdAt: z.iso.datetime().optional().describe('Time at which the project was created.'),
})

export type ProjectStatus = z.output<typeof projectStatus>
