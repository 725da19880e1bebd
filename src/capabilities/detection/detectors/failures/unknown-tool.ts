import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  countTimes,
  createCourse,
  isRecovered,
  placesOfUses,
  streaksOf,
  toFailureDraft,
  wasteOfSteps,
} from '../../facts/index.ts'
import type { TaskRun, Thread, ToolUse } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds calls of tools that no request of the thread declared. A call that was answered well is
 * informational: the client knows the tool.
 */
export const unknownTool: Detector<typeof settings> = {
  name: 'unknown_tool',
  kind: 'failure',
  types: ['unknown_tool'],
  version: 1,
  needs: [],
  settings,
  detect(run, _settings, budget) {
    const course = createCourse(run)
    return run.threads.flatMap((thread) => {
      const declared = collectDeclared(run, thread, (units) => budget.spend(units))
      if (declared.size === 0) return []
      const uses = course.usesOf(thread)
      budget.spend(uses.length)
      const streaks = streaksOf(uses, (use) => (isUnknown(run, use, declared) ? use.name : null))
      return streaks.map(({ key, items }) => toFinding(run, { name: key, uses: items, declared }))
    })
  },
}

/** Returns the names declared by any request of the thread, because requests can differ. */
function collectDeclared(
  run: TaskRun,
  thread: Thread,
  spend: (units: number) => void,
): Set<string> {
  const names = new Set<string>()
  let known: unknown
  for (const index of thread.calls) {
    const tools = run.calls[index]?.tools
    if (tools === undefined || tools === known) continue
    known = tools
    spend(tools.length)
    for (const { name } of tools) names.add(name)
  }
  return names
}

/** Tells whether the tool is undeclared; the request must have listed its tools. */
function isUnknown(run: TaskRun, use: ToolUse, declared: ReadonlySet<string>): boolean {
  if (use.step === null || use.name === '' || declared.has(use.name)) return false
  return run.calls[run.steps[use.step]?.call ?? -1]?.tools !== undefined
}

const maxNamesShown = 20

type Unknown = { name: string; uses: readonly ToolUse[]; declared: ReadonlySet<string> }

function toFinding(run: TaskRun, { name, uses, declared }: Unknown): FindingDraft {
  const steps = uses.flatMap(({ step }) => step ?? [])
  const end_step = steps.at(-1) ?? null
  const last = uses.at(-1)
  const isAccepted = last?.is_answered === true && last.fault === null
  const indexes = uses.map(({ index }) => index)
  const recovered = !isAccepted && end_step !== null && isRecovered(run, end_step, indexes)
  const places = placesOfUses(uses)
  return toFailureDraft({
    type: 'unknown_tool',
    severity: isAccepted ? 'info' : 'medium',
    recovered,
    began: places[0] ?? { trace_id: '', observation_id: '' },
    topic: name,
    summary: `The model called “${name}” ${countTimes(uses.length)}, a tool that was not declared.`,
    start_step: steps[0] ?? null,
    end_step,
    places,
    repeats: uses.length,
    waste: wasteOfSteps(run, isAccepted ? [] : steps),
    evidence: {
      tool: name,
      declared: [...declared].slice(0, maxNamesShown),
      answered_well: isAccepted,
    },
  })
}
