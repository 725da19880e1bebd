import type { Observation } from '../../src/model/observation.ts'
import { apiRows } from './api-rows.ts'
import { otlpRows } from './otlp-rows.ts'
import { proxyRows } from './proxy-rows.ts'
import type {
  CallError,
  ChatMessage,
  ChatToolCall,
  DeclaredToolOption,
  RecordedAgent,
  RecordedCall,
  RecordedRun,
  RecordedTool,
} from './recorded-run.ts'
import { hexFrom } from './run-ids.ts'

/** What recorded the run, and with how much detail. */
export type RunSource = 'proxy' | 'api' | 'otlp' | 'otlp_openinference' | 'otlp_no_content'

export type AgentRunOptions = {
  /** Tools that each request declares; a bare name is a tool that accepts any object. */
  tools?: readonly (string | DeclaredToolOption)[]
  provider?: string
  model?: string
  /** Default: `proxy`. */
  source?: RunSource
  project_id?: string
  task_id?: string
  task_name?: string
  conversation_id?: string
  /** Answers are streamed unless an answer overrides it. */
  streamed?: boolean
  /** Duration of a call; default 1,200 ms. */
  call_ms?: number
  /** Duration of a tool unless a result overrides it; default 400 ms. */
  tool_ms?: number
  /** Nanoseconds since 1970 of the first call. */
  start_time?: bigint
}

/** A tool call of an answer: `args` is written as JSON, a text verbatim. */
export type CallOption = { name: string; args?: unknown; id?: string }

type AnswerOption = {
  text?: string
  calls?: readonly CallOption[]
  refusal?: string
  finish_reason?: string
  /** The call failed: nothing is added to the history, unless its stream delivered something. */
  error?: CallError
  /** The stream ended in the middle; the text arrived, and the client kept it. */
  partial?: boolean
  streamed?: boolean
  call_ms?: number
  input_tokens?: number
  output_tokens?: number
  /** False: the client does not put the answer into its history. */
  kept?: boolean
}

type ResultOption = {
  text: string
  /** Duration of the tool. */
  after_ms?: number
  /** The call that it answers; by default the next call without a result. */
  id?: string
  /** The tool's own instrumentation reports a failure (spans only: the proxy sees texts). */
  failed?: boolean
}

/** Describes a run of an agent, step by step. Each `assistant` is a call with the whole history. */
export type AgentRun = {
  system(text: string): AgentRun
  user(text: string): AgentRun
  assistant(answer: string | AnswerOption): AgentRun
  /** The texts of the results for the calls of the last answer, in order. */
  results(results: readonly (string | ResultOption)[]): AgentRun
  /** An answer with one call, and its result. */
  tool(call: CallOption & { text?: string }, result: string | ResultOption): AgentRun
  /** Lets time pass. */
  wait(ms: number): AgentRun
  /** The client changes its history. */
  edit(change: (history: ChatMessage[]) => ChatMessage[]): AgentRun
  /** The client replaces everything but the system's text and the last messages by a summary. */
  compact(summary: string, keep_last?: number): AgentRun
  /** The client drops the oldest messages after the system's text. */
  truncate(count: number): AgentRun
  /** The client drops the whole history, including the system's text. */
  reset(): AgentRun
  /**
   * Agents that begin at the same time, each with its own history; the run continues after all of
   * them.
   */
  parallel(...agents: readonly ((agent: AgentRun) => AgentRun)[]): AgentRun
  /** Repeats these steps. */
  times(count: number, more: (run: AgentRun, at: number) => AgentRun): AgentRun
  /** Marks the next answer of this agent with a name, for labels. */
  mark(name?: string): AgentRun
  /** The position of the marked step among all answers, by time; undefined without a mark. */
  step(name?: string): number | undefined
  /** The rows, by time and id, as they are stored. */
  observations(): Observation[]
  /** The events of the run, before they are recorded. */
  recorded(): RecordedRun
}

