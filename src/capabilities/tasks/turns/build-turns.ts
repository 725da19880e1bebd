import { dollarsFrom, shownDollars } from '../../../kernel/dollars.ts'
import { isoFromNs } from '../../../kernel/time.ts'
import { toStepNumber } from '../../detection/index.ts'
import {
  type HistoryBreak,
  type Message,
  type ModelCall,
  spanKey,
  type TaskRun,
  type ToolUse,
} from '../../detection/reconstruction/index.ts'
import { msBetween } from '../timeline-drafts.ts'
import { indexCalls, type Marks } from './mark-findings.ts'
import { titleOfTool } from './tool-title.ts'
import type { Turn } from './turn-schema.ts'

/** How much text turns have. */
export type TurnLimits = {
  /** Characters of one text. */
  text_chars: number
  /** Characters of a turn; then each text is cut to its first words. */
  turn_chars: number
  /** New messages of a turn. */
  messages: number
  /** Characters of all turns together; the turn that exceeds it is the last one. */
  page_chars: number
}

export const turnLimits: TurnLimits = {
  text_chars: 4_000,
  turn_chars: 64_000,
  messages: 100,
  page_chars: 4_000_000,
}

/** Messages kept at the beginning when a turn has too many: the system's text and the task. */
const firstMessages = 10

/**
 * Builds the turns of some calls of a run, in their order; pure. Each turn has only what no earlier
 * turn shows: the new messages, the answer and its tool uses. Ends early when the texts exceed
 * `page_chars`, after at least one turn. Work grows with the size of the run, not with the histories
 * that were sent again.
 */
export function buildTurns(
  run: TaskRun,
  calls: readonly ModelCall[],
  { marks, limits }: { marks: Marks; limits: TurnLimits },
): Turn[] {
  const parts = collectParts(run, calls)
  const turns: Turn[] = []
  let chars = 0
  for (const call of calls) {
    const budget = createTextBudget(limits)
    turns.push(toTurn(run, call, { parts, marks, budget, messages_max: limits.messages }))
    chars += budget.spent
    if (chars > limits.page_chars) break
  }
  return turns
}

/** A text of a reply: whole, or its beginning. */
type CutText = { text: string; characters: number; cut: boolean }

/** Cuts the texts of one turn. */
type TextBudget = {
  /**
   * Returns the beginning of a text. `characters` is the length of the whole text, where the given
   * one is already cut.
   */
  cut(text: string, characters?: number): CutText
  /** Characters given out. */
  readonly spent: number
}

/** Characters that each text keeps after the budget of its turn is spent. */
const rest_chars = 200

/** Creates the budget of a turn: characters of each text, and of all texts together. */
function createTextBudget(limits: { text_chars: number; turn_chars: number }): TextBudget {
  let spent = 0
  return {
    cut: (text, characters = text.length) => {
      const left = Math.max(rest_chars, limits.turn_chars - spent)
      const held = cutAt(text, Math.min(limits.text_chars, left))
      spent += held.length
      return { text: held, characters, cut: held.length < characters }
    },
    get spent() {
      return spent
    },
  }
}

/** Returns the first characters, without half of a surrogate pair. */
function cutAt(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars)
}

/** The parts of a run that belong to some calls, by the index of the call. */
type Parts = {
  messages: ReadonlyMap<number, Message[]>
  tools: ReadonlyMap<number, ToolUse[]>
  breaks: ReadonlyMap<number, HistoryBreak>
}

function collectParts(run: TaskRun, calls: readonly ModelCall[]): Parts {
  const wanted = new Set(calls.map(({ index }) => index))
  const byPlace = indexCalls(run)
  const messages = new Map<number, Message[]>()
  const tools = new Map<number, ToolUse[]>()
  for (const message of run.messages) {
    if (message.step === null && wanted.has(message.call)) push(messages, message.call, message)
  }
  for (const use of run.tools) {
    const call = placeTool(run, use, byPlace)
    if (call !== undefined && wanted.has(call)) push(tools, call, use)
  }
  return { messages, tools, breaks: new Map(run.breaks.map((one) => [one.call, one])) }
}

function push<Item>(lists: Map<number, Item[]>, key: number, item: Item): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

type TurnParts = { parts: Parts; marks: Marks; budget: TextBudget; messages_max: number }

function toTurn(
  run: TaskRun,
  call: ModelCall,
  { parts, marks, budget, messages_max }: TurnParts,
): Turn {
  const { index, step, content, content_state } = call
  // The answer comes first, because a spent budget cuts what follows.
  const answer = toAnswer(run, call, budget)
  const tool_uses = (parts.tools.get(index) ?? []).map((use) => toToolUse(use, { call, budget }))
  const all = parts.messages.get(index) ?? []
  const shown = keepEnds(all, messages_max)
  return {
    turn: index,
    step,
    step_number: toStepNumber(step),
    thread: call.thread,
    ...toRecords(run, call),
    retry_of: call.retry_of,
    ...toFacts(call),
    content,
    content_state,
    history: toHistory(call, all.length, parts.breaks.get(index)),
    messages: shown.map((message) => toMessage(message, budget)),
    messages_left_out: all.length - shown.length,
    answer,
    tool_uses,
    findings: [...(marks.findings.get(index) ?? [])],
    iteration: (step === null ? undefined : marks.iterations.get(step)) ?? null,
    verification: null,
  }
}

