import type { TimelineRow } from '../storage/index.ts'
import { type Cut, type Draft, finishedTool, runDraft, toolDraft } from './timeline-drafts.ts'
import type { AskedTool, ToolJoins } from './tool-joins.ts'

export type ToolRuns = {
  /**
   * The entries of an observation of type tool: its result, and its tool call unless it answers one
   * that a model asked for. None for a part of another tool's run.
   */
  add(row: TimelineRow): Draft[]
}

/** Tells tools by their own observations, which come in the order of their starts. */
export function createToolRuns(joins: ToolJoins, cut: Cut): ToolRuns {
  const runs = new Map<string, ToolRun>()
  return {
    add(row) {
      const run = runOf(row)
      const { observation_id, trace_id, parent_observation_id, end_time: time } = row
      const outer = runs.get(`${trace_id} ${parent_observation_id}`)
      runs.set(`${trace_id} ${observation_id}`, run)
      if (outer !== undefined && isPartOf(outer, run)) return []
      const asked = joins.ran(run, { observation_id, trace_id, time })
      if (asked !== undefined) return [runDraft(row, asked, cut)]
      const own = ownCall(row, run, cut)
      return [finishedTool(toolDraft(row, 0, own)), runDraft(row, own, cut)]
    },
  }
}

type ToolRun = { tool_call_id: string; tool_name: string }

function runOf({ tool_calls, tool_results, name }: TimelineRow): ToolRun {
  const [call] = tool_calls
  return {
    tool_call_id: call?.id || tool_results[0]?.tool_call_id || '',
    tool_name: call?.name || name,
  }
}

/** Two instrumentations tell the same run, such as an agent's and that of the protocol below it. */
function isPartOf(outer: ToolRun, inner: ToolRun): boolean {
  return inner.tool_call_id === '' || outer.tool_call_id === ''
    ? inner.tool_name === outer.tool_name
    : inner.tool_call_id === outer.tool_call_id
}

/** The tool call of a run that nobody is known to have asked for. */
function ownCall(row: TimelineRow, run: ToolRun, cut: Cut): AskedTool {
  const { observation_id, trace_id, start_time, end_time } = row
  return {
    ...run,
    observation_id,
    trace_id,
    time: start_time,
    arguments: cut(row.tool_calls[0]?.arguments ?? ''),
    result: { observation_id, trace_id, time: end_time },
  }
}
