import { z } from 'zod'

/** Fields of every kind's spec, to spread into its `z.strictObject`. */
export const commonSpecFields = {
  className: z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
    .default('default')
    .describe('Class of the operator that reconciles the resource.'),
  suspend: z
    .boolean()
    .default(false)
    .describe('Pauses reconciliation. Objects that exist in the service are left unchanged.'),
  resyncPeriod: z
    .string()
    .max(8)
    .regex(/^[1-9][0-9]{0,4}(s|m|h)$/)
    .default('10m')
    .describe('Interval between comparisons of the service with the spec: `30s`, `10m`, `1h`.'),
  deletionPolicy: z
    .enum(['Delete', 'Retain'])
    .default('Delete')
    .describe(
      'On deletion of the resource: `Delete` deletes its objects in the service, `Retain` keeps them.',
    ),
}

const commonSpec = z.strictObject(commonSpecFields)
type CommonFields = z.output<typeof commonSpec>

/** The common fields. A kind without objects in the service has no `deletionPolicy`. */
export type CommonSpec = Omit<CommonFields, 'deletionPolicy'> &
  Partial<Pick<CommonFields, 'deletionPolicy'>>

/** Name of a project or of an organization. */
export const projectNameField = z.string().min(1).max(100)

/**
 * The project of a resource, among those that a ProjectGrant grants to its namespace: by id, or by
 * name and organization.
 */
export const projectRefField = z
  .strictObject({
    id: z.uuid().max(36).optional().describe('Id of the project.'),
    organization: projectNameField
      .optional()
      .describe(
        'Name of the organization. Required with a name that several granted projects have.',
      ),
    name: projectNameField.optional().describe('Name of the project.'),
  })
  .describe(
    'A project that a ProjectGrant grants to the namespace, by id or by name. Can only be made more precise.',
  )
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.id) != has(self.name) && !(has(self.id) && has(self.organization))',
        message: 'expected either id, or name with an optional organization',
      },
      {
        // Besides no change: an organization is added to a name, or an id replaces the name.
        rule: 'self == oldSelf || (has(oldSelf.name) && has(self.id)) || (has(oldSelf.name) && !has(oldSelf.organization) && has(self.name) && self.name == oldSelf.name)',
        message:
          'projectRef can only be made more precise (add organization, or replace name by the id): create a new resource for another project',
      },
    ],
  })

/** The `projectRefField` of a spec. */
export type ProjectRef = z.output<typeof projectRefField>

const unit_ms = { s: 1_000, m: 60_000, h: 3_600_000 } as const

/** Converts a duration of a spec (`30s`, `10m`, `1h`) to milliseconds; anything else is 10 min. */
export function duration_ms(text: string): number {
  const [, count, unit] = /^([1-9][0-9]{0,4})([smh])$/.exec(text) ?? ['', '10', 'm']
  return Number(count) * unit_ms[unit as keyof typeof unit_ms]
}
