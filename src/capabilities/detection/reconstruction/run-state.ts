import type { Observation } from '../../../model/observation.ts'
import {
  type HistoryBreak,
  type Message,
  type ModelCall,
  type RunAbout,
  type Step,
  type TaskRun,
  type Thread,
  type ToolUse,
  text_chars_max,
} from './contract.ts'
import type { Head } from './heads.ts'
import { createDeclaredMemo, type DeclaredMemo } from './model-call.ts'

/** A thread while it grows. */
export type GrowingThread = Omit<Thread, 'steps' | 'calls'> & { steps: number[]; calls: number[] }

/** What a thread needs to go on. */
export type Line = {
  /** A message of the user came since its last step. */
  after_user: boolean
  /** Tool uses that have no answer, the oldest first. */
  open: number[]
}

/** What is remembered of a span, to find the agent that it belongs to. */
export type KnownSpan = { parent: string; type: Observation['type']; name: string }

/** The part of a tool's run that is kept, to find its children. */
export type KnownRun = { id: string; name: string }

/** What is known of a run so far, and what is needed to go on. */
export type RunState = {
  about: RunAbout
  conversation_id: string
  calls: ModelCall[]
  messages: Message[]
  steps: Step[]
  tools: ToolUse[]
  threads: GrowingThread[]
  /** For each thread. */
  lines: Line[]
  breaks: HistoryBreak[]
  left_out: Set<string>
  /** Where histories stand, the one that was used last at the end. */
  heads: Head[]
  /** Tool uses by the id of their call, the latest last. */
  usesById: Map<string, number[]>
  /** Those that a message brought the result of. */
  answeredByMessage: Set<number>
  /** Those without an id that ran on observations of their own, by name, the oldest first. */
  ranWithoutId: Map<string, number[]>
  /** How often the calls without a history brought a result at most, by its id and content. */
  brought: Map<string, number>
  /** Tools that ran on observations of their own, by trace and id. */
  toolRuns: Map<string, KnownRun>
  /** Steps whose answers list their tool calls. */
  listedSteps: Set<number>
  /** Spans by trace and id, and threads by agent. */
  spans: Map<string, KnownSpan>
  lanes: Map<string, number>
  /** Calls by trace and id of the rows that told of them, and by the parent that those name. */
  callsBySpan: Map<string, number>
  callsByParent: Map<string, number>
  /** Declared tools by the text that declared them. */
  declared: DeclaredMemo
  /** Characters of texts that are held, heads aside. */
  chars: number
}

/** Bounds of a run; what is beyond them is left out, and said. */
export const bounds = {
  calls_max: 20_000,
  messages_max: 100_000,
  tools_max: 50_000,
  /** Results of calls without a history, those that no call asked for included. */
  brought_max: 100_000,
  /** Characters of all texts together, about; from there on each is cut to `lateText_chars_max`. */
  text_chars_sum_max: 16_000_000,
  lateText_chars_max: 512,
} as const

export function createState(about: RunAbout): RunState {
  return {
    about,
    conversation_id: about.conversation_id,
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
    brought: new Map(),
    toolRuns: new Map(),
    listedSteps: new Set(),
    spans: new Map(),
    lanes: new Map(),
    callsBySpan: new Map(),
    callsByParent: new Map(),
    declared: createDeclaredMemo(),
    chars: 0,
  }
}

/** The text as a run holds it; counted. */
export function holdText(state: RunState, text: string): string {
  const isLate = state.chars > bounds.text_chars_sum_max
  const chars = isLate ? bounds.lateText_chars_max : text_chars_max
  if (isLate && text.length > chars) {
    state.left_out.add(`texts beyond ${bounds.text_chars_sum_max} characters in all are cut short`)
  }
  const held = copyStart(text, chars)
  state.chars += held.length
  return held
}

export function newThread(
  state: RunState,
  about: Pick<Thread, 'kind' | 'parent' | 'agent_name'>,
): GrowingThread {
  const thread = { index: state.threads.length, ...about, steps: [], calls: [] }
  state.threads.push(thread)
  state.lines.push({ after_user: false, open: [] })
  return thread
}

/** Adds a message and answers its index; beyond the bound it is left out, and the last one stands. */
export function addMessage(state: RunState, message: Omit<Message, 'index'>): number {
  if (state.messages.length >= bounds.messages_max) {
    state.left_out.add(`messages beyond ${bounds.messages_max}`)
    return state.messages.length - 1
  }
  const index = state.messages.length
  state.messages.push({ index, ...message })
  return index
}

/** What a run is so far, as a detector reads it. */
export function toRun(state: RunState): TaskRun {
  const { about, calls, messages, steps, tools, threads, breaks } = state
  return {
    project_id: about.project_id,
    task_id: about.task_id,
    conversation_id: state.conversation_id,
    content: joinContentStates(calls),
    calls,
    messages,
    steps,
    tools,
    threads,
    breaks,
    left_out: [...state.left_out],
  }
}

function joinContentStates(calls: readonly ModelCall[]): TaskRun['content'] {
  const first = calls[0]
  if (first === undefined) return 'none'
  return calls.every(({ content }) => content === first.content) ? first.content : 'partial'
}

/** Bytes of objects beside their texts: measured on runs of thousands of steps, rounded up. */
const objectBytes = {
  call: 700,
  message: 160,
  step: 220,
  tool: 520,
  thread: 300,
  ofHead: 56,
  span: 220,
}
/** Bytes of parsed JSON and its text, for each character. */
const declared_factor = 12

/** The memory of a state in bytes, at most and about. Texts count as UTF-16. */
export function countBytes(state: RunState): number {
  let bytes = 2 * state.chars
  bytes += state.calls.length * objectBytes.call
  bytes += state.messages.length * objectBytes.message
  bytes += state.steps.length * objectBytes.step
  bytes += state.tools.length * objectBytes.tool
  bytes += state.threads.length * objectBytes.thread
  bytes += (state.spans.size + state.lanes.size) * objectBytes.span
  bytes += (state.callsBySpan.size + state.callsByParent.size) * objectBytes.span
  bytes += (state.toolRuns.size + state.brought.size) * objectBytes.span
  for (const text of state.declared.keys()) bytes += declared_factor * text.length
  for (const { raw, ids } of state.heads) {
    bytes += 2 * (raw?.length ?? 0) + ids.length * objectBytes.ofHead
  }
  return bytes
}

/**
 * The first `chars` of a text, without half a character at the end. What is left of a long text is
 * copied, since a slice would keep all of it in memory.
 */
export function copyStart(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return Buffer.from(text.slice(0, isHalf ? chars - 1 : chars), 'utf16le').toString('utf16le')
}
