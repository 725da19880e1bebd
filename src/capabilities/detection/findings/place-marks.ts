import { z } from 'zod'
import { type Place, spanKey } from '../reconstruction/index.ts'
import { type Finding, toStepNumber } from './finding.ts'

/** Fields by which entries, tool calls and nodes name their step and their findings. */
export const markFields = {
  step: z.int().nonnegative().nullable().describe('Index of its step in the task, from 0.'),
  step_number: z.int().positive().nullable().describe('The same step, counted from 1.'),
  findings: z.array(z.uuid()).describe('Ids of the findings that name it, without withdrawn ones.'),
}

/** The step that findings give an observation as their start, and the ids of all that name it. */
type PlaceMarks = { step: number | null; step_number: number | null; findings: string[] }
export type MarksAt = (place: Place) => PlaceMarks

/** Indexes findings by the observations that they name; withdrawn ones are left out. */
export function indexMarks(
  found: readonly Pick<Finding, 'finding_id' | 'state' | 'start_step' | 'places'>[],
): MarksAt {
  const byPlace = new Map<string, { step: number | null; ids: Set<string> }>()
  for (const { finding_id, state, start_step, places } of found) {
    if (state === 'withdrawn') continue
    for (const [at, place] of places.entries()) {
      const known = byPlace.get(spanKey(place)) ?? { step: null, ids: new Set() }
      if (at === 0) known.step ??= start_step
      known.ids.add(finding_id)
      byPlace.set(spanKey(place), known)
    }
  }
  return (place) => {
    const { step = null, ids = [] } = byPlace.get(spanKey(place)) ?? {}
    return { step, step_number: toStepNumber(step), findings: [...ids] }
  }
}
