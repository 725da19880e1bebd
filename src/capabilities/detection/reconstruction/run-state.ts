import type { Observation } from '../../../model/observation.ts'
import {
  type HistoryBreak,
  type Message,
  type ModelCall,
  type Place,
  type ReconstructionOptions,
  reasoning_chars_max,
  reasoning_chars_sum_max,
  type Step,
  type TaskIdentity,
  type TaskRun,
  type Thread,
  type ToolUse,
  text_chars_max,
} from './contract.ts'
import type { Head } from './histories/heads.ts'
import type { TextForm } from './reading/harness-texts.ts'
import { createDeclaredMemo, type DeclaredMemo } from './reading/model-call.ts'
import type { TextFormat } from './text-actions/text-action.ts'

/** A thread that can still grow. */
type GrowingThread = Omit<Thread, 'steps' | 'calls'> & { steps: number[]; calls: number[] }

/** A text behind a tool's result; it is a harness's once it recurs. */
export type Nudge = {
  form: TextForm
  trace_id: string
  /** Its messages, and the steps that follow them, until it is a harness's. */
  messages: number[]
  steps: number[]
  is_harness: boolean
}

/** State needed to continue a thread. */
type Line = {
  /** True if the user sent a message since the thread's last step. */
  after_user: boolean
  /** Texts behind results that a harness may have written, and the text before the next step. */
  nudges: Nudge[]
  nudged: Nudge | undefined
  /** The first step with code before a text like an output; `run` once a second shows that code is run. */
  shown: { step: number; text: string } | 'run' | undefined
  /** Tool uses without a result, oldest first. */
  open: number[]
}

/** Fields of a span that are needed to find its agent. */
type KnownSpan = { parent: string; type: Observation['type']; name: string }

/** Fields of a tool's own run that are needed to recognise its children. */
export type KnownRun = { id: string; name: string }

/** The run so far, and the state needed to extend it. */
export type RunState = {
  task: TaskIdentity
  conversation_id: string
  calls: ModelCall[]
  messages: Message[]
  steps: Step[]
  tools: ToolUse[]
  threads: GrowingThread[]
  /** One per thread. */
  lines: Line[]
  breaks: HistoryBreak[]
  left_out: Set<string>
  /** Ends of histories, most recently used last. */
  heads: Head[]
  /** Tool uses by call id, latest last. */
  usesById: Map<string, number[]>
  /** Tool uses whose result arrived in a message. */
  answeredByMessage: Set<number>
  /** Tool uses without an id that ran in their own observation, by name, oldest first. */
  ranWithoutId: Map<string, number[]>
  /**
   * Highest number of times that one call without a history contained a result, by id and content.
   */
  resultCounts: Map<string, number>
  /** Tools that ran in their own observation, by trace and id. */
  toolRuns: Map<string, KnownRun>
  /** Steps whose answer lists its tool calls. */
  listedSteps: Set<number>
  /** Spans by trace and id, and threads by agent. */
  spans: Map<string, KnownSpan>
  lanes: Map<string, number>
  /** Calls by the trace and id of their rows, and by the parent named in those rows. */
  callsBySpan: Map<string, number>
  callsByParent: Map<string, number>
  /** Threads of answers by the provider's name, and the messages of their histories. */
  responses: Map<string, { thread: number; kept: number }>
  /** Declared tools by the JSON text that declared them. */
  declared: DeclaredMemo
  /** How agents write actions as text, by the digest of their instructions. */
  formats: Map<string, TextFormat>
  /** Characters of all texts kept, heads and reasoning excluded. */
  chars: number
  /** Characters of reasoning kept; undefined if the run keeps none. */
  reasoning_chars: number | undefined
  /** Further records of calls by the observation id of the call. */
  furtherRecords: Map<string, Place[]>
}

/** Limits of a run; parts beyond them are left out and listed in `left_out`. */
export const bounds = {
  calls_max: 20_000,
  messages_max: 100_000,
  tools_max: 50_000,
  /** Results in calls without a history, including results that no call asked for. */
  maxResultCounts: 100_000,
  /** Approximate characters of all texts; later texts are cut to `maxLateTextChars`. */
  text_chars_sum_max: 16_000_000,
  maxLateTextChars: 512,
} as const

/** Creates the state of an empty run. */
export function createState(
  task: TaskIdentity,
  { keeps_reasoning = false }: ReconstructionOptions = {},
): RunState {
  return {
    task,
    conversation_id: task.conversation_id,
    calls: [],
    messages: [],
    steps: [],
    tools: [],
    threads: [],
    lines: [],
    breaks: [],
    left_out: new Set(),
    heads: [],
    usesById: new Map(),
    answeredByMessage: new Set(),
    ranWithoutId: new Map(),
    resultCounts: new Map(),
    toolRuns: new Map(),
    listedSteps: new Set(),
    spans: new Map(),
    lanes: new Map(),
    callsBySpan: new Map(),
    callsByParent: new Map(),
    responses: new Map(),
    declared: createDeclaredMemo(),
    formats: new Map(),
    chars: 0,
    reasoning_chars: keeps_reasoning ? 0 : undefined,
    furtherRecords: new Map(),
  }
}

