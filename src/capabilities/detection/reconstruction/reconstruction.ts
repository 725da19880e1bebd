import { parsedJson } from '../../../kernel/json-values.ts'
import type { Observation } from '../../../model/observation.ts'
import { isCountedCall } from '../../../model/observation.ts'
import { takeCall } from './calls/take-call.ts'
import type {
  Reconstruction,
  ReconstructionOptions,
  TaskIdentity,
  TaskRun,
  ToolUse,
} from './contract.ts'
import { findLaneThread, rememberSpan, spanKey, spans_max } from './histories/agent-lanes.ts'
import { createBackgroundInputs } from './reading/background-input.ts'
import { readArguments, sigOf, stepSigOf } from './reading/digests.ts'
import { getEndTime } from './reading/model-call.ts'
import { toResultText } from './reading/tool-parts.ts'
import {
  bounds,
  countBytes,
  createState,
  type KnownRun,
  noteFurtherRecord,
  type RunState,
  toRun,
} from './run-state.ts'
import { holdArguments, holdResultText } from './tools/hold-result.ts'
import { findFault, isGuessedFault } from './tools/tool-fault.ts'
import { addUse, msBetween, noResult, placeOf, rememberUse } from './tools/tool-uses.ts'

/** Creates the empty reconstruction of one task. */
export function createReconstruction(
  task: TaskIdentity,
  options: ReconstructionOptions = {},
): Reconstruction {
  const state = createState(task, options)
  const taken = new Map<string, string>()
  const inputs = createBackgroundInputs()
  let last: Position | undefined
  return {
    add(rows, known = {}) {
      const fresh = selectFresh(rows, taken)
      if (fresh === 'changed') return 'rebuild'
      fresh.sort(compareRows)
      const [first] = fresh
      if (first === undefined) return 'added'
      if (last !== undefined && compareRows(first, last) < 0) return 'rebuild'
      const withInput = inputs.join(fresh, known)
      if (withInput === 'rebuild') return 'rebuild'
      for (const row of fresh) {
        taken.set(spanKey(row), versionOf(row))
        last = toPosition(row)
        take(withInput(row))
      }
      return 'added'
    },
    run: () => toRun(state),
    bytes: () => countBytes(state) + taken.size * takenBytes,
  }

  function take(row: Observation): void {
    if (state.calls.length >= bounds.calls_max) {
      state.left_out.add(`model calls beyond ${bounds.calls_max}`)
      return
    }
    if (state.conversation_id === '') state.conversation_id = row.conversation_id
    rememberSpan(state, row)
    if (row.type === 'generation') takeGeneration(state, row)
    else if (row.type === 'tool') takeTool(state, row)
  }
}

/** Adds a model call; a row that another one counts is a further record of that call. */
function takeGeneration(state: RunState, row: Observation): void {
  if (isCountedCall(row)) takeCall(state, row)
  else noteFurtherRecord(state, row.counted_with, row)
}

/** Orders all rows of a task at once; batches give the same run. */
export function reconstruct(
  rows: readonly Observation[],
  task?: TaskIdentity,
  options: ReconstructionOptions = {},
): TaskRun {
  const [first] = rows
  const { project_id = '', task_id = '', conversation_id = '' } = task ?? first ?? {}
  const reconstruction = createReconstruction({ project_id, task_id, conversation_id }, options)
  const byKey = new Map(rows.map((row) => [spanKey(row), row]))
  reconstruction.add([...byKey.values()])
  return reconstruction.run()
}

/** Returns the rows not added yet; `changed` if an added row differs now. */
function selectFresh(
  rows: readonly Observation[],
  taken: ReadonlyMap<string, string>,
): Observation[] | 'changed' {
  const fresh = new Map<string, Observation>()
  for (const row of rows) {
    const known = taken.get(spanKey(row))
    if (known === undefined) fresh.set(spanKey(row), row)
    else if (known !== versionOf(row)) return 'changed'
  }
  return [...fresh.values()]
}

/** Bytes per entry in the map of added rows. */
const takenBytes = 200

/** Equal for an unchanged row, without comparing all of it. */
function versionOf(row: Observation): string {
  const { start_time, end_time, status, content_state, input, output, counted_with } = row
  const sizes = `${input.length} ${output.length}`
  return `${start_time} ${end_time} ${status} ${content_state} ${sizes} ${counted_with}`
}

type Position = Pick<Observation, 'start_time' | 'observation_id' | 'trace_id'>

function toPosition({ start_time, observation_id, trace_id }: Observation): Position {
  return { start_time, observation_id, trace_id }
}

