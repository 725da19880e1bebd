import type {
  EntryReply,
  FindingReply,
  ModelCallReply,
  ToolCallReply,
  ToolResultReply,
} from './task-replies.ts'

/** A model call with the tools that it asked for, or another entry of the timeline. */
export type TaskItem = {
  /** Number of the step, from 0; null for what is not an answer of the model. */
  step: number | null
  time: string
  call?: ModelCallReply
  uses: readonly ToolUse[]
  other?: Exclude<EntryReply, ModelCallReply | ToolCallReply>
}

/** A tool that a step asked for, with its result if it came. */
export type ToolUse = { call: ToolCallReply; result: ToolResultReply | undefined }

/**
 * Joins the entries of a timeline: each model call has its tool calls, and each tool call its result.
 * A result without its call, an operation and a state change are items of their own. Records that
 * another one counts for are left out. Findings say which call is which step.
 */
export function joinEntries(
  entries: readonly EntryReply[],
  findings: readonly FindingReply[],
): TaskItem[] {
  const calls = entries.filter((entry) => entry.role === 'model_call')
  const tools = joinTools(entries)
  const askers = new Set(calls.map(keyOf))
  const items = entries.flatMap((entry): UnnumberedItem[] => {
    const { time } = entry
    if (entry.role === 'model_call') {
      const uses = tools.byAsker.get(keyOf(entry)) ?? []
      return entry.counted_with === '' ? [{ time, call: entry, uses }] : []
    }
    if (entry.role === 'tool_call') {
      const use = tools.byCall.get(entry)
      return askers.has(keyOf(entry)) || use === undefined ? [] : [{ time, uses: [use] }]
    }
    const isJoined = entry.role === 'tool_result' && tools.joined.has(entry)
    return isJoined ? [] : [{ time, uses: [], other: entry }]
  })
  return numberSteps(items, findings)
}

type UnnumberedItem = Omit<TaskItem, 'step'>

type JoinedTools = {
  byCall: ReadonlyMap<ToolCallReply, ToolUse>
  /** By the key of the observation that asked. */
  byAsker: ReadonlyMap<string, ToolUse[]>
  /** Results that have their call. */
  joined: ReadonlySet<ToolResultReply>
}

function joinTools(entries: readonly EntryReply[]): JoinedTools {
  const byCall = new Map<ToolCallReply, ToolUse>()
  const byAsker = new Map<string, ToolUse[]>()
  for (const entry of entries) {
    if (entry.role !== 'tool_call') continue
    const use: ToolUse = { call: entry, result: undefined }
    byCall.set(entry, use)
    byAsker.set(keyOf(entry), [...(byAsker.get(keyOf(entry)) ?? []), use])
  }
  const joined = new Set<ToolResultReply>()
  for (const entry of entries) {
    if (entry.role !== 'tool_result') continue
    const use = openUse(byAsker, entry)
    if (use === undefined) continue
    use.result = entry
    joined.add(entry)
  }
  return { byCall, byAsker, joined }
}

function openUse(
  byAsker: ReadonlyMap<string, ToolUse[]>,
  { call_trace_id, call_observation_id, tool_call_id }: ToolResultReply,
): ToolUse | undefined {
  if (call_trace_id === null || call_observation_id === null) return undefined
  const key = keyOf({ trace_id: call_trace_id, observation_id: call_observation_id })
  return byAsker
    .get(key)
    ?.find(({ call, result }) => call.tool_call_id === tool_call_id && result === undefined)
}

/** Returns the key of an observation. */
export function keyOf(place: { trace_id: string; observation_id: string }): string {
  return JSON.stringify([place.trace_id, place.observation_id])
}

/**
 * Numbers the answers of the model in order. A call that a finding names by its step has that number,
 * and those after it continue from there; a call without an answer has no number.
 */
function numberSteps(
  items: readonly UnnumberedItem[],
  findings: readonly FindingReply[],
): TaskItem[] {
  const known = knownSteps(findings)
  let next = 0
  return items.map((item) => {
    const { call, uses } = item
    const named = call === undefined ? undefined : known.get(keyOf(call))
    const isAnswer = call?.type === 'generation' && (call.status === 'ok' || uses.length > 0)
    if (named === undefined && !isAnswer) return { ...item, step: null }
    const step = named ?? next
    next = step + 1
    return { ...item, step }
  })
}

function knownSteps(findings: readonly FindingReply[]): Map<string, number> {
  const known = new Map<string, number>()
  for (const { places, start_step, end_step } of findings) {
    if (start_step === null) continue
    const length = (end_step ?? start_step) - start_step + 1
    const isRow = places.length === length
    places.slice(0, isRow ? length : 1).forEach((place, i) => {
      known.set(keyOf(place), start_step + i)
    })
  }
  return known
}