/** Returns the text as the run keeps it, and counts its characters. */
export function holdText(state: RunState, text: string): string {
  const isLate = state.chars > bounds.text_chars_sum_max
  const chars = isLate ? bounds.maxLateTextChars : text_chars_max
  if (isLate && text.length > chars) {
    state.left_out.add(`texts beyond ${bounds.text_chars_sum_max} characters in total are cut`)
  }
  const held = copyStart(text, chars)
  state.chars += held.length
  return held
}

/** Returns the length of a text that `holdText` cut; nothing for a whole text. */
export function lengthIfCut(text: string, held: string | null): { chars?: number } {
  return held !== null && held.length < text.length ? { chars: text.length } : {}
}

/**
 * Returns the reasoning of an answer as the run keeps it. Its characters do not count among those of
 * `holdText`, so that all readers of a task have the same texts.
 */
export function holdReasoning(state: RunState, text: string): Pick<Step, 'reasoning'> {
  if (text === '' || state.reasoning_chars === undefined) return {}
  const left = Math.max(0, reasoning_chars_sum_max - state.reasoning_chars)
  const held = copyStart(text, Math.min(reasoning_chars_max, left))
  state.reasoning_chars += held.length
  return { reasoning: { text: held, chars: text.length } }
}

/** Maximum further records remembered of one call. */
const maxFurtherRecords = 16

/** Remembers a further record of a call, by the observation id of the call. */
export function noteFurtherRecord(state: RunState, counted: string, place: Place): void {
  const { furtherRecords } = state
  const { trace_id, observation_id } = place
  const known = furtherRecords.get(counted)
  if (known === undefined) {
    if (furtherRecords.size < bounds.calls_max) {
      furtherRecords.set(counted, [{ trace_id, observation_id }])
    }
  } else if (known.length < maxFurtherRecords) known.push({ trace_id, observation_id })
}

/** Adds an empty thread. */
export function newThread(
  state: RunState,
  origin: Pick<Thread, 'kind' | 'parent' | 'agent_name'>,
): GrowingThread {
  const thread = { index: state.threads.length, ...origin, steps: [], calls: [] }
  state.threads.push(thread)
  state.lines.push({ after_user: false, nudges: [], nudged: undefined, shown: undefined, open: [] })
  return thread
}

/**
 * Adds a message and returns its index; beyond the limit it is left out and the last index
 * returned.
 */
export function addMessage(state: RunState, message: Omit<Message, 'index'>): number {
  if (state.messages.length >= bounds.messages_max) {
    state.left_out.add(`messages beyond ${bounds.messages_max}`)
    return state.messages.length - 1
  }
  const index = state.messages.length
  state.messages.push({ index, ...message })
  return index
}

/** Returns the run so far in the form that detectors read. */
export function toRun(state: RunState): TaskRun {
  const { task, calls, messages, steps, tools, threads, breaks, furtherRecords } = state
  return {
    project_id: task.project_id,
    task_id: task.task_id,
    conversation_id: state.conversation_id,
    content: joinContentStates(calls),
    calls,
    messages,
    steps,
    tools,
    threads,
    breaks,
    further_records: furtherRecords,
    left_out: [...state.left_out],
  }
}

function joinContentStates(calls: readonly ModelCall[]): TaskRun['content'] {
  const first = calls[0]
  if (first === undefined) return 'none'
  return calls.every(({ content }) => content === first.content) ? first.content : 'partial'
}

/** Bytes per object without its texts: measured on runs of thousands of steps, rounded up. */
const objectBytes = {
  call: 900,
  message: 160,
  step: 220,
  tool: 520,
  thread: 300,
  ofHead: 56,
  span: 220,
  /** The words of instructions of the most characters that are read. */
  format: 200_000,
}
/** Bytes per character of parsed JSON and its text. */
const declared_factor = 12

/** Returns the approximate upper bound of a state's memory in bytes. Texts count as UTF-16. */
export function countBytes(state: RunState): number {
  let bytes = 2 * (state.chars + (state.reasoning_chars ?? 0))
  bytes += state.calls.length * objectBytes.call
  bytes += state.messages.length * objectBytes.message
  bytes += state.steps.length * objectBytes.step
  bytes += state.tools.length * objectBytes.tool
  bytes += state.threads.length * objectBytes.thread
  bytes += (state.spans.size + state.lanes.size) * objectBytes.span
  bytes += (state.callsBySpan.size + state.callsByParent.size) * objectBytes.span
  bytes += (state.responses.size + state.furtherRecords.size) * objectBytes.span
  bytes += (state.toolRuns.size + state.resultCounts.size) * objectBytes.span
  bytes += state.formats.size * objectBytes.format
  for (const text of state.declared.keys()) bytes += declared_factor * text.length
  for (const { raw, prompt, ids } of state.heads) {
    bytes += 2 * ((raw?.length ?? 0) + prompt.length) + ids.length * objectBytes.ofHead
  }
  return bytes
}

/**
 * Returns the first `chars` characters without splitting a surrogate pair. The start of a long text
 * is copied, because a slice would keep the whole text in memory.
 */
function copyStart(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return Buffer.from(text.slice(0, isHalf ? chars - 1 : chars), 'utf16le').toString('utf16le')
}
