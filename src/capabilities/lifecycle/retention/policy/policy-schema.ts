import { z } from 'zod'
import { expected, isStorable } from '../../../../model/list-query.ts'
import { managedByField } from '../../../../model/managed-by.ts'
import { record } from '../../../../model/named-schemas.ts'
import { holdFields, withTraceId } from '../holds/hold-fields.ts'
import { scheduleChars_max, scheduleFault } from '../schedule/cron.ts'
import { daysFault, daysIn, type RetentionRules } from './rules.ts'

const days_max = 36_500
const environments_max = 50
const environment_chars_max = 256

const expectedDays = expected(`a whole number of days from 1 to ${days_max}, or null for ever`)

const expectedWholeDays = expected(`a whole number of days from 1 to ${days_max}`)

const days = z
  .int({ error: expectedDays })
  .min(1, { error: expectedDays })
  .max(days_max, { error: expectedDays })
  .nullable()

const described = {
  content: days.describe(
    'What was said. When it is over before the observations are, they stay without it: `content_state` is `expired`. null: as long as its observation.',
  ),
  observations: days.describe('Observations. null: for ever.'),
  traces: days.describe(
    'Records of traces, tasks and conversations, by their last activity. null: for ever.',
  ),
  events: days.describe(
    'Events, links and correlations. null: for ever; left out: as long as observations.',
  ),
}

const environmentDays = record('EnvironmentRetentionDaysRequest', {
  content: described.content.optional(),
  observations: described.observations.optional(),
  traces: described.traces.optional(),
  events: described.events.optional(),
})

const archiveSchedule = record('ArchiveScheduleRequest', {
  enabled: z.boolean({ error: expected('true or false') }).default(true),
  after_days: z
    .int({ error: expectedWholeDays })
    .min(1, { error: expectedWholeDays })
    .max(days_max, { error: expectedWholeDays })
    .describe('Days that are older, and that no verified archive has yet, are archived.'),
  schedule: z
    .string()
    .max(scheduleChars_max, { error: expected(`at most ${scheduleChars_max} characters`) })
    .default('0 4 * * *')
    .superRefine((schedule, context) => {
      const message = scheduleFault(schedule)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
    .describe(
      'When, in UTC: five fields of cron, the minute one number. A time that was missed is made up for once.',
    ),
})

const heldName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, { error: expected('a name as Kubernetes has them') })

const declaredHolds_max = 100

/** What the operator of a cluster says besides, for the resource that declares the policy. */
const declaration = {
  managed_by: managedByField
    .optional()
    .describe(
      'The resource that declares it. Only the operator of a cluster may say it, and must.',
    ),
  take_over: z
    .boolean({ error: expected('true or false') })
    .default(false)
    .describe('Also when another resource declares it, which is no more.'),
  legal_holds: z
    .array(
      record('DeclaredLegalHoldRequest', { name: heldName, ...holdFields }).transform(withTraceId),
    )
    .max(declaredHolds_max, { error: expected(`at most ${declaredHolds_max} holds`) })
    .superRefine((holds, context) => {
      holds.forEach(({ name }, at) => {
        if (holds.findIndex((other) => other.name === name) === at) return
        const message = `got ${JSON.stringify(name)} twice, expected names that differ`
        context.addIssue({ code: 'custom', path: [at, 'name'], message })
      })
    })
    .optional()
    .describe('The legal holds that the resource declares: all of them, others are released.'),
}

/** What PUT takes: the whole policy. Days that are left out are null (those of events as of observations), in an environment as in `days`. */
export const retentionBody = z
  .strictObject({
    days: z
      .strictObject({
        content: described.content.default(null),
        observations: described.observations.default(null),
        traces: described.traces.default(null),
        events: described.events.optional(),
      })
      .meta({ id: 'RetentionDaysRequest' })
      .describe('What holds where no environment says otherwise.'),
    environments: z
      .array(
        record('EnvironmentRetentionRequest', {
          environment: z
            .string()
            .min(1, { error: expected('1 to 256 characters') })
            .max(environment_chars_max, { error: expected('at most 256 characters') })
            .refine(isStorable, { error: expected('text without U+0000') }),
          days: environmentDays,
        }),
      )
      .max(environments_max, {
        error: ({ input }) =>
          `got ${Array.isArray(input) ? input.length : 0} environments, expected at most ${environments_max}`,
      })
      .default([])
      .describe('What differs in an environment; what it leaves out is as in `days`.'),
    archive_before_delete: z
      .boolean({ error: expected('true or false') })
      .default(false)
      .describe('Delete a day only once a verified archive has it.'),
    archive: archiveSchedule
      .nullable()
      .default(null)
      .describe('Archives days on a schedule, whether they go or not. null: on none.'),
    ...declaration,
  })
  .meta({ id: 'RetentionPolicyRequest' })
  .transform(({ days: { events, ...given }, ...body }) => {
    const all = { ...given, events: events === undefined ? given.observations : events }
    return { ...body, days: all, environments: body.environments as RetentionRules['environments'] }
  })
  .superRefine((rules, context) => {
    for (const { path, message } of faultsOf(rules)) {
      context.addIssue({ code: 'custom', path, message })
    }
  })

/** A body that passed. */
export type RetentionBody = z.output<typeof retentionBody>

const shownDays = record('RetentionDays', {
  content: days,
  observations: days,
  traces: days,
  events: days,
})

/** What stands in a policy. */
export const retentionFields = {
  project_id: z.uuid(),
  days: shownDays,
  environments: z.array(
    record('EnvironmentRetention', {
      environment: z.string(),
      days: shownDays.partial().meta({ id: 'EnvironmentRetentionDays' }),
    }),
  ),
  archive_before_delete: z.boolean(),
  version: z.int().describe('0 while the default holds, one more with each change.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable(),
  archive: z
    .strictObject({ enabled: z.boolean(), after_days: z.int(), schedule: z.string() })
    .meta({ id: 'ArchiveSchedule' })
    .nullable(),
  managed_by: managedByField
    .nullable()
    .describe('The resource in Kubernetes that declares the policy, and alone may change it.'),
}

type PathFault = { path: (string | number)[]; message: string }

function faultsOf(rules: RetentionRules): PathFault[] {
  const faults: PathFault[] = []
  const fault = daysFault(rules.days)
  if (fault !== undefined) faults.push({ path: ['days', fault.field], message: fault.message })
  const names = new Set<string>()
  rules.environments.forEach(({ environment, days: own }, at) => {
    const path = ['environments', at]
    if (names.has(environment)) {
      const message = `got ${JSON.stringify(environment)} twice, expected names that differ`
      faults.push({ path: [...path, 'environment'], message })
    }
    names.add(environment)
    // What the default has wrong is told once, there.
    const found =
      fault ??
      daysFault(daysIn({ ...rules, environments: [{ environment, days: own }] }, environment))
    if (found === undefined || found === fault) return
    faults.push({ path: [...path, 'days', found.field], message: found.message })
  })
  return faults
}
