import { z } from 'zod'
import { integerParameter, wordsParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { readScope } from '../contract.ts'
import { computeFunnel, type StepTime } from './compute-funnel.ts'
import { type FunnelStep, funnelStepNames, funnelSteps, stepOfEvent } from './steps.ts'
import {
  type FirstStepsDeps,
  findFirstSteps,
  maxSubjectEvents,
  type SubjectEvent,
  type SubjectKind,
  selectSubjectEvents,
  subjectKinds,
} from './store.ts'

const count = z.int().nonnegative()
const share = z.number().min(0).max(1).nullable()
const seconds = z.number().nonnegative().nullable()
const step = z.enum(funnelStepNames).meta({ id: 'OnboardingStep' })

const funnelReply = record('OnboardingFunnel', {
  subjects: count.describe('Projects, installations and people in the funnel.'),
  subject_kinds: z.array(z.enum(subjectKinds).meta({ id: 'OnboardingSubjectKind' })),
  weeks: z
    .int()
    .describe(
      'Number of weeks, the current one included. Subjects count by the week of their first step.',
    ),
  steps: z.array(
    record('OnboardingFunnelStep', {
      step,
      meaning: z.string(),
      events: z.array(z.string()).describe('Names of posted events that count as the step.'),
      done: count.describe('Subjects that took the step itself.'),
      reached: count.describe('Subjects that took the step or a later one.'),
      of_all: share.describe('`reached` as a share of all subjects.'),
      of_previous: share.describe('`reached` as a share of `reached` of the step before.'),
      timed: count.describe('Subjects with a time since the nearest earlier step.'),
      median_s: seconds.describe('Median of those times, by nearest rank, in seconds.'),
      p90_s: seconds.describe('90th percentile of those times, by nearest rank, in seconds.'),
      out_of_order: count.describe('Subjects that took the step before the nearest earlier one.'),
    }),
  ),
  cohorts: z
    .array(
      record('OnboardingCohort', {
        week: z.iso.date().describe('Monday of the week of the first step, in UTC.'),
        subjects: count,
        reached: z.array(record('OnboardingCohortStep', { step, subjects: count })),
      }),
    )
    .describe('Subjects by the week of their first step, oldest first.'),
  unknown_steps: z
    .array(step)
    .describe(
      'Steps of the project for which a store gave no answer in time. They count as not taken.',
    ),
  truncated: z
    .boolean()
    .describe(
      `Whether more than ${maxSubjectEvents} first steps were found. Then only the newest count.`,
    ),
})

const query = z.strictObject({
  subjects: wordsParameter(
    subjectKinds,
    'Kinds of subjects, separated by commas: `project` (from stored data), `installation` and `user` (from posted events, keys and rules). Default: all.',
  ),
  weeks: integerParameter({
    minimum: 1,
    maximum: 53,
    default: 12,
    description: 'Only subjects whose first step was in these many weeks up to now, 1–53.',
  }),
})

const week_ms = 7 * 86_400_000

/**
 * GET /api/v1/onboarding/funnel: onboarding steps of the project, its installations and its people.
 */
export function getOnboardingFunnel(deps: FirstStepsDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/onboarding/funnel',
    id: 'getOnboardingFunnel',
    summary: 'Funnel of onboarding steps, with times between them',
    auth: 'jwt_or_key',
    scope: readScope,
    query,
    reply: funnelReply,
    errors: ['store_unavailable'],
    handle: async ({ query: { subjects, weeks }, caller: { project_id } }) => {
      const kinds = subjects ?? subjectKinds
      const { times, unknown_steps } = await projectTimes(deps, project_id, kinds)
      const events = await selectSubjectEvents(deps.db, { project_id, kinds })
      const truncated = events.length > maxSubjectEvents
      const all = [...times, ...events.slice(0, maxSubjectEvents).flatMap(toStepTime)]
      const recent = since(all, deps.clock.now_ms() - weeks * week_ms)
      const { rows, ...funnel } = computeFunnel(funnelStepNames, recent)
      return {
        ...funnel,
        subject_kinds: [...new Set(kinds)],
        weeks,
        unknown_steps,
        truncated,
        steps: rows.map((row) => ({ ...row, ...textsOf(row.step) })),
      }
    },
  })
}

function textsOf(name: FunnelStep): { meaning: string; events: string[] } {
  const { meaning, events } = funnelSteps[name]
  return { meaning, events: [...events] }
}

/** Returns the steps of the project itself, from stored data. */
async function projectTimes(
  deps: FirstStepsDeps,
  project_id: string,
  kinds: readonly SubjectKind[],
): Promise<{ times: StepTime<FunnelStep>[]; unknown_steps: FunnelStep[] }> {
  if (!kinds.includes('project')) return { times: [], unknown_steps: [] }
  const first = await findFirstSteps(deps, project_id)
  const times = funnelStepNames.flatMap((name) => {
    const at = first[name]
    if (at === null || at === 'unknown') return []
    return { subject: 'project', step: name, at_ms: Date.parse(at) }
  })
  return { times, unknown_steps: funnelStepNames.filter((name) => first[name] === 'unknown') }
}

function toStepTime({ subject, name, at }: SubjectEvent): StepTime<FunnelStep>[] {
  const taken = stepOfEvent(name)
  return taken === undefined ? [] : [{ subject, step: taken, at_ms: Date.parse(at) }]
}

/** Keeps the times of the subjects whose first step was at or after an instant. */
function since(
  times: readonly StepTime<FunnelStep>[],
  from_ms: number,
): readonly StepTime<FunnelStep>[] {
  const early = new Set(times.filter(({ at_ms }) => at_ms < from_ms).map(({ subject }) => subject))
  return times.filter(({ subject }) => !early.has(subject))
}