/** Starts a run; its ids follow from its name, so two runs of one name are the same. */
export function agentRun(name: string, options: AgentRunOptions = {}): AgentRun {
  const declared = (options.tools ?? []).map((tool) =>
    typeof tool === 'string' ? { name: tool } : tool,
  )
  const run: Growing = {
    name,
    project_id: options.project_id ?? '0198c0de-0000-7000-8000-00000000000a',
    task_id: options.task_id ?? `task-${hexFrom(12, name)}`,
    task_name: options.task_name ?? '',
    conversation_id: options.conversation_id ?? '',
    provider: options.provider ?? 'openai',
    model: options.model ?? 'gpt-4o-mini',
    declared,
    agents: [],
    calls: [],
    tools: [],
  }
  const rowsOf = () => rowsOfRun(run, options.source ?? 'proxy')
  const start = options.start_time ?? 1_790_000_000_000_000_000n
  const marks = new Map<string, number>()
  return writer({ run, options, rowsOf, marks }, newAgent(run, 'main', null), start).agent
}

/** A run under construction. */
type Growing = RecordedRun & {
  agents: RecordedAgent[]
  calls: RecordedCall[]
  tools: RecordedTool[]
}

type Book = {
  run: Growing
  options: AgentRunOptions
  rowsOf: () => Observation[]
  /** Indexes of calls. */
  marks: Map<string, number>
}

const nsPerMs = 1_000_000n

function newAgent(run: Growing, name: string, parent: number | null): RecordedAgent {
  const agent = { index: run.agents.length, name, parent }
  run.agents.push(agent)
  return agent
}

/** The writer of one agent; `now` is its current time. */
function writer(book: Book, about: RecordedAgent, start: bigint) {
  let history: ChatMessage[] = []
  let now = start
  let pending: string[] = []
  const say = (message: ChatMessage) => {
    history = [...history, message]
    return agent
  }
  const agent: AgentRun = {
    system: (content) => say({ role: 'system', content }),
    user: (content) => say({ role: 'user', content }),
    assistant: (given) => {
      const option = typeof given === 'string' ? { text: given } : given
      const call = recordCall(book, { about, history, now, option })
      now = call.end_time
      if (call.answer !== undefined) {
        for (const name of pending) book.marks.set(name, call.index)
        pending = []
      }
      const isKept = option.kept ?? (option.error === undefined || option.partial === true)
      return isKept && call.answer !== undefined ? say(call.answer) : agent
    },
    results: (results) => {
      for (const tool of recordTools(book, { about, history, now, results })) {
        if (tool.end_time > now) now = tool.end_time
        say({ role: 'tool', tool_call_id: tool.tool_call_id, content: tool.result })
      }
      return agent
    },
    tool: ({ text, ...call }, result) =>
      agent
        .assistant(text === undefined ? { calls: [call] } : { text, calls: [call] })
        .results([result]),
    wait: (ms) => {
      now += BigInt(ms) * nsPerMs
      return agent
    },
    edit: (change) => {
      history = change(structuredClone(history))
      return agent
    },
    compact: (summary, keep_last = 0) =>
      agent.edit((all) => [
        ...systemOf(all),
        { role: 'user', content: summary },
        ...(keep_last === 0 ? [] : restOf(all).slice(-keep_last)),
      ]),
    truncate: (count) => agent.edit((all) => [...systemOf(all), ...restOf(all).slice(count)]),
    reset: () => agent.edit(() => []),
    parallel: (...agents) => {
      const begun = now
      for (const [at, write] of agents.entries()) {
        const next = newAgent(book.run, `sub-${at + 1}`, about.index)
        const sub = writer(book, next, begun + BigInt(at) * 7n * nsPerMs)
        write(sub.agent)
        if (sub.now() > now) now = sub.now()
      }
      return agent
    },
    times: (count, more) => {
      for (let at = 0; at < count; at++) more(agent, at)
      return agent
    },
    mark: (name = 'start') => {
      pending = [...pending, name]
      return agent
    },
    step: (name = 'start') => stepOf(book, name),
    observations: () => book.rowsOf(),
    recorded: () => book.run,
  }
  return { agent, now: () => now }
}

function stepOf({ run, marks }: Book, name: string): number | undefined {
  const marked = marks.get(name)
  if (marked === undefined) return undefined
  const answered = run.calls.filter(({ answer }) => answer !== undefined)
  const starts = answered.toSorted((a, b) => Number(a.start_time - b.start_time))
  return starts.findIndex(({ index }) => index === marked)
}

function systemOf(history: readonly ChatMessage[]): ChatMessage[] {
  return history[0]?.role === 'system' ? [history[0]] : []
}

function restOf(history: readonly ChatMessage[]): ChatMessage[] {
  return history[0]?.role === 'system' ? history.slice(1) : [...history]
}

type Moment = { about: RecordedAgent; history: ChatMessage[]; now: bigint }

