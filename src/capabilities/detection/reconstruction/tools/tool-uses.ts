import { hasNoContent, type Observation } from '../../../../model/observation.ts'
import type { Place, ToolUse } from '../contract.ts'
import { getEndTime } from '../reading/model-call.ts'
import type { HistoryCall } from '../reading/tool-parts.ts'
import { bounds, type RunState } from '../run-state.ts'
import { type CallResult, holdArguments, holdResult } from './hold-result.ts'

/** The origin of tool calls: a step, or a history that contains an unobserved answer. */
type AskingAnswer = {
  thread: number
  step: number | null
  row: Observation
  is_cut: boolean
}

/** Adds tool uses for calls and returns their indexes. */
export function addAskedUses(
  state: RunState,
  calls: readonly HistoryCall[],
  asking: AskingAnswer,
): number[] {
  const added: number[] = []
  for (const call of calls) {
    const ran = adoptEarlierRun(state, call, asking)
    const index = ran ?? addUse(state, toUse(state, call, asking))
    if (index !== undefined) added.push(index)
  }
  return added
}

/** Adds a use and returns its index; undefined beyond the limit. */
export function addUse(state: RunState, use: Omit<ToolUse, 'index'>): number | undefined {
  const index = state.tools.length
  if (index >= bounds.tools_max) {
    state.left_out.add(`tool calls beyond ${bounds.tools_max}`)
    return undefined
  }
  state.tools.push({ index, ...use })
  if (!use.is_answered) openUse(state, use.thread, index)
  if (use.tool_call_id !== '') rememberUse(state, use.tool_call_id, index)
  return index
}

/** Remembers a use by the id of its call. */
export function rememberUse(state: RunState, id: string, index: number): void {
  const uses = state.usesById.get(id)
  if (uses === undefined) state.usesById.set(id, [index])
  else uses.push(index)
}

/** Maximum waiting tool uses of a thread; the oldest are dropped. */
const open_max = 1_024

function openUse(state: RunState, thread: number, index: number): void {
  const open = state.lines[thread]?.open
  if (open === undefined) return
  open.push(index)
  if (open.length > open_max) open.shift()
}

/** Adopts a run whose span started before its call was reported: clocks of two machines differ. */
function adoptEarlierRun(
  state: RunState,
  call: HistoryCall,
  asking: AskingAnswer,
): number | undefined {
  if (call.id === '' || asking.step === null) return undefined
  const index = state.usesById.get(call.id)?.at(-1)
  const use = index === undefined ? undefined : state.tools[index]
  if (index === undefined || use === undefined) return undefined
  if (use.step !== null || use.name !== call.name || use.orphan !== null) return undefined
  const { step, thread } = asking
  const asked = toUse(state, call, asking)
  const { arguments: args, arguments_broken, sig } = use.arguments === null ? asked : use
  state.tools[index] = { ...use, step, thread, arguments: args, arguments_broken, sig }
  return index
}

function toUse(state: RunState, call: HistoryCall, asking: AskingAnswer): Omit<ToolUse, 'index'> {
  const { thread, step, row, is_cut } = asking
  const isTold = !hasNoContent(row)
  return {
    tool_call_id: call.id,
    name: call.name,
    thread,
    step,
    ...(isTold ? holdArguments(state, call.arguments) : { arguments: null }),
    arguments_broken: isTold && !call.is_json && !is_cut,
    sig: isTold ? call.sig : null,
    ...noResult,
    asked_at: step === null ? row.start_time : getEndTime(row),
    asked_by: placeOf(row),
    asked_from: row.start_time,
  }
}

/** Fields of a tool use without a result. */
export const noResult = {
  result: null,
  is_answered: false,
  out: null,
  masked: null,
  fault: null,
  answered_at: null,
  latency_ms: null,
  answered_by: null,
  orphan: null,
} as const

/** Returns the ids of an observation. */
export function placeOf({ trace_id, observation_id }: Place): Place {
  return { trace_id, observation_id }
}

/** The call that contained a result; `is_quiet`: it can be a repetition, so it is not an orphan. */
type ResultOrigin = { thread: number; row: Observation; is_quiet: boolean }

/**
 * Joins a result with the tool call it answers. Returns its index; undefined if no call of the task
 * asked for it.
 */
export function joinResult(
  state: RunState,
  reported: CallResult,
  origin: ResultOrigin,
): number | undefined {
  const { thread, row } = origin
  const open = state.lines[thread]?.open ?? []
  const at = findOpen(state, open, reported)
  const index = at === -1 ? undefined : open[at]
  const use = index === undefined ? undefined : state.tools[index]
  if (index === undefined || use === undefined) {
    return completeUse(state, reported, origin)
  }
  open.splice(at, 1)
  state.answeredByMessage.add(index)
  state.tools[index] = {
    ...use,
    ...holdResult(state, reported, use),
    is_answered: true,
    answered_at: row.start_time,
    latency_ms: use.step === null ? null : msBetween(use.asked_at, row.start_time),
    answered_by: placeOf(row),
    orphan: null,
  }
  return index
}

