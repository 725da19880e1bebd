import type { Observation } from '../../../model/observation.ts'
import type { Place, ToolUse } from './contract.ts'
import { digestOf } from './digests.ts'
import { masked_chars_max, maskVolatile } from './mask-volatile.ts'
import { endOf } from './model-call.ts'
import type { ToldMessage } from './read-messages.ts'
import { bounds, heldText, type RunState } from './run-state.ts'
import { faultIn } from './tool-fault.ts'
import type { ToldCall } from './tool-parts.ts'

/** Who asks for tools: a step, or a history that tells of an answer nobody saw. */
export type Asking = { thread: number; step: number | null; row: Observation; is_cut: boolean }

/** Adds tool uses for calls; answers their indexes. */
export function askFor(state: RunState, calls: readonly ToldCall[], asking: Asking): number[] {
  const added: number[] = []
  for (const call of calls) {
    const ran = ranBefore(state, call, asking)
    const index = ran ?? addUse(state, useOf(state, call, asking))
    if (index !== undefined) added.push(index)
  }
  return added
}

/** Adds a use and answers its index; undefined beyond the bound. */
export function addUse(state: RunState, use: Omit<ToolUse, 'index'>): number | undefined {
  const index = state.tools.length
  if (index >= bounds.tools_max) {
    state.left_out.add(`tool calls beyond ${bounds.tools_max}`)
    return undefined
  }
  state.tools.push({ index, ...use })
  if (!use.is_answered) openUse(state, use.thread, index)
  if (use.tool_call_id === '') return index
  const uses = state.usesById.get(use.tool_call_id)
  if (uses === undefined) state.usesById.set(use.tool_call_id, [index])
  else uses.push(index)
  return index
}

/** Tool uses of a thread that wait; the oldest are given up. */
const open_max = 1_024

function openUse(state: RunState, thread: number, index: number): void {
  const open = state.lines[thread]?.open
  if (open === undefined) return
  open.push(index)
  if (open.length > open_max) open.shift()
}

/** A tool whose own span began before its call was seen, as clocks of two machines differ. */
function ranBefore(state: RunState, call: ToldCall, asking: Asking): number | undefined {
  if (call.id === '' || asking.step === null) return undefined
  const index = state.usesById.get(call.id)?.at(-1)
  const use = index === undefined ? undefined : state.tools[index]
  if (index === undefined || use === undefined) return undefined
  if (use.step !== null || use.name !== call.name || use.orphan !== null) return undefined
  const { step, thread } = asking
  const asked = useOf(state, call, asking)
  const { arguments: args, arguments_broken, sig } = use.arguments === null ? asked : use
  state.tools[index] = { ...use, step, thread, arguments: args, arguments_broken, sig }
  return index
}

function useOf(state: RunState, call: ToldCall, asking: Asking): Omit<ToolUse, 'index'> {
  const { thread, step, row, is_cut } = asking
  const isTold = row.content_state !== 'dropped' && row.content_state !== 'expired'
  return {
    tool_call_id: call.id,
    name: call.name,
    thread,
    step,
    arguments: isTold ? heldText(state, call.arguments) : null,
    arguments_broken: isTold && !call.is_json && !is_cut,
    sig: isTold ? call.sig : null,
    ...noResult,
    asked_at: step === null ? row.start_time : endOf(row),
    asked_by: placeOf(row),
  }
}

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

export function placeOf({ trace_id, observation_id }: Observation): Place {
  return { trace_id, observation_id }
}

/** Joins a result that a history brought with the call it answers. */
export function joinResult(
  state: RunState,
  told: ToldMessage,
  about: { thread: number; row: Observation; is_quiet: boolean },
): void {
  const { thread, row } = about
  const open = state.lines[thread]?.open ?? []
  const at = openFor(state, open, told)
  const index = at === -1 ? undefined : open[at]
  const use = index === undefined ? undefined : state.tools[index]
  if (index === undefined || use === undefined) {
    if (!completed(state, told, about) && !about.is_quiet) addOrphan(state, told, about)
    return
  }
  open.splice(at, 1)
  state.answeredByMessage.add(index)
  state.tools[index] = {
    ...use,
    ...resultOf(state, told, use),
    is_answered: true,
    answered_at: row.start_time,
    latency_ms: use.step === null ? null : msBetween(use.asked_at, row.start_time),
    answered_by: placeOf(row),
    orphan: null,
  }
}