function recordCall(
  { run, options }: Book,
  { about, history, now, option }: Moment & { option: AnswerOption },
): RecordedCall {
  const { error, partial = false } = option
  const index = run.calls.length
  const brought = error === undefined || partial
  const answer = brought ? answerOf(run, index, option) : undefined
  const call_ms = option.call_ms ?? options.call_ms ?? 1_200
  const isCut = partial && error === undefined
  const call: RecordedCall = {
    index,
    agent: about,
    start_time: now,
    end_time: now + BigInt(call_ms) * nsPerMs,
    messages: history,
    answer,
    finish_reason: partial ? '' : (option.finish_reason ?? finishOf(option)),
    error: isCut ? { status: 200, type: 'provider_cut', outcome: 'upstream_cut' } : error,
    streamed: option.streamed ?? (partial || (options.streamed ?? false)),
    input_tokens: option.input_tokens ?? tokensOf(history),
    output_tokens: option.output_tokens ?? (answer === undefined ? 0 : tokensOf([answer])),
  }
  run.calls.push(call)
  return call
}

function finishOf({ calls = [] }: AnswerOption): string {
  return calls.length > 0 ? 'tool_calls' : 'stop'
}

/** About four characters each, as in English. */
function tokensOf(messages: readonly ChatMessage[]): number {
  let chars = 0
  for (const { content, tool_calls = [] } of messages) {
    chars += 16 + (content?.length ?? 0)
    for (const { function: called } of tool_calls) chars += called.arguments.length + 24
  }
  return Math.ceil(chars / 4)
}

function answerOf(run: Growing, index: number, option: AnswerOption): ChatMessage {
  const calls = (option.calls ?? []).map((call, nth) => chatCall(run, call, [index, nth]))
  return {
    role: 'assistant',
    content: option.text ?? (calls.length > 0 || option.refusal !== undefined ? null : ''),
    ...(option.refusal === undefined ? {} : { refusal: option.refusal }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

function chatCall(run: Growing, call: CallOption, place: readonly number[]): ChatToolCall {
  const id = call.id ?? `call_${hexFrom(20, run.name, ...place)}`
  const written = typeof call.args === 'string' ? call.args : JSON.stringify(call.args ?? {})
  return { id, type: 'function', function: { name: call.name, arguments: written } }
}

function recordTools(
  { run, options }: Book,
  { about, history, now, results }: Moment & { results: readonly (string | ResultOption)[] },
): RecordedTool[] {
  const open = unanswered(history)
  return results.map((given) => {
    const result = typeof given === 'string' ? { text: given } : given
    const at = result.id === undefined ? 0 : open.findIndex(({ id }) => id === result.id)
    const call = at < 0 ? undefined : open.splice(at, 1)[0]
    const after_ms = result.after_ms ?? options.tool_ms ?? 400
    const tool: RecordedTool = {
      index: run.tools.length,
      agent: about,
      start_time: now,
      end_time: now + BigInt(after_ms) * nsPerMs,
      tool_call_id: call?.id ?? result.id ?? `call_${hexFrom(20, run.name, 'none')}`,
      name: call?.function.name ?? 'unknown',
      arguments: call?.function.arguments ?? '{}',
      result: result.text,
      failed: result.failed ?? false,
    }
    run.tools.push(tool)
    return tool
  })
}

/** Calls in the history without a result, oldest first. */
function unanswered(history: readonly ChatMessage[]): ChatToolCall[] {
  const answered = new Set(history.map(({ tool_call_id }) => tool_call_id))
  const last = history.findLast(({ role }) => role === 'assistant')
  return (last?.tool_calls ?? []).filter(({ id }) => !answered.has(id))
}

function rowsOfRun(run: RecordedRun, source: RunSource): Observation[] {
  return rowsToldBy(source, run).sort(inOrder)
}

function rowsToldBy(source: RunSource, run: RecordedRun): Observation[] {
  if (source === 'proxy') return proxyRows(run)
  if (source === 'api') return apiRows(run)
  return otlpRows(run, {
    content: source !== 'otlp_no_content',
    dialect: source === 'otlp_openinference' ? 'openinference' : 'otel',
  })
}

function inOrder(a: Observation, b: Observation): number {
  if (a.start_time !== b.start_time) return a.start_time < b.start_time ? -1 : 1
  return a.observation_id < b.observation_id ? -1 : a.observation_id > b.observation_id ? 1 : 0
}
