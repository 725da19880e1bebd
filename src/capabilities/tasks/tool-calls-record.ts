import { z } from 'zod'
import { isoFromNs } from '../../kernel/time.ts'
import { record } from '../../model/named-schemas.ts'
import { traceIdSchema } from '../../model/observation.ts'
import type { TaskRun, ToolUse } from '../detection/reconstruction/index.ts'
import { instantSchema } from './task-record.ts'
import { comparePositions, type TimelinePosition } from './timeline-position.ts'

const count = z.int().nonnegative()
const ms = z.number().nonnegative()

/** Characters of arguments and results in an answer. */
export const toolText_chars_max = 4_000

const placeSchema = record('ObservationReference', {
  trace_id: traceIdSchema,
  observation_id: z.string(),
})

const textSchema = z
  .strictObject({
    text: z.string(),
    is_cut: z.boolean().describe('The text is longer; the observation has it all.'),
  })
  .meta({ id: 'CutText' })
  .nullable()

/** One use of a tool, with what it answered. */
export const toolCallSchema = record('ToolCall', {
  tool_call_id: z.string().describe('As the model or the client named it; empty when nobody did.'),
  name: z.string().describe('The tool; empty for a result whose call was not seen.'),
  arguments: textSchema.describe('What the model wrote; null when nobody tells.'),
  arguments_valid: z.boolean().describe('`false`: the arguments are text that is no JSON.'),
  answered: z.boolean().describe('A result came, or the tool is known to have run.'),
  result: textSchema.describe('null: no result came, or nobody tells what it was.'),
  error: z
    .enum(['error', 'outage'])
    .nullable()
    .describe(
      '`outage`: something the tool needs did not answer (429, 5xx, time-outs, connections); ' +
        '`error`: it failed otherwise; null: it went well, or nobody can tell.',
    ),
  latency_ms: ms
    .nullable()
    .describe('From the end of the call that asked, or the start of the tool’s own observation.'),
  orphan: z
    .enum(['call', 'result'])
    .nullable()
    .describe('`call`: the run went on without a result; `result`: nobody asked for it.'),
  step: count.nullable().describe('The step that asked, counted from 0; null when not seen.'),
  thread: count.describe('The line of history it belongs to: 0, and more with branches.'),
  agent_name: z.string().describe('The agent of that line; empty when it has no name.'),
  asked_at: instantSchema,
  answered_at: instantSchema.nullable(),
  asked_by: placeSchema.describe('The observation that asked.'),
  answered_by: placeSchema
    .nullable()
    .describe('The tool’s own observation, else the model call that first brought the result.'),
})

/** How one tool did in a task. */
export const toolSumSchema = record('ToolUsage', {
  name: z.string(),
  calls: count,
  answered: count,
  errors: count.describe('Failed, outages aside.'),
  outages: count,
  orphans: count.describe('Calls without a result, and results without a call.'),
  error_rate: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Failed ones and outages among those answered; null when none was.'),
  latency_ms: ms.nullable().describe('The median of those whose latency is known.'),
})

type PlacedUse = { use: ToolUse; position: TimelinePosition }

/**
 * Puts the uses of tools in the order asked, each with its position, which stays when earlier ones
 * are recorded late. It is the order of the timeline's tool calls.
 */
export function usesInOrder(tools: readonly ToolUse[]): PlacedUse[] {
  const slots = new Map<string, number>()
  const placed = tools.map((use) => {
    const { observation_id: id } = use.asked_by
    const slot = slots.get(id) ?? 0
    slots.set(id, slot + 1)
    return { use, position: { time: use.asked_at, phase: 1, start: use.asked_from, id, slot } }
  })
  return placed.sort((a, b) => comparePositions(a.position, b.position))
}

/** Returns all tool calls of a run as the API shows them, in order. */
export function toolCallsOf(run: TaskRun): z.input<typeof toolCallSchema>[] {
  return usesInOrder(run.tools).map(({ use }) => shownToolCall(run, use))
}

/** A tool's use as the API shows it. */
export function shownToolCall(run: TaskRun, use: ToolUse): z.input<typeof toolCallSchema> {
  return {
    tool_call_id: use.tool_call_id,
    name: use.name,
    arguments: shownText(use.arguments),
    arguments_valid: !use.arguments_broken,
    answered: use.is_answered,
    result: shownText(use.result),
    error: use.fault,
    latency_ms: use.latency_ms,
    orphan: use.orphan,
    step: use.step,
    thread: use.thread,
    agent_name: run.threads[use.thread]?.agent_name ?? '',
    asked_at: isoFromNs(use.asked_at),
    answered_at: use.answered_at === null ? null : isoFromNs(use.answered_at),
    asked_by: use.asked_by,
    answered_by: use.answered_by,
  }
}

function shownText(text: string | null): z.input<typeof textSchema> {
  if (text === null) return null
  const is_cut = text.length > toolText_chars_max
  return { text: is_cut ? text.slice(0, toolText_chars_max).toWellFormed() : text, is_cut }
}

/** Sums by tool, the most used ones first; at most `tools_max`. */
export function toolSums(tools: readonly ToolUse[]): z.input<typeof toolSumSchema>[] {
  const sums = [...Map.groupBy(tools, ({ name }) => name)].map(([name, uses]) => sumOf(name, uses))
  const byUse = sums.toSorted((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1))
  return byUse.slice(0, toolSums_max)
}

export const toolSums_max = 200

function sumOf(name: string, uses: readonly ToolUse[]): z.input<typeof toolSumSchema> {
  const times = (is: (use: ToolUse) => boolean) => uses.filter(is).length
  const answered = times(({ is_answered }) => is_answered)
  const errors = times(({ fault }) => fault === 'error')
  const outages = times(({ fault }) => fault === 'outage')
  return {
    name,
    calls: uses.length,
    answered,
    errors,
    outages,
    orphans: times(({ orphan }) => orphan !== null),
    error_rate: answered === 0 ? null : (errors + outages) / answered,
    latency_ms: medianOf(uses.flatMap(({ latency_ms }) => latency_ms ?? [])),
  }
}

function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}
