import { z } from 'zod'
import type { Detector, FindingDraft, WorkBudget } from '../../contract.ts'
import {
  countTimes,
  createCourse,
  cutText,
  findViolation,
  isRecovered,
  placesOfUses,
  streaksOf,
  toFailureDraft,
  type Violation,
  wasteOfSteps,
} from '../../facts/index.ts'
import {
  type DeclaredTool,
  type ModelCall,
  type TaskRun,
  type ToolUse,
  text_chars_max,
} from '../../reconstruction/index.ts'

const settings = z.strictObject({
  check_schemas: z
    .boolean()
    .default(true)
    .describe('Whether arguments are validated against the JSON Schema that the request declared.'),
})

/**
 * Finds arguments that are not JSON or violate the declared schema. Consecutive ones of a tool are
 * one finding; arguments that the tool accepted anyway are informational.
 */
export const toolArguments: Detector<typeof settings> = {
  name: 'tool_arguments',
  kind: 'failure',
  types: ['arguments_not_json', 'arguments_invalid'],
  version: 1,
  needs: ['arguments'],
  settings,
  detect(run, { check_schemas }, budget) {
    const course = createCourse(run)
    return run.threads.flatMap((thread) => {
      const faults = new Map<ToolUse, Fault>()
      const uses = course.usesOf(thread)
      for (const use of uses) {
        const fault = faultOf(run, use, { check_schemas, budget })
        if (fault !== undefined) faults.set(use, fault)
      }
      return [...groupByName(uses)].flatMap((own) =>
        streaksOf(own, (use) => faults.get(use)?.type ?? null).flatMap(({ items }) =>
          toFindings(run, { uses: items, faults, own }),
        ),
      )
    })
  },
}

type Fault = {
  type: 'arguments_not_json' | 'arguments_invalid'
  violation: Violation | undefined
}

function groupByName(uses: readonly ToolUse[]): Iterable<ToolUse[]> {
  return Map.groupBy(uses, ({ name }) => name).values()
}

type CheckOptions = { check_schemas: boolean; budget: WorkBudget }

function faultOf(
  run: TaskRun,
  use: ToolUse,
  { check_schemas, budget }: CheckOptions,
): Fault | undefined {
  const text = use.arguments?.trim() ?? ''
  budget.spend(1)
  if (text === '' || (use.arguments?.length ?? 0) >= text_chars_max) return undefined
  const call = run.calls[run.steps[use.step ?? -1]?.call ?? -1]
  const tool = findDeclared(call, use.name)
  if (use.arguments_broken) {
    return isMeantAsJson(use, text, tool)
      ? { type: 'arguments_not_json', violation: undefined }
      : undefined
  }
  if (!check_schemas || tool?.schema === undefined) return undefined
  budget.spend(1 + Math.ceil(text.length / chars_per_unit))
  const violation = checkArguments(use, tool.schema, text)
  return violation && { type: 'arguments_invalid', violation }
}

/** Characters whose validation costs about one comparison of steps. */
const chars_per_unit = 256

function findDeclared(call: ModelCall | undefined, name: string): DeclaredTool | undefined {
  return call?.tools?.find((tool) => tool.name === name)
}

/**
 * Tells whether arguments were meant as JSON. Some tools take free text and have no schema; some
 * instrumentations write arguments in Python syntax, and those calls succeeded.
 */
function isMeantAsJson(use: ToolUse, text: string, tool: DeclaredTool | undefined): boolean {
  const hasSucceeded = use.is_answered && use.fault === null
  if (text.startsWith("{'")) return !hasSucceeded
  if (text.startsWith('{') || text.startsWith('[') || tool?.schema !== undefined) return true
  return !hasSucceeded && text.includes('{')
}

/** Checked violations by use: neither the use nor its call's tools change. */
const known = new WeakMap<ToolUse, { schema: object; violation: Violation | undefined }>()

function checkArguments(
  use: ToolUse,
  schema: Record<string, unknown>,
  text: string,
): Violation | undefined {
  const before = known.get(use)
  if (before?.schema === schema) return before.violation
  const value = parseArguments(text)
  const violation = value && findViolation(schema, value.json)
  known.set(use, { schema, violation })
  return violation
}

/** undefined for text that was cut when it was kept. */
function parseArguments(text: string): { json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) }
  } catch {
    return undefined
  }
}

type FaultyUses = {
  uses: readonly ToolUse[]
  faults: ReadonlyMap<ToolUse, Fault>
  /** All uses of the tool in the thread. */
  own: readonly ToolUse[]
}

function toFindings(run: TaskRun, { uses, faults, own }: FaultyUses): FindingDraft[] {
  const [first] = uses
  const last = uses.at(-1)
  const fault = first && faults.get(first)
  if (first === undefined || last === undefined || fault === undefined) return []
  const steps = uses.flatMap(({ step }) => step ?? [])
  const end_step = steps.at(-1) ?? null
  const isAccepted = uses.every((use) => use.is_answered && use.fault === null)
  const places = placesOfUses(uses)
  const { violation } = fault
  const what =
    violation === undefined
      ? 'that are not JSON'
      : `that its schema forbids (${violation.at} ${violation.expected})`
  const finding = toFailureDraft({
    type: fault.type,
    severity: isAccepted ? 'info' : 'medium',
    recovered: !isAccepted && isRecoveredLater(run, { uses, faults, own }, end_step),
    began: places[0] ?? { trace_id: '', observation_id: '' },
    topic: first.name,
    summary: `The model called “${first.name}” ${countTimes(uses.length)} with arguments ${what}.`,
    start_step: steps[0] ?? null,
    end_step,
    places,
    repeats: uses.length,
    waste: wasteOfSteps(run, isAccepted ? [] : steps),
    evidence: {
      tool: first.name,
      arguments: cutText(first.arguments ?? ''),
      result: cutText(last.result ?? ''),
      taken_anyway: isAccepted,
      ...(violation === undefined ? {} : { violation }),
    },
  })
  return [finding]
}

/**
 * Tells whether a later call of the tool had valid arguments and succeeded, or the thread succeeded
 * without it.
 */
function isRecoveredLater(
  run: TaskRun,
  { uses, faults, own }: FaultyUses,
  end_step: number | null,
): boolean {
  const last = uses.at(-1)?.index ?? -1
  const isFixed = own.some(
    (use) => use.index > last && !faults.has(use) && use.is_answered && use.fault === null,
  )
  if (isFixed || end_step === null) return isFixed
  return isRecovered(
    run,
    end_step,
    uses.map(({ index }) => index),
  )
}
