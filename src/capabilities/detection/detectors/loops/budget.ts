import { z } from 'zod'
import type { Detector } from '../../contract.ts'
import { placeOfStep, placesOfSteps } from '../../facts/index.ts'

const settings = z.strictObject({
  steps_max: z
    .int()
    .min(1)
    .max(100_000)
    .default(100)
    .describe(
      'Maximum steps of a task without a finding. Source: agents stop themselves ' +
        'at 100 (OpenHands, SWE-agent) to 500 steps; few passing runs take more than 100.',
    ),
})

/** Finds tasks with more steps than the project's limit: informational only. */
export const budget: Detector<typeof settings> = {
  name: 'budget',
  kind: 'loop',
  types: ['budget'],
  version: 1,
  needs: [],
  settings,
  detect(run, { steps_max }) {
    const over = run.steps.slice(steps_max)
    const [first] = over
    const last = over.at(-1)
    if (first === undefined || last === undefined) return []
    const place = placeOfStep(run, first.index)
    return [
      {
        kind: 'loop',
        type: 'budget',
        severity: 'info',
        anchor: 'steps',
        summary: `The task took ${run.steps.length} steps; the limit is ${steps_max}.`,
        start_step: first.index,
        end_step: last.index,
        period: null,
        repeats: null,
        places: place === undefined ? [] : placesOfSteps(run, [first.index]),
        wasted_tokens: 0,
        wasted_nano_dollars: 0n,
        recovered: false,
        confidence: 1,
        evidence: { steps: run.steps.length, steps_max },
      },
    ]
  },
}