/** Place among those that wait: the latest of its id, else the first that has no id either. */
function openFor(state: RunState, open: readonly number[], told: ToldMessage): number {
  const { tool_call_id: id, tool_name } = told
  if (id !== '') {
    const latest = open.findLastIndex((index) => state.tools[index]?.tool_call_id === id)
    if (latest !== -1) return latest
  }
  return open.findIndex((index) => {
    const use = state.tools[index]
    if (use === undefined || (id !== '' && use.tool_call_id !== '')) return false
    return tool_name === '' || use.name === tool_name
  })
}

/**
 * A result told before, by the tool's own span or by another history, may lack its text. A second
 * message with another text answers nothing. A run that no model asked for is an orphan only when a
 * model gets its result.
 */
function completed(
  state: RunState,
  told: ToldMessage,
  { row, is_quiet: isQuiet }: { row: Observation; is_quiet: boolean },
): boolean {
  const index = state.usesById.get(told.tool_call_id)?.at(-1)
  const use = index === undefined ? undefined : state.tools[index]
  if (index === undefined || use === undefined) return false
  if (state.answeredByMessage.has(index)) return isQuiet || told.text.startsWith(use.result ?? '')
  state.answeredByMessage.add(index)
  const isUnasked = use.step === null && use.latency_ms !== null && !isQuiet
  const orphan = isUnasked ? 'result' : use.orphan
  const result: Partial<ToolUse> = use.result === null ? resultOf(state, told, use) : {}
  const fault = use.fault ?? result.fault ?? null
  const late = { is_answered: true, answered_at: row.start_time, answered_by: placeOf(row) }
  state.tools[index] = { ...use, ...result, fault, orphan, ...(use.is_answered ? {} : late) }
  return true
}

function addOrphan(
  state: RunState,
  told: ToldMessage,
  { thread, row }: { thread: number; row: Observation },
): void {
  const use = {
    tool_call_id: told.tool_call_id,
    name: told.tool_name,
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
    answered_by: placeOf(row),
    orphan: 'result',
  } as const
  addUse(state, { ...use, ...resultOf(state, told, use) })
}

function resultOf(
  state: RunState,
  told: Pick<ToldMessage, 'text' | 'is_error'>,
  { name, arguments: args }: Pick<ToolUse, 'name' | 'arguments'>,
): Pick<ToolUse, 'result' | 'masked' | 'out' | 'fault'> {
  const about = { tool: name, arguments: args ?? '', span_error: undefined }
  const fault = faultIn(told.text, { ...about, is_error: told.is_error })
  return { ...toldResult(state, told.text), fault }
}

/** A result's text as it is held, and what is equal of it when nothing but time went by. */
export function toldResult(
  state: RunState,
  text: string,
): Pick<ToolUse, 'result' | 'masked' | 'out'> {
  const result = heldText(state, text)
  const masked = maskVolatile(text)
  const isSame = masked === text
  const out = digestOf(masked)
  if (isSame) return { result, masked: result, out }
  return { result, masked: heldText(state, masked.slice(0, masked_chars_max)), out }
}

export function msBetween(from: bigint, to: bigint): number {
  return to > from ? Number(to - from) / 1e6 : 0
}

/** The thread went on without results of tools that it had asked for. */
export function tellOrphans(state: RunState, thread: number): void {
  for (const index of state.lines[thread]?.open ?? []) {
    const use = state.tools[index]
    if (use !== undefined && use.orphan === null) state.tools[index] = { ...use, orphan: 'call' }
  }
}

/** The client left the answer out of its history: nobody will answer its calls, and nobody need. */
export function giveUp(state: RunState, thread: number, message: number): void {
  const line = state.lines[thread]
  const step = state.messages[message]?.step
  if (line === undefined || step === undefined || step === null) return
  line.open = line.open.filter((index) => state.tools[index]?.step !== step)
}
