import { z } from 'zod'
import { commonSpecFields, projectRefField } from '../../common-spec.ts'
import type { CelRule } from '../../contract.ts'

const days_max = 36_500

const days = z.int().min(1).max(days_max)

const section = (what: string, missing: string) =>
  z
    .strictObject({ days: days.optional().describe(`Whole days. Left out: ${missing}.`) })
    .describe(what)

const sections = {
  traces: section(
    'Records of traces, tasks and conversations, by their last activity.',
    'for ever',
  ).optional(),
  observations: section('Observations. At most the days of traces.', 'for ever').optional(),
  content: section(
    'What was said: inputs, outputs, bodies. At most the days of observations, which stay without it.',
    'as long as its observation',
  ).optional(),
  events: section(
    'Events, links and correlations. At most the days of observations.',
    'as long as observations',
  ).optional(),
}

const environment = z.strictObject({
  name: z.string().min(1).max(256).describe('The environment, as its records carry it.'),
  ...sections,
})

const archive = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe('Archive days on the schedule. The service has to have a place for archives.'),
  afterDays: days.optional().describe('Days that are older are archived. Needed with enabled.'),
  schedule: z
    .string()
    .max(100)
    .regex(/^[0-5]?[0-9]( [0-9A-Za-z*,/-]+){4}$/)
    .default('0 4 * * *')
    .describe(
      'When, in UTC, as the five fields of cron; the minute is one number. A time that was missed is made up for once.',
    ),
  beforeDelete: z
    .boolean()
    .default(false)
    .describe('Delete a day only once a verified archive has it.'),
})

const id = z.string().min(1).max(256)

const legalHold = z
  .strictObject({
    name: z
      .string()
      .max(63)
      .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
      .describe('Tells the holds of this resource apart.'),
    traceId: z
      .string()
      .max(36)
      .regex(/^([0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$/)
      .optional()
      .describe('Holds this trace: a UUID or 32 hex digits.'),
    taskId: id.optional().describe('Holds every trace of this task.'),
    conversationId: id
      .optional()
      .describe(
        'Holds every trace of this conversation: its UUID, or the id that the client sent.',
      ),
    userId: id.optional().describe('Holds every trace of this user.'),
    reason: z.string().min(1).max(1_000).describe('Why it is held; kept when it is released.'),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: '[has(self.traceId), has(self.taskId), has(self.conversationId), has(self.userId)].exists_one(x, x)',
        message: 'expected exactly one of traceId, taskId, conversationId and userId',
      },
    ],
  })

const listByName = {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
}

/** What a RetentionPolicy declares. A section that is left out keeps what it is about for ever. */
export const retentionPolicySpec = z.strictObject({
  projectRef: projectRefField,
  ...sections,
  environments: z
    .array(environment)
    .max(50)
    .default([])
    .describe(
      'What differs in an environment. A section that it leaves out is as above, one without days is for ever.',
    )
    .meta(listByName),
  archive: archive
    .optional()
    .describe('When days are archived. Left out: not on a schedule, and not before they go.')
    .meta({
      'x-kubernetes-validations': [
        {
          rule: '!self.enabled || has(self.afterDays)',
          message: 'afterDays: expected it where archive is enabled',
        },
      ],
    }),
  legalHolds: z
    .array(legalHold)
    .max(100)
    .default([])
    .describe('What may not be deleted. A hold that leaves this list is released.')
    .meta(listByName),
  ...commonSpecFields,
})

export type RetentionPolicySpec = z.output<typeof retentionPolicySpec>

/** Stands for days that are left out: more than there may be. */
const forEver = 36_501

/** The days of a section, in CEL; `forEver` without any. */
function daysOf(section: string): string {
  return `(has(${section}) && has(${section}.days) ? ${section}.days : ${forEver})`
}

/** The days that an environment has of a section of its own. */
const ownDays = (section: string) => `(has(e.${section}.days) ? e.${section}.days : ${forEver})`

/** The days of a section in an environment, which are the policy's where it has none. */
const daysIn = (section: string) =>
  `(has(e.${section}) ? ${ownDays(section)} : ${daysOf(`self.spec.${section}`)})`

const everywhere = (rule: string) =>
  `!has(self.spec.environments) || self.spec.environments.all(e, ${rule})`

/**
 * What the service refuses too, told when the resource is applied: nothing is kept longer than what
 * it belongs to. Content and events that say nothing go with their observations.
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
    message: 'environments: observations.days: expected at most the days of traces there',
  },
  {
    rule: everywhere(`!has(e.events) || ${ownDays('events')} <= ${observationsIn()}`),
    message: 'environments: events.days: expected at most the days of observations there',
  },
  {
    rule: everywhere(
      `!has(e.content) || !has(e.content.days) || e.content.days <= ${observationsIn()}`,
    ),
    message: 'environments: content.days: expected at most the days of observations there',
  },
]

/** Observations of an environment that says nothing of them go with its traces at the latest. */
function observationsIn(): string {
  const [own, observations] = [ownDays('observations'), daysOf('self.spec.observations')]
  const traces = daysIn('traces')
  return `(has(e.observations) ? ${own} : ${observations} <= ${traces} ? ${observations} : ${traces})`
}

/** Kubernetes' integers are int64; past this a JSON number is no longer exact. */
const count_max = 2 ** 53 - 2
const count = z.int().min(0).max(count_max)
const instant = z.iso.datetime()

/** What the service says of a project's retention, as it was last read. */
export const retentionPolicyStatus = z.strictObject({
  projectId: z.uuid().max(36).optional().describe('The project that projectRef names.'),
  appliedGeneration: count
    .optional()
    .describe('The generation of the spec that the service was last seen to follow.'),
  policyVersion: count.optional().describe('The version of the policy in the service.'),
  lastRun: z
    .strictObject({
      id: z.uuid().max(36).describe('Its job_id in the service.'),
      endTime: instant.describe('When it ended.'),
      state: z.enum(['succeeded', 'failed']).describe('How it ended.'),
      rowsDeleted: count.describe('Rows that it deleted.'),
      bytesDeleted: count.describe('Bytes on disk that those took, about.'),
    })
    .optional()
    .describe('The run of retention that ended last.'),
  rowsDeleted: count.optional().describe('Rows that all runs on record have deleted.'),
  bytesDeleted: count.optional().describe('Bytes on disk that those took, about.'),
  nextRunTime: instant.optional().describe('When retention runs next.'),
  nextArchiveTime: instant.optional().describe('When days are next archived on the schedule.'),
  heldCount: count
    .optional()
    .describe('What is held in the project: by this resource and by anybody else, each once.'),
  holds: z
    .array(
      z.strictObject({
        name: z.string().max(63).describe('The name in legalHolds.'),
        holdId: z.uuid().max(36).describe('Its hold_id in the service.'),
      }),
    )
    .max(100)
    .optional()
    .describe('The legal holds of this resource.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  drift: z
    .strictObject({
      count: count.describe('Times that the service had been changed behind the resource’s back.'),
      lastTime: instant.optional().describe('When that was last put right.'),
    })
    .optional()
    .describe('Changes in the service that were put right.'),
})

export type RetentionPolicyStatus = z.output<typeof retentionPolicyStatus>
