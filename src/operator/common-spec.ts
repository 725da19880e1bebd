import { z } from 'zod'
import { durationMs } from '../kernel/duration.ts'
import { allElsewhere, elsewhere } from './declared/document.ts'

const minResyncPeriodMs = 30_000
const resyncSentence = 'resyncPeriod: expected at least 30s'

/** The class of resources that name none. */
export const defaultClass = 'default'

/** Fields of every kind's spec, to spread into its `z.strictObject`. */
export const commonSpecFields = allElsewhere({
  className: z
    .string()
    .max(63)
    .regex(/^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$/)
    .default(defaultClass)
    .describe(
      'Class of operators that serve the resource (`LOOPTRACE_OPERATOR_CLASS`). An empty value means `default`. Immutable: objects in the service belong to the installation that created them.',
    )
    .meta({
      'x-kubernetes-validations': [
        {
          rule: "self == oldSelf || (self in ['', 'default'] && oldSelf in ['', 'default'])",
          message: 'className is immutable: create a new resource',
        },
      ],
    }),
  suspend: z
    .boolean()
    .default(false)
    .describe('Pauses reconciliation. Objects that exist in the service are left unchanged.'),
  resyncPeriod: z
    .string()
    .max(8)
    .regex(/^[1-9][0-9]{0,4}(s|m|h)$/)
    .default('10m')
    .describe(
      'Interval between comparisons of the service with the spec, at least 30s: `30s`, `10m`, `1h`.',
    )
    .meta({
      'x-kubernetes-validations': [
        { rule: "duration(self) >= duration('30s')", message: resyncSentence },
      ],
    }),
  deletionPolicy: z
    .enum(['Delete', 'Retain'])
    .default('Delete')
    .describe(
      'On deletion of the resource: `Delete` deletes its objects in the service, `Retain` keeps them.',
    ),
})

const commonSpec = z.strictObject(commonSpecFields)
type CommonFields = z.output<typeof commonSpec>

/** The common fields. A kind without objects in the service has no `deletionPolicy`. */
export type CommonSpec = Omit<CommonFields, 'deletionPolicy'> &
  Partial<Pick<CommonFields, 'deletionPolicy'>>

/** A DNS label (RFC 1123), as names in the service are. */
export const labelField = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)

/** Returns the rule of a field that sets the name in the service: without it, the resource's counts. */
export const nameRule = (field: string) => ({
  rule: `has(self.spec.${field}) || (size(self.metadata.name) <= 63 && !self.metadata.name.contains('.'))`,
  message: `the name of the resource is not a DNS label of at most 63 characters: set ${field}`,
})

/** Returns the meta of a field that cannot change. */
export const immutable = (field: string, kind = 'resource') => ({
  'x-kubernetes-validations': [
    { rule: 'self == oldSelf', message: `${field} is immutable: create a new ${kind}` },
  ],
})

/** The meta of a list whose items differ by their names. */
export const listByName = {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
}

/** Name of a project or of an organization. */
export const projectNameField = z.string().min(1).max(100)

/**
 * A spec whose values are within today's bounds. A resource of an earlier version may have values
 * beyond them; `warnings` has a sentence for each.
 */
export type Bounded<Spec> = { spec: Spec; warnings: readonly string[] }

/** Replaces common values beyond their bounds. */
export function boundCommonSpec<Spec extends CommonSpec>(spec: Spec): Bounded<Spec> {
  if (duration_ms(spec.resyncPeriod) >= minResyncPeriodMs) return { spec, warnings: [] }
  return { spec: { ...spec, resyncPeriod: '30s' }, warnings: [`${resyncSentence}; 30s applies`] }
}

/**
 * The project of a resource, among those that a ProjectGrant grants to its namespace: by id, or by
 * name and organization.
 */
export const projectRefField = elsewhere(
  z
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
    }),
)

/** The `projectRefField` of a spec. */
export type ProjectRef = z.output<typeof projectRefField>

/** Converts a duration of a spec (`30s`, `10m`, `1h`) to milliseconds; anything else is 10 min. */
export function duration_ms(text: string): number {
  return durationMs(/^[1-9][0-9]{0,4}[smh]$/.test(text) ? text : '10m')
}
