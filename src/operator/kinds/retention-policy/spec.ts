import { z } from 'zod'
import type { retentionBody } from '../../../capabilities/lifecycle/retention/index.ts'
import { commonSpecFields, listByName, projectRefField } from '../../common-spec.ts'
import type { CelRule } from '../../contract.ts'
import { documentOf, named, placed } from '../../declared/document.ts'
import { hasValidFields, occurs } from './schedule-rules.ts'

const days_max = 36_500

const days = z.int().min(1).max(days_max)

const section = (name: string, what: string, missing: string) =>
  placed(
    z
      .strictObject({
        days: days.optional().describe(`Retention in days, 1–36,500. Default: ${missing}.`),
      })
      .describe(what)
      .optional(),
    // A section without days means forever.
    (own) => ({ days: { [name]: own?.days ?? null } }),
  )

const sections = {
  traces: section(
    'traces',
    'Retention of traces, tasks and conversations, by their last activity.',
    'forever',
  ),
  observations: section(
    'observations',
    'Retention of observations. At most the days of traces.',
    'forever',
  ),
  content: section(
    'content',
    'Retention of content: inputs, outputs, bodies. At most the days of observations, which are kept without it.',
    'as for observations',
  ),
  events: section(
    'events',
    'Retention of events, links and correlations. At most the days of observations.',
    'as for observations',
  ),
}

const environment = z.strictObject({
  name: named(
    z.string().min(1).max(256).describe('Name of the environment, as in its records.'),
    'environment',
  ),
  ...sections,
})

const archive = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe('Archives days on the schedule. The service must have a storage for archives.'),
  afterDays: days
    .optional()
    .describe('Age in days from which days are archived. Required with enabled.'),
  schedule: z
    .string()
    .max(100)
    .regex(/^[0-5]?[0-9]( [0-9A-Za-z*,/-]+){4}$/)
    .default('0 4 * * *')
    .describe(
      'Schedule in UTC as five cron fields; the minute is one number. A missed time is run once later.',
    )
    .meta({
      'x-kubernetes-validations': [
        {
          rule: hasValidFields,
          message:
            'schedule: expected a minute 0-59, hours 0-23, days 1-31, months 1-12 or JAN-DEC, and weekdays 0-7 or SUN-SAT',
        },
        { rule: occurs, message: 'schedule: expected a schedule that occurs' },
      ],
    }),
  beforeDelete: z
    .boolean()
    .default(false)
    .describe('Deletes a day only after a verified archive contains it.'),
})

/** Returns the schedule of the service; null without one. */
function scheduleOf(own: z.output<typeof archive> | undefined) {
  if (!own?.enabled || own.afterDays === undefined) return null
  return { enabled: true, after_days: own.afterDays, schedule: own.schedule }
}

const heldId = z.string().min(1).max(256)

/** A field that holds the data of an id of a kind. */
const holds = <S extends z.ZodType>(kind: string, id: S) => placed(id, (value) => ({ kind, value }))

const legalHold = z
  .strictObject({
    name: z
      .string()
      .max(63)
      .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
      .describe('Name of the legal hold, unique in this resource.'),
    traceId: holds(
      'trace',
      z
        .string()
        .max(36)
        .regex(/^([0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$/)
        .optional()
        .describe('Holds this trace: a UUID or 32 hex digits.'),
    ),
    taskId: holds('task', heldId.optional().describe('Holds every trace of this task.')),
    conversationId: holds(
      'conversation',
      heldId
        .optional()
        .describe(
          'Holds every trace of this conversation: its UUID, or the id sent by the client.',
        ),
    ),
    userId: holds('user', heldId.optional().describe('Holds every trace of this user.')),
    reason: z
      .string()
      .min(1)
      .max(1_000)
      .describe('Reason for the hold. Stays on record after the release.'),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: '[has(self.traceId), has(self.taskId), has(self.conversationId), has(self.userId)].exists_one(x, x)',
        message: 'expected exactly one of traceId, taskId, conversationId and userId',
      },
    ],
  })

/** The spec of a RetentionPolicy. Data without a section is kept forever. */
export const retentionPolicySpec = z.strictObject({
  projectRef: projectRefField,
  ...sections,
  environments: z
    .array(environment)
    .max(50)
    .default([])
    .describe(
      'Overrides for environments. A missing section inherits from above; one without days means forever.',
    )
    .meta(listByName),
  archive: placed(
    archive
      .optional()
      .describe('Archives of days. Default: no archives, on a schedule or before deletion.')
      .meta({
        'x-kubernetes-validations': [
          {
            rule: '!self.enabled || has(self.afterDays)',
            message: 'afterDays: required when archive is enabled',
          },
        ],
      }),
    (own) => ({ archive_before_delete: own?.beforeDelete ?? false, archive: scheduleOf(own) }),
  ),
  legalHolds: z
    .array(legalHold)
    .max(100)
    .default([])
    .describe(
      'Legal holds: data that must not be deleted. A hold removed from this list is released.',
    )
    .meta(listByName),
  ...commonSpecFields,
})

