import { z } from 'zod'
import { expected, isStorable } from '../../../../model/list-query.ts'
import { daysFault, daysIn, type RetentionRules } from './rules.ts'

const days_max = 36_500
const environments_max = 50
const environment_chars_max = 256

const expectedDays = expected(`a whole number of days from 1 to ${days_max}, or null for ever`)

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

const environmentDays = z.strictObject({
  content: described.content.optional(),
  observations: described.observations.optional(),
  traces: described.traces.optional(),
  events: described.events.optional(),
})

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
      .describe('What holds where no environment says otherwise.'),
    environments: z
      .array(
        z.strictObject({
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
  })
  .transform(({ days: { events, ...given }, ...body }): RetentionRules => {
    const all = { ...given, events: events === undefined ? given.observations : events }
    return { ...body, days: all, environments: body.environments as RetentionRules['environments'] }
  })
  .superRefine((rules, context) => {
    for (const { path, message } of faultsOf(rules)) {
      context.addIssue({ code: 'custom', path, message })
    }
  })

const shownDays = z.strictObject({
  content: days,
  observations: days,
  traces: days,
  events: days,
})

/** What GET and PUT answer, beside what a dry run finds. */
export const retentionFields = {
  project_id: z.uuid(),
  days: shownDays,
  environments: z.array(z.strictObject({ environment: z.string(), days: shownDays.partial() })),
  archive_before_delete: z.boolean(),
  version: z.int().describe('0 while the default holds, one more with each change.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable(),
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
