import { z } from 'zod'
import { commonSpecFields, immutable, projectNameField } from '../../common-spec.ts'
import { documentOf, elsewhere, placed } from '../../declared/document.ts'

/** The names in the service have no white space at the ends. */
const trimmed = /^[^\s](.*[^\s])?$/

/** The service removes white space of Unicode at the ends, so that such a name would read back changed. */
const environment = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{Z}\p{Cc}\p{Cf}](\P{Cc}*[^\p{Z}\p{Cc}\p{Cf}])?$/u)

/** Spec of a Project. */
export const projectSpec = z.strictObject({
  organization: projectNameField
    .regex(trimmed)
    .describe('Name of the organization, which must exist. Immutable.')
    .meta(immutable('organization', 'Project')),
  name: projectNameField
    .regex(trimmed)
    .describe('Name of the project, unique in the organization. Immutable.')
    .meta(immutable('name', 'Project')),
  id: placed(
    z
      .uuid()
      .max(36)
      .optional()
      .describe(
        'Id of an existing project to adopt. A ProjectGrant must grant it by id. Default: a new project. Immutable.',
      )
      .meta(immutable('id', 'Project')),
    () => ({ adopt: true }),
  ),
  environments: z
    .array(environment)
    .max(20)
    .optional()
    .describe(
      'Names that the environment of a new key can have. A key without an environment is always allowed. Default: any name. An empty list: no name. A change leaves existing keys valid.',
    )
    .meta({
      // Not a list of type `set`: a server-side apply would drop an empty one, which allows any name.
      'x-kubernetes-validations': [
        {
          rule: 'self.all(a, self.exists_one(b, a == b))',
          message: 'environments: expected different names',
        },
      ],
    }),
  ...commonSpecFields,
  deletionPolicy: elsewhere(
    z
      .enum(['Delete', 'Retain'])
      .default('Retain')
      .describe(
        'On deletion of the resource: `Retain` keeps the project, `Delete` archives it: calls to it are refused, its data is kept.',
      ),
  ),
})

export type ProjectSpec = z.output<typeof projectSpec>

/** The fields of a project that a resource declares. */
type DeclaredProject = Pick<ProjectSpec, 'organization' | 'name' | 'environments'> & {
  /** Whether the project exists and has the id of the spec. */
  adopt: boolean
}

/** Converts a spec to the project of the service. */
export const toProject = documentOf<DeclaredProject>()(projectSpec)

/** Status of the project in the service. */
export const projectStatus = z.strictObject({
  createdAt: z.iso.datetime().optional().describe('Time at which the project was created.'),
  appliedGeneration: z
    .int()
    .min(0)
    .max(2 ** 53 - 2)
    .optional()
    .describe('Generation of the spec that was last confirmed in the service.'),
})

export type ProjectStatus = z.output<typeof projectStatus>
