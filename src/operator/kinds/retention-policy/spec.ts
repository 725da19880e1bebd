import { z } from 'zod'
import { commonSpecFields, projectRefField } from '../../common-spec.ts'

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