/**
 * Returns the position among the waiting uses: the first of the latest answer that used the id,
 * otherwise the first use without an id.
 */
function findOpen(state: RunState, open: readonly number[], reported: CallResult): number {
  const { tool_call_id: id, tool_name } = reported
  if (id !== '') {
    const latest =
      state.tools[open.findLast((index) => state.tools[index]?.tool_call_id === id) ?? -1]
    if (latest !== undefined) return open.findIndex((index) => isAskedWith(state, index, latest))
  }
  return open.findIndex((index) => {
    const use = state.tools[index]
    if (use === undefined || !mayAnswer(id, use.tool_call_id)) return false
    return tool_name === '' || use.name === tool_name
  })
}

/**
 * Tells whether a result may answer a call by its place. Responses names a call twice, and some
 * instrumentations report the name of the item (`fc_…`) in answers and that of the call in histories.
 */
function mayAnswer(id: string, asked: string): boolean {
  return id === '' || asked === '' || (id.startsWith('call_') && asked.startsWith('fc_'))
}

/** Tells whether two uses have the same id and come from the same answer. */
export function isAskedWith(state: RunState, index: number, other: ToolUse): boolean {
  const use = state.tools[index]
  if (use === undefined || use.tool_call_id !== other.tool_call_id) return false
  const { observation_id, trace_id } = use.asked_by
  return observation_id === other.asked_by.observation_id && trace_id === other.asked_by.trace_id
}

/**
 * Completes a use that already has a result, from the tool's own span or from another history, but
 * may lack its text. A second message with a different text answers nothing. A run that no model
 * asked for becomes an orphan only when a model receives its result.
 */
function completeUse(
  state: RunState,
  reported: CallResult,
  { row, is_quiet: isQuiet }: ResultOrigin,
): number | undefined {
  const index =
    state.usesById.get(reported.tool_call_id)?.at(-1) ?? takeRunWithoutId(state, reported)
  const use = index === undefined ? undefined : state.tools[index]
  if (index === undefined || use === undefined) return undefined
  if (state.answeredByMessage.has(index)) {
    return isQuiet || reported.text.startsWith(use.result ?? '') ? index : undefined
  }
  state.answeredByMessage.add(index)
  const isUnasked = use.step === null && use.latency_ms !== null && !isQuiet
  const orphan = isUnasked ? 'result' : use.orphan
  const result: Partial<ToolUse> = use.result === null ? holdResult(state, reported, use) : {}
  const fault = use.fault ?? result.fault ?? null
  if (use.fault !== null) delete result.is_guessed
  const late = { is_answered: true, answered_at: row.start_time, answered_by: placeOf(row) }
  state.tools[index] = { ...use, ...result, fault, orphan, ...(use.is_answered ? {} : late) }
  return index
}

/** Takes the oldest run of this name whose result has not arrived in a message. */
function takeRunWithoutId(state: RunState, reported: CallResult): number | undefined {
  const name = reported.tool_name || reported.tool_call_id
  if (reported.tool_call_id !== '' && reported.tool_call_id !== name) return undefined
  return state.ranWithoutId.get(name)?.shift()
}

/** Adds a result that no call of the task asked for, and returns its index. */
export function addOrphan(
  state: RunState,
  reported: CallResult,
  { thread, row }: { thread: number; row: Observation },
): number | undefined {
  const use = {
    tool_call_id: reported.tool_call_id,
    name: reported.tool_name,
    thread,
    step: null,
    arguments: null,
    arguments_broken: false,
    sig: null,
    ...noResult,
    is_answered: true,
    asked_at: row.start_time,
    answered_at: row.start_time,
    asked_by: placeOf(row),
    asked_from: row.start_time,
    answered_by: placeOf(row),
    orphan: 'result',
  } as const
  return addUse(state, { ...use, ...holdResult(state, reported, use) })
}

/** Returns the milliseconds from one time to a later one; 0 if it is not later. */
export function msBetween(from: bigint, to: bigint): number {
  return to > from ? Number(to - from) / 1e6 : 0
}

/**
 * Marks the open tool calls of a thread that continued without their results. An action that was
 * read from a text may have been nothing but words, so it waits no longer.
 */
export function markOrphans(state: RunState, thread: number): void {
  const line = state.lines[thread]
  if (line === undefined) return
  line.open = line.open.filter((index) => state.tools[index]?.read_from !== 'text')
  for (const index of line.open) {
    const use = state.tools[index]
    if (use !== undefined && use.orphan === null) state.tools[index] = { ...use, orphan: 'call' }
  }
}

/**
 * Drops the waiting uses of an answer that the client left out of its history: no result will come.
 */
export function dropWaitingUses(state: RunState, thread: number, message: number): void {
  const line = state.lines[thread]
  const step = state.messages[message]?.step
  if (line === undefined || step === undefined || step === null) return
  line.open = line.open.filter((index) => state.tools[index]?.step !== step)
}