export type RetentionPolicySpec = z.output<typeof retentionPolicySpec>

/** Converts a spec to the policy of the service, without its defaults. */
export const toPolicy = documentOf<z.input<typeof retentionBody>>()(retentionPolicySpec)

/** Days that stand for "forever" in the rules: more than the maximum. */
const forever = 36_501

/** Returns the days of a section in CEL; `forever` without any. */
function daysOf(section: string): string {
  return `(has(${section}) && has(${section}.days) ? ${section}.days : ${forever})`
}

/** Returns the days of an environment's own section in CEL. */
const ownDays = (section: string) => `(has(e.${section}.days) ? e.${section}.days : ${forever})`

/** Returns the days of a section in an environment in CEL, inherited from the policy if missing. */
const daysIn = (section: string) =>
  `(has(e.${section}) ? ${ownDays(section)} : ${daysOf(`self.spec.${section}`)})`

const everywhere = (rule: string) =>
  `!has(self.spec.environments) || self.spec.environments.all(e, ${rule})`

/**
 * Rules that the service enforces too, checked when the resource is applied: data is not kept
 * longer than its parent. Content and events without days follow their observations.
 */
export const retentionPolicyRules: readonly CelRule[] = [
  {
    rule: `${daysOf('self.spec.observations')} <= ${daysOf('self.spec.traces')}`,
    message: 'observations.days: expected at most traces.days',
  },
  ...(['content', 'events'] as const).map((section) => ({
    rule: `!has(self.spec.${section}) || !has(self.spec.${section}.days) || self.spec.${section}.days <= ${daysOf('self.spec.observations')}`,
    message: `${section}.days: expected at most observations.days`,
  })),
  {
    rule: everywhere(`!has(e.observations) || ${ownDays('observations')} <= ${daysIn('traces')}`),
    message:
      'environments: observations.days: expected at most the days of traces in the environment',
  },
  {
    rule: everywhere(`!has(e.events) || ${ownDays('events')} <= ${observationsIn()}`),
    message:
      'environments: events.days: expected at most the days of observations in the environment',
  },
  {
    rule: everywhere(
      `!has(e.content) || !has(e.content.days) || e.content.days <= ${observationsIn()}`,
    ),
    message:
      'environments: content.days: expected at most the days of observations in the environment',
  },
]

/**
 * Returns the days of observations in an environment in CEL; inherited ones end with its traces.
 */
function observationsIn(): string {
  const [own, observations] = [ownDays('observations'), daysOf('self.spec.observations')]
  const traces = daysIn('traces')
  return `(has(e.observations) ? ${own} : ${observations} <= ${traces} ? ${observations} : ${traces})`
}

/** Maximum exact integer of a JSON number, below the int64 of Kubernetes. */
const count_max = 2 ** 53 - 2
const count = z.int().min(0).max(count_max)
const instant = z.iso.datetime()

/** The status of a RetentionPolicy: the state last read from the service. */
export const retentionPolicyStatus = z.strictObject({
  appliedGeneration: count
    .optional()
    .describe('Generation of the spec that was last confirmed in the service.'),
  policyVersion: count.optional().describe('Version of the policy in the service.'),
  lastRun: z
    .strictObject({
      id: z.uuid().max(36).describe('The job_id of the run in the service.'),
      endTime: instant.describe('Time at which the run ended.'),
      state: z.enum(['succeeded', 'failed']).describe('Result of the run.'),
      rowsDeleted: count.describe('Rows deleted by the run.'),
      bytesDeleted: count.describe('Approximate size of the deleted rows on disk, in bytes.'),
    })
    .optional()
    .describe('The last finished retention run.'),
  rowsDeleted: count.optional().describe('Rows deleted by all recorded runs.'),
  bytesDeleted: count
    .optional()
    .describe('Approximate size of the deleted rows on disk, in bytes.'),
  nextRunTime: instant.optional().describe('Time of the next retention run.'),
  nextArchiveTime: instant.optional().describe('Time of the next scheduled archive.'),
  heldCount: count
    .optional()
    .describe('Distinct legal holds in the project, of this resource and of others.'),
  holds: z
    .array(
      z.strictObject({
        name: z.string().max(63).describe('Name of the hold in spec.legalHolds.'),
        holdId: z.uuid().max(36).describe('The hold_id in the service.'),
      }),
    )
    .max(100)
    .optional()
    .describe('Legal holds of this resource.')
    .meta(listByName),
  drift: z
    .strictObject({
      count: count.describe('Number of corrected drifts.'),
      lastTime: instant.optional().describe('Time of the last correction.'),
    })
    .optional()
    .describe('Corrections of changes that someone else made in the service.'),
})

export type RetentionPolicyStatus = z.output<typeof retentionPolicyStatus>
