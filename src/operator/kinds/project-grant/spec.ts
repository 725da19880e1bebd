import { z } from 'zod'
import { keyScopes, projectRoles } from '../../../kernel/scopes.ts'
import { commonSpecFields, projectNameField } from '../../common-spec.ts'
import { labelSelector } from '../../tenancy/label-selector.ts'

const project = z
  .strictObject({
    id: z.uuid().max(36).optional().describe('Id of the project.'),
    organization: projectNameField
      .optional()
      .describe('Name of the organization. Required with name.'),
    name: projectNameField
      .optional()
      .describe('Name of the project. It is looked up once; the grant keeps the id.'),
  })
  .describe('The granted project, by id, or by organization and name. Immutable.')
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.id) != has(self.name) && has(self.organization) == has(self.name)',
        message: 'expected either id, or organization and name',
      },
      { rule: 'self == oldSelf', message: 'project is immutable: create a new ProjectGrant' },
    ],
  })

const namespaces = z
  .strictObject({
    names: z
      .array(
        z
          .string()
          .max(63)
          .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/),
      )
      .min(1)
      .max(256)
      .optional()
      .describe('Names of namespaces.')
      .meta({ 'x-kubernetes-list-type': 'set' }),
    selector: labelSelector
      .optional()
      .describe(
        'Label selector; an empty one selects every namespace. A user who may label a namespace can then grant it the project, so prefer names.',
      ),
  })
  .describe('Namespaces that may name the project, by name or by label.')
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.names) != has(self.selector)',
        message: 'expected either names or selector',
      },
    ],
  })

/** The spec of a ProjectGrant. */
export const projectGrantSpec = z.strictObject({
  project,
  namespaces,
  kinds: z
    .array(
      z
        .string()
        .max(63)
        .regex(/^[A-Z][A-Za-z0-9]*$/),
    )
    .min(1)
    .max(32)
    .describe('Kinds whose resources may name the project: `RetentionPolicy`.')
    .meta({ 'x-kubernetes-list-type': 'set' }),
  scopes: z
    .array(z.enum(keyScopes))
    .max(keyScopes.length)
    .default([])
    .describe('Scopes that service accounts may have at most. Default: none.')
    .meta({ 'x-kubernetes-list-type': 'set' }),
  roles: z
    .array(z.enum(projectRoles))
    .max(projectRoles.length)
    .default([])
    .describe('Roles that members may have at most. Default: none.')
    .meta({ 'x-kubernetes-list-type': 'set' }),
  maxKeys: z
    .int()
    .min(0)
    .max(1_000)
    .default(16)
    .describe('Maximum keys that the resources of one namespace may declare together.'),
  revokeAfter: z
    .string()
    .max(8)
    .regex(/^[1-9][0-9]{0,4}(s|m|h)$/)
    .default('1h')
    .describe(
      'Grace after the end of the grant: keys are then revoked, and objects released: `1h`.',
    ),
  className: commonSpecFields.className,
  suspend: commonSpecFields.suspend,
  resyncPeriod: commonSpecFields.resyncPeriod,
})

export type ProjectGrantSpec = z.output<typeof projectGrantSpec>

/** The status of a ProjectGrant. */
export const projectGrantStatus = z.strictObject({
  projectId: z.uuid().max(36).optional().describe('Id of the granted project.'),
  namespaces: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('Number of namespaces that may name the project.'),
  kinds: z
    .array(z.string().max(63))
    .max(32)
    .optional()
    .describe('Kinds that were granted at the last reconcile.'),
})

export type ProjectGrantStatus = z.output<typeof projectGrantStatus>
