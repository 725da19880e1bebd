import { z } from 'zod'
import type { Message, TaskRun, ToolUse } from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'
import { argumentsOf, commandOf, splitShellCommands, wordsOfTool } from '../tools/tool-words.ts'
import type { StepFacts } from './steps.ts'

const source = 'Source: polling measured in passing runs of the 800 labelled ones.'

/** Thresholds for polling: calls that are meant to be repeated. */
export const pollingSettings = {
  polling_warn_repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(4)
    .describe(`Minimum repeats of a polling call for a finding of low severity. ${source}`),
  polling_loop_repeats: z
    .int()
    .min(2)
    .max(1_000)
    .default(10)
    .describe(`Minimum repeats of a polling call for a loop. ${source}`),
  polling_gap_ms: z
    .int()
    .min(100)
    .max(3_600_000)
    .default(10_000)
    .describe(`Minimum median gap between calls, in ms, to count as polling. ${source}`),
}

/** Tells whether a single call shows that it waits for something; computed once per call. */
export const isPollingUse = remember(
  (use: ToolUse): boolean =>
    isWaiting(use) || isStatus(use) || saysPending(use) || isBlind(use) || asksPerson(use),
)

/** Tells whether equal steps are polling: by their tools, their results, or their pace. */
export function isPolling(run: TaskRun, steps: readonly StepFacts[], gap_ms: number): boolean {
  const uses = steps[0]?.uses ?? []
  return uses.some(isPollingUse) || isPaced(run, steps, gap_ms)
}

/**
 * Tells whether iterations of several calls are polling: one call waits or reports a pending state,
 * or all ask for a status.
 */
export function isPollingIteration(
  run: TaskRun,
  { iteration, steps }: { iteration: readonly StepFacts[]; steps: readonly StepFacts[] },
  gap_ms: number,
): boolean {
  const uses = iteration.flatMap((facts) => facts.uses)
  if (uses.some((use) => isWaiting(use) || saysPending(use) || asksPerson(use))) return true
  return uses.every(isStatus) || isPaced(run, steps, gap_ms)
}

/** Tells whether the client waits between steps: the gaps are long, or grow each time. */
export function isPaced(run: TaskRun, steps: readonly StepFacts[], gap_ms: number): boolean {
  const gaps = gapsOf(run, steps)
  const median = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)]
  if (median !== undefined && median >= gap_ms) return true
  const isGrowing = gaps.every((gap, at) => at === 0 || gap >= backOff * (gaps[at - 1] ?? 0))
  return gaps.length > 1 && isGrowing && (gaps.at(-1) ?? 0) >= gap_ms / 4
}

/** Minimum growth of each gap over the previous one to count as back-off. */
const backOff = 1.5

/** Returns the gaps from the end of one call to the start of the next, in ms. */
function gapsOf(run: TaskRun, steps: readonly StepFacts[]): number[] {
  const calls = steps.flatMap(({ step }) => run.calls[step.call] ?? [])
  return calls.slice(1).map(({ start_time }, at) => {
    const before = calls[at]?.end_time ?? start_time
    return Number(start_time - before) / 1e6
  })
}

const waiting = new Set('wait await sleep poll polling watch monitor heartbeat tail'.split(' '))

/** Tells whether a call waits for time to pass. */
function isWaiting(use: ToolUse): boolean {
  if (actionWordsOf(use).some((word) => waiting.has(word))) return true
  const command = commandOf(use)
  if (command === undefined) return false
  if (command.trim() === '') return true
  return splitShellCommands(command).some(
    ({ words: [program = ''], is_piped }) => waitingPrograms.has(program) && !is_piped,
  )
}

/** Returns the words of a tool's name, and of its `action` if one tool has several. */
function actionWordsOf(use: ToolUse): readonly string[] {
  const { action } = argumentsOf(use)
  const words = wordsOfTool(use.name)
  return typeof action === 'string' ? [...words, ...wordsOfTool(action)] : words
}

/**
 * Words of calls that depend on hidden state (`scroll_down`, `press_key`, `pop`), are random, or
 * take pictures: equal calls can do something new each time.
 */
const blind = new Set(
  (
    'scroll press swipe undo redo next previous advance tick roll draw spin increment key pop dequeue ' +
    'receive consume random dice coin uuid screenshot snapshot capture'
  ).split(' '),
)
const maxBlindResultChars = 60
/** Placeholder for a picture or a file, which can differ each time; “file not found” is a fact. */
const placeholder =
  /^\W{0,4}(?:image|screenshot|binary|picture|file)\b(?!.{0,40}\b(?:not|no|cannot|missing|failed|empty|denied)\b).{0,40}$/i

function isBlind(use: ToolUse): boolean {
  const { result } = use
  if (result === null || result.length > maxBlindResultChars) return false
  return actionWordsOf(use).some((word) => blind.has(word)) || placeholder.test(result)
}

/** Tells whether the result comes from a person, like a message of the user. */
function asksPerson(use: ToolUse): boolean {
  const words = wordsOfTool(use.name)
  if (words.some((word) => word === 'human' || word === 'approval' || word === 'clarify'))
    return true
  return words[0] === 'ask' && words.some((word) => word === 'user' || word === 'customer')
}

const waitingPrograms = new Set(['sleep', 'wait', 'watch', 'tail', 'timeout'])

/** Tells whether a call asks for a status. */
function isStatus(use: ToolUse): boolean {
  const words = wordsOfTool(use.name)
  if (words.some((word) => word === 'status' || word === 'progress')) return true
  if (words.some((word) => word === 'job' || word === 'jobs') && words.includes('get')) return true
  const command = commandOf(use)
  if (command === undefined) return isStatusUrl(use)
  return splitShellCommands(command).some(
    ({ words: [program, ...rest] }) =>
      program !== 'git' && rest.some((word) => word === 'status' || word.startsWith('poll')),
  )
}

function isStatusUrl(use: ToolUse): boolean {
  const { url } = argumentsOf(use)
  return (
    typeof url === 'string' && /\/(status|jobs?|runs?|health|poll)(\/|\?|$)/.test(url.slice(0, 512))
  )
}

const pending_chars_max = 1_000
const pendingState =
  /(state|status|phase|stage)["']? ?[:=] ?["']?(pending|queued|running|in.progress|processing|starting|waiting|building)/i
const pendingWords =
  /still (running|in progress|processing|building|pending)|not (ready|finished|done|complete) yet|please wait/i

/** Tells whether a result reports that the work is still in progress. */
function saysPending({ result }: ToolUse): boolean {
  if (result === null || result.length > pending_chars_max) return false
  return pendingState.test(result) || pendingWords.test(result)
}

/** Maximum characters read of the user's message. */
const order_chars_max = 2_000

const repetition =
  /\b(\d{1,6}|two|three|four|five|six|ten|twelve|twenty|fifty|hundred|several|multiple|many)( more)? times\b|\brepeat(ed|edly)?\b|\b(in a loop|over and over|flaky|stress test|load test|benchmark)\b|\d ?(mal|fois|veces)\b/i

/** Tells whether the user's last message before a step asks for repetition. */
export function asksForRepetition(run: TaskRun, facts: StepFacts | undefined): boolean {
  const asked = facts && findLastOrder(run, facts)
  return asked !== undefined && repetition.test(asked.text.slice(0, order_chars_max))
}

function findLastOrder({ messages }: TaskRun, { step }: StepFacts): Message | undefined {
  return messages.findLast(
    ({ role, thread, call, is_harness = false }) =>
      role === 'user' && !is_harness && thread === step.thread && call <= step.call,
  )
}