/** Orders rows by start, then by ids. */
function compareRows(a: Position, b: Position): number {
  return (
    compare(a.start_time, b.start_time) ||
    compare(a.observation_id, b.observation_id) ||
    compare(a.trace_id, b.trace_id)
  )
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

type ToolRun = KnownRun & {
  /** null: not reported. */
  args: string | null
  result: string | null
}

/**
 * Adds a tool that ran in its own observation. It answers the call with its id or, if either has no
 * id, the call in its agent's thread that waits for a tool of that name. If the agent's last step
 * has no known output, the tool counts as a use of that step.
 */
function takeTool(state: RunState, row: Observation): void {
  const run = readToolRun(row)
  if (isPartOfTool(state, row, run)) return
  const thread = findLaneThread(state, row)
  const index = findWaitingUse(state, run, thread)
  if (index === undefined) {
    addRun(state, run, { thread, row })
    return
  }
  const use = state.tools[index]
  if (use === undefined) return
  for (const line of state.lines) {
    const at = line.open.indexOf(index)
    if (at !== -1) line.open.splice(at, 1)
  }
  const isNew = use.arguments === null
  const args = isNew ? holdRunArguments(state, run) : undefined
  if (use.tool_call_id === '') rememberRun(state, run, index)
  state.tools[index] = { ...use, ...args, ...toRanUse(state, run, row), orphan: null }
  if (isNew && use.step !== null) updateStepSig(state, use.step)
}

function readToolRun(row: Observation): ToolRun {
  const [call] = row.tool_calls
  const [reported] = row.tool_results
  const name = call?.name || row.attributes['gen_ai.tool.name'] || row.name.replace(prefix, '')
  const args = pickWholeArguments(call?.arguments ?? '', row.input)
  const output = row.output || reported?.content || ''
  return {
    id: call?.id || reported?.tool_call_id || '',
    name,
    args: args === '' ? null : args,
    result: output === '' ? null : unwrapResult(output),
  }
}

/** Returns the uncut arguments: a stored call can be cut, the input of the tool's span is not. */
function pickWholeArguments(beginning: string, input: string): string {
  return input.startsWith(beginning) ? input : beginning
}

const prefix = /^(?:execute_tool|tools\/call|running tool:?) /

/** Unwraps a result that an instrumentation encoded as JSON. */
function unwrapResult(output: string): string {
  const first = output[0]
  if (first !== '"' && first !== '[') return output
  const value = parsedJson(output)
  return value === undefined ? output : toResultText(value)
}

/**
 * Tells whether a run is part of the run above it: two instrumentations recorded the same run, such
 * as the agent's and that of the protocol below.
 */
function isPartOfTool(state: RunState, row: Observation, { id, name }: ToolRun): boolean {
  const { toolRuns } = state
  const outer = toolRuns.get(
    spanKey({ trace_id: row.trace_id, observation_id: row.parent_observation_id }),
  )
  if (toolRuns.size < spans_max) {
    toolRuns.set(spanKey(row), { id, name })
  }
  if (outer === undefined) return false
  return id === '' || outer.id === '' ? outer.name === name : outer.id === id
}

/** Remembers the run of a call without an id until a message brings its result. */
function rememberRun(state: RunState, { id, name }: ToolRun, index: number): void {
  if (id !== '') {
    rememberUse(state, id, index)
    return
  }
  const ran = state.ranWithoutId.get(name)
  if (ran === undefined) state.ranWithoutId.set(name, [index])
  else ran.push(index)
}

function findWaitingUse(state: RunState, run: ToolRun, thread: number): number | undefined {
  const uses = run.id === '' ? [] : (state.usesById.get(run.id) ?? [])
  const asked = uses.findLast((index) => state.tools[index]?.is_answered === false)
  if (asked !== undefined) return asked
  const open = state.lines[thread]?.open ?? []
  const named = open.filter((index) => {
    const use = state.tools[index]
    return use?.name === run.name && (run.id === '' || use.tool_call_id === '')
  })
  const sig = run.args === null ? null : sigOf(run.name, readArguments(run.args).canonical)
  return named.find((index) => state.tools[index]?.sig === sig) ?? named[0]
}

function holdRunArguments(
  state: RunState,
  { name, args }: ToolRun,
): Pick<ToolUse, 'arguments' | 'arguments_chars' | 'arguments_broken' | 'sig'> {
  if (args === null) return { arguments: null, arguments_broken: false, sig: null }
  const { canonical, is_json } = readArguments(args)
  const sig = sigOf(name, canonical)
  return { ...holdArguments(state, args), arguments_broken: !is_json && args[0] === '{', sig }
}

function toRanUse(state: RunState, run: ToolRun, row: Observation): Partial<ToolUse> {
  const span_error = row.status === 'error' ? `${row.error_type}: ${row.error_message}` : undefined
  const facts = { tool: run.name, arguments: run.args ?? '', is_error: undefined, span_error }
  const fault = findFault(run.result ?? '', facts)
  return {
    ...(run.result === null ? {} : holdResultText(state, run.result)),
    is_answered: true,
    fault,
    ...(fault !== null && isGuessedFault(run.result ?? '', facts) ? { is_guessed: true } : {}),
    answered_at: getEndTime(row),
    latency_ms: msBetween(row.start_time, getEndTime(row)),
    answered_by: placeOf(row),
  }
}

/** Adds a run that no known call asked for. */
function addRun(
  state: RunState,
  run: ToolRun,
  { thread, row }: { thread: number; row: Observation },
): void {
  const last = state.steps[state.threads[thread]?.steps.at(-1) ?? -1]
  const isUntold = last !== undefined && last.text === null && !state.listedSteps.has(last.index)
  const call = isUntold ? state.calls[last.call] : undefined
  const index = addUse(state, {
    tool_call_id: run.id,
    name: run.name,
    thread,
    step: isUntold ? last.index : null,
    ...holdRunArguments(state, run),
    ...noResult,
    ...toRanUse(state, run, row),
    asked_at: call?.end_time ?? row.start_time,
    asked_by: call === undefined ? placeOf(row) : { ...placeOf(row), ...placeOf(call) },
    asked_from: call?.start_time ?? row.start_time,
  })
  if (index !== undefined && run.id === '') rememberRun(state, run, index)
  if (index === undefined || !isUntold) return
  state.steps[last.index] = { ...last, tools: [...last.tools, index] }
  updateStepSig(state, last.index)
}

/** Updates a step's digest after the arguments of its tools became known. */
function updateStepSig(state: RunState, index: number): void {
  const step = state.steps[index]
  if (step === undefined) return
  const sig = stepSigOf(step.tools.map((tool) => state.tools[tool]?.sig ?? null))
  if (sig !== step.sig) state.steps[index] = { ...step, sig }
}