function toRecords(run: TaskRun, { trace_id, observation_id }: ModelCall) {
  const further_records = (run.further_records.get(observation_id) ?? []).map((place) => ({
    trace_id: place.trace_id,
    observation_id: place.observation_id,
  }))
  const counted_once = further_records.length > 0
  return { trace_id, observation_id, counted_once, further_records }
}

function toFacts(call: ModelCall) {
  const { error_type: type, error_message: message } = call
  const isError = call.status === 'error' || type !== '' || message !== ''
  return {
    started_at: isoFromNs(call.start_time),
    ended_at: isoFromNs(call.end_time),
    latency_ms: msBetween(call.start_time, call.end_time),
    time_to_first_token_ms: call.time_to_first_token_ms,
    provider: call.provider,
    model: call.model,
    status: call.status,
    status_code: call.status_code,
    outcome: call.outcome,
    finish_reason: call.finish_reason,
    streamed: call.streamed,
    error: isError ? { type, message } : null,
    tokens: toTokens(call),
    cost_usd: call.nano_dollars === null ? null : shownDollars(dollarsFrom(call.nano_dollars)),
  }
}

function toTokens({ tokens }: ModelCall): Turn['tokens'] {
  const buckets = {
    input_uncached: tokens.input_uncached_tokens,
    cache_read: tokens.cache_read_tokens,
    cache_write: tokens.cache_write_tokens,
    output_visible: tokens.output_visible_tokens,
    reasoning: tokens.reasoning_tokens,
  }
  const total = Object.values(buckets).reduce<number>((sum, some) => sum + (some ?? 0), 0)
  return { ...buckets, total, source: tokens.usage_source }
}

function toHistory(
  { history_messages, is_only_new }: ModelCall,
  fresh: number,
  broken: HistoryBreak | undefined,
): Turn['history'] {
  const isKnown = history_messages !== null
  return {
    sent: !isKnown ? 'unknown' : is_only_new === true ? 'only_new' : 'all',
    earlier_messages: isKnown ? Math.max(0, history_messages - fresh) : null,
    new_messages: fresh,
    break: broken === undefined ? null : { kind: broken.kind, lost_messages: broken.lost.length },
  }
}

function keepEnds(messages: readonly Message[], messages_max: number): readonly Message[] {
  if (messages.length <= messages_max) return messages
  const first = Math.min(firstMessages, messages_max)
  const last = messages_max - first
  return [...messages.slice(0, first), ...messages.slice(messages.length - last)]
}

function toMessage(
  { role, text, chars, is_harness, tool }: Message,
  budget: TextBudget,
): Turn['messages'][number] {
  const from_harness = is_harness === true
  return { role, ...budget.cut(text, chars), from_harness, tool_use: tool ?? null }
}

function toAnswer(run: TaskRun, call: ModelCall, budget: TextBudget): Turn['answer'] {
  const step = call.step === null ? undefined : run.steps[call.step]
  if (step === undefined) return null
  const { text, chars, reasoning, refusal, is_partial, after_user } = step
  return {
    text: text === null ? null : budget.cut(text, chars),
    reasoning: reasoning === undefined ? null : budget.cut(reasoning.text, reasoning.chars),
    refused: refusal !== undefined,
    partial: is_partial,
    follows_user: after_user,
  }
}

function toToolUse(
  use: ToolUse,
  { call, budget }: { call: ModelCall; budget: TextBudget },
): Turn['tool_uses'][number] {
  const { arguments: args, result } = use
  const isOfHistory = use.asked_by.observation_id === call.observation_id
  return {
    index: use.index,
    tool_call_id: use.tool_call_id,
    name: use.name,
    title: titleOfTool(use.name, args),
    origin: use.step !== null ? 'answer' : isOfHistory ? 'history' : 'run',
    arguments: args === null ? null : budget.cut(args, use.arguments_chars),
    arguments_valid: !use.arguments_broken,
    answered: use.is_answered,
    result: result === null ? null : budget.cut(result, use.result_chars),
    error: use.fault,
    latency_ms: use.latency_ms,
    orphan: use.orphan,
    read_from: use.read_from ?? 'call',
    asked_at: isoFromNs(use.asked_at),
    answered_at: use.answered_at === null ? null : isoFromNs(use.answered_at),
    answered_by: use.answered_by,
  }
}

/**
 * Returns the call at which each tool use is shown, by its index in the run: the call whose answer
 * asked for it, the call whose history had it first, or the last call of its thread before it ran.
 * Undefined only in a run without calls.
 */
function placeTool(
  run: TaskRun,
  use: ToolUse,
  calls: ReadonlyMap<string, number>,
): number | undefined {
  const step = use.step === null ? undefined : run.steps[use.step]
  if (step !== undefined) return step.call
  const asker = calls.get(spanKey(use.asked_by))
  if (asker !== undefined) return asker
  const own = run.threads[use.thread]?.calls ?? []
  return (
    findLastBefore(run, own, use.asked_from) ?? own[0] ?? (run.calls.length > 0 ? 0 : undefined)
  )
}

function findLastBefore(
  run: TaskRun,
  calls: readonly number[],
  instant: bigint,
): number | undefined {
  return calls.findLast((call) => (run.calls[call]?.start_time ?? instant) <= instant)
}
