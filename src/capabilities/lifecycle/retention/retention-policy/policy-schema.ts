import { z } from 'zod'
import { expected, isStorable } from '../../../../model/list-query.ts'
import { managedByField } from '../../../../model/managed-by.ts'
import { record } from '../../../../model/named-schemas.ts'
import { holdFields, withTraceId } from '../legal-holds/legal-holds.ts'
import { maxScheduleChars, scheduleFault } from '../schedule/slots.ts'
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
    'Days to keep content. Content that expires before its observation is removed from it; `content_state` is then `expired`. null: as long as its observation.',
  ),
  observations: days.describe('Days to keep observations. null: for ever.'),
  traces: days.describe(
    'Days to keep traces, tasks and conversations after their last activity. null: for ever.',
  ),
  events: days.describe(
    'Days to keep events, links and correlations. null: for ever; left out: as long as observations.',
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
    .describe('Age from which days without a verified archive are archived, in days.'),
  schedule: z
    .string()
    .max(maxScheduleChars, { error: expected(`at most ${maxScheduleChars} characters`) })
    .default('0 4 * * *')
    .superRefine((schedule, context) => {
      const message = scheduleFault(schedule)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
    .describe(
      'Schedule in UTC, as five cron fields with a single number for the minute. Missed times are made up for once.',
    ),
})

const heldName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, { error: expected('a Kubernetes name (DNS label)') })

const maxDeclaredHolds = 100

/** Fields of the operator of a cluster, for the resource that declares the policy. */
const declaration = {
  managed_by: managedByField
    .optional()
    .describe(
      'Resource that declares the policy. Required for the operator of a cluster, refused for others.',
    ),
  take_over: z
    .boolean({ error: expected('true or false') })
    .default(false)
    .describe('Replace another resource that declares the policy and no longer exists.'),
  legal_holds: z
    .array(
      record('DeclaredLegalHoldRequest', { name: heldName, ...holdFields }).transform(withTraceId),
    )
    .max(maxDeclaredHolds, { error: expected(`at most ${maxDeclaredHolds} holds`) })
    .superRefine((holds, context) => {
      holds.forEach(({ name }, at) => {
        if (holds.findIndex((other) => other.name === name) === at) return
        const message = `got ${JSON.stringify(name)} twice, expected names that differ`
        context.addIssue({ code: 'custom', path: [at, 'name'], message })
      })
    })
    .optional()
    .describe('All legal holds that the resource declares; its other holds are released.'),
}

/**
 * Body of PUT: the whole policy. Days default to null, those of events to those of observations,
 * and those of an environment to `days`.
 */
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
      .describe('Days for environments without an entry of their own.'),
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
      .describe('Days by environment; fields left out default to `days`.'),
    archive_before_delete: z
      .boolean({ error: expected('true or false') })
      .default(false)
      .describe('Delete a day only after a verified archive contains it.'),
    archive: archiveSchedule
      .nullable()
      .default(null)
      .describe('Schedule that archives days, independent of their deletion. null: none.'),
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

/** A valid body. */
export type RetentionBody = z.output<typeof retentionBody>

const shownDays = record('RetentionDays', {
  content: days,
  observations: days,
  traces: days,
  events: days,
})

/** Fields of a policy in replies. */
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
  version: z.int().describe('Version, incremented with each change; 0 for the default policy.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable(),
  archive: z
    .strictObject({ enabled: z.boolean(), after_days: z.int(), schedule: z.string() })
    .meta({ id: 'ArchiveSchedule' })
    .nullable(),
  managed_by: managedByField
    .nullable()
    .describe('Kubernetes resource that declares the policy; only that resource may change it.'),
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
    // A fault of the default is reported only once, for the default.
    const ownFault =
      fault ??
      daysFault(daysIn({ ...rules, environments: [{ environment, days: own }] }, environment))
    if (ownFault === undefined || ownFault === fault) return
    faults.push({ path: [...path, 'days', ownFault.field], message: ownFault.message })
  })
  return faults
}
