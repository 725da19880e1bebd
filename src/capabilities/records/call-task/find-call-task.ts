import { hash } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { objectFrom, parsedJson, textFrom } from '../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../model/exchange.ts'
import type { ToolCall } from '../../../model/observation.ts'
import type { TaskRule } from '../../../model/task-rules.ts'
import {
  type AgentSession,
  type AskedCall,
  continuedResponse,
  findAgentSession,
  isKept,
} from './agent-session.ts'
import type { CallLinks } from './links.ts'
import { readSentHistory, type SentCall, type SentMessage } from './sent-history.ts'
import { isUniqueId } from './unique-id.ts'

/** Where a call belongs, as far as it is known from the call alone. Empty text: not known. */
export type CallTask = {
  rule: TaskRule | ''
  /** Id of a task that ends with its calls; empty if the trace is the task. */
  task_id: string
  /** The session of the agent, which is the conversation unless the client names one. */
  session: string
  /** The sub-agent of the session that makes the call. */
  agent: string
  links: CallLinks
}

/** A call with its answer. */
export type AnsweredCall = AskedCall & {
  facts: Pick<
    ExchangeFacts,
    'trace_id' | 'task_id' | 'conversation_id' | 'parent_observation_id' | 'key_id'
  >
  /** The provider's name of the answer. */
  response_id: string
  tool_calls: readonly ToolCall[]
  /** The text of the answer. */
  answer_text: string
}

/**
 * Finds the task and the session of a call; pure. Each call of a turn of a session leads to the same
 * task by itself, so that the order in which calls arrive, repeats and the number of workers do not
 * matter. A call that continues another one is linked to it once both are stored; see `CallLinks`.
 */
export function findCallTask(call: AnsweredCall): CallTask {
  const session = findAgentSession(call)
  const turn = turnOf(call)
  const found: CallTask = {
    rule: session?.rule ?? '',
    task_id: '',
    session: session?.session ?? '',
    agent: session?.agent ?? '',
    links: { gives: [], wants: '' },
  }
  addGivenNames(found, call)
  if (call.facts.task_id !== '' && call.facts.conversation_id !== '') found.rule = ''
  if (!isFree(call)) return found
  const previous = isOff(call, 'response_id') ? '' : continuedResponse(call)
  if (session !== undefined && session.rule !== 'conversation') {
    placeInSession(found, { session, turn, previous })
  } else if (previous !== '') {
    found.rule ||= 'response_id'
    found.links.wants = `response:${previous}`
  } else if (session === undefined) placeByHistory(found, { call, turn })
  else placeInConversation(found, { call, turn })
  return found
}

/** A call without a task of the client, and outside of a trace of the client. */
function isFree({ facts }: AnsweredCall): boolean {
  return facts.task_id === '' && facts.parent_observation_id === ''
}

function isOff({ facts }: AnsweredCall, rule: TaskRule): boolean {
  return facts.task_rules_off?.includes(rule) ?? false
}

function turnOf({ facts, body }: AskedCall): UserTurn | undefined {
  const history = body === undefined ? undefined : readSentHistory(facts.endpoint, body)
  return history === undefined ? undefined : findUserTurn(history)
}

/** The latest turn of a person in the history of a call. */
type UserTurn = {
  /** Number of the turn, from 1; 0 if no person speaks in the history. */
  number: number
  /** The words of the person in the turn. */
  text: string
  /** The words of the person in the first turn. */
  first_text: string
  /** The first tool call of an answer since the turn began. */
  first_call: SentCall | undefined
  /**
   * The first answer since the turn began, if it has no tool call: only text of a harness can follow it
   * in the same turn. Empty without one.
   */
  first_answer: string
  /** The history has an answer of the model. */
  has_answer: boolean
}

/**
 * Finds the latest turn in the messages of a request. A message of a person starts a turn, together
 * with those that follow it directly. Text right after the result of a tool continues the turn: the
 * model has not answered yet, so that it comes from the harness. The same holds for reminders of a
 * harness wherever they are.
 */
function findUserTurn(messages: readonly SentMessage[]): UserTurn {
  const turn: UserTurn = {
    number: 0,
    text: '',
    first_text: '',
    first_call: undefined,
    first_answer: '',
    has_answer: false,
  }
  let last: SentMessage['role'] = 'assistant'
  for (const message of messages) {
    if (message.role === 'other') continue
    if (message.role === 'user') {
      const said = message.texts.map(personsText).filter((text) => text !== '')
      if (last === 'tool' || (said.length === 0 && !message.hasMedia)) continue
      takeText(turn, said, last === 'user')
    } else if (message.role === 'assistant') {
      turn.has_answer = true
      turn.first_call ??= message.calls[0]
      turn.first_answer ||= message.texts.join('').trim()
    }
    last = message.role
  }
  return turn
}

function takeText(turn: UserTurn, said: readonly string[], continues: boolean): void {
  if (!continues) {
    turn.number += 1
    turn.first_call = undefined
    turn.first_answer = ''
  }
  turn.text = [...(continues ? [turn.text] : []), ...said].join('\n')
  if (turn.number === 1) turn.first_text = turn.text
}

/** Returns what a person said in a text; empty for a text that a harness wrote. */
function personsText(text: string): string {
  const said = withoutReminders(text).trim()
  return harness.test(said) ? '' : said
}

const opening = '<system-reminder>'

const closing = '</system-reminder>'

/** Removes the reminders that a harness puts into messages. One without an end reaches to the end. */
function withoutReminders(text: string): string {
  let kept = ''
  let at = 0
  for (;;) {
    const from = text.indexOf(opening, at)
    if (from === -1) return kept + text.slice(at)
    kept += text.slice(at, from)
    const to = text.indexOf(closing, from)
    if (to === -1) return kept
    at = to + closing.length
  }
}

/** Other words with which harnesses begin the text that they add to a history. */
const harness = /^(?:<environment_context>|<user_instructions>|\[system reminder\]|Observation:)/i

/** Names under which later calls find this one. */
function addGivenNames({ links, rule, session }: CallTask, call: AnsweredCall): void {
  if (call.response_id !== '' && isKept(call)) links.gives.push(`response:${call.response_id}`)
  if (rule !== 'claude_code') {
    if (rule === 'conversation') links.gives.push(...resultNames(session, call.tool_calls))
    return
  }
  for (const { arguments: given } of call.tool_calls.slice(0, prompts_max)) {
    const prompt = textFrom(objectFrom(parsedJson(given))?.['prompt']).trim()
    if (prompt !== '') links.gives.push(promptName(session, prompt))
  }
}

/** Most tool calls of an answer that can start a sub-agent or be answered by name. */
const prompts_max = 32

function promptName(session: string, prompt: string): string {
  return `prompt:${digestOf(session, prompt)}`
}

function resultNames(session: string, calls: readonly { id: string }[]): string[] {
  const named = calls.filter(({ id }) => id !== '').slice(0, prompts_max)
  return named.map(({ id }) => `call:${digestOf(session, id)}`)
}

type InSession = { session: AgentSession; turn: UserTurn | undefined; previous: string }

/** A turn of a session is a task. A sub-agent works in the task of the call that started it. */
function placeInSession(found: CallTask, { session, turn, previous }: InSession): void {
  const { rule, agent } = session
  const name = [rule, shortened(session.session)]
  if (agent !== '') name.push(shortened(agent))
  if (rule === 'claude_code' && agent !== '') {
    found.task_id = name.join(':')
    if (turn !== undefined && turn.first_text !== '') {
      found.links.wants = promptName(session.session, turn.first_text)
    }
  } else if (turn !== undefined && previous === '') {
    found.task_id = [...name, `${turn.number}-${digestOf(session.session, turn.text)}`].join(':')
  } else if (turn !== undefined && turn.number > 0) {
    found.task_id = [...name, digestOf(previous, turn.text)].join(':')
  } else if (previous !== '') found.links.wants = `response:${previous}`
}

/** Replaces a long name by its digest, so that the id of a task fits its column. */
function shortened(name: string): string {
  return name.length <= name_chars_max ? name : digestOf(name)
}

const name_chars_max = 64

/** The provider holds the history: results of tools continue the call that asked for them. */
function placeInConversation(found: CallTask, { call, turn }: History): void {
  if (turn === undefined || turn.number > 0 || turn.has_answer || call.body === undefined) return
  const [result] =
    readSentHistory(call.facts.endpoint, call.body)?.flatMap((one) => one.results) ?? []
  if (result) found.links.wants = resultNames(found.session, [{ id: result }])[0] ?? ''
}

type History = { call: AnsweredCall; turn: UserTurn | undefined }

/**
 * A loop sends the answer with its first tool call again with each step, and the call that got this
 * answer knows it too. So the first tool call since the turn began links them. Without the call that got
 * it, nothing is joined: a history that is replayed, or given as an example, continues no call. An id
 * that is not unique links calls only together with the words before it, and for calls near in time.
 */
function placeByHistory(found: CallTask, { call, turn }: History): void {
  if (turn === undefined || isOff(call, 'history') || call.facts.endpoint.endsWith('.count_tokens'))
    return
  const isFirst = turn.first_call === undefined && turn.first_answer === ''
  const name = stepName(call, turn, isFirst ? call.tool_calls[0] : turn.first_call)
  if (name === '') return
  found.rule = 'history'
  if (isFirst) {
    found.links.gives.push(name)
    found.task_id = `history:${digestOf(name, call.facts.trace_id)}`
  } else found.links.wants = name
}

/** Returns the name of the first step of a loop; empty if there is no step. */
function stepName(call: AnsweredCall, turn: UserTurn, first: SentCall | undefined): string {
  const { key_id = '' } = call.facts
  if (first !== undefined && isUniqueId(first.id)) return `step:${digestOf(key_id, first.id)}`
  const step = first === undefined ? textStep(call, turn) : callText(turn.number, first)
  return step === '' ? '' : `history:${digestOf(key_id, turn.first_text, turn.text, step)}`
}

/**
 * Returns the text that identifies the first step of a loop without tool calls. Some agents read the calls in the text
 * of the answer, and send the results as text that begins with `Observation:`. Only the beginning of the
 * answer, because such agents add the end of a cut answer themselves.
 */
function textStep(call: AnsweredCall, turn: UserTurn): string {
  const said = turn.first_answer || (asksForObservations(call) ? call.answer_text.trim() : '')
  return said === '' ? '' : `${turn.number} ${said.slice(0, answerStartChars)}`
}

const answerStartChars = 64

/** Agents that run tools by text let the model stop before the result of a tool. */
function asksForObservations({ body }: AnsweredCall): boolean {
  const stops = [body?.['stop'], body?.['stop_sequences']].flat()
  return stops.some((stop) => textFrom(stop).includes('Observation'))
}

function callText(turn: number, { id, name, arguments: given }: SentCall): string {
  const value = typeof given === 'string' && given !== '' ? (parsedJson(given) ?? given) : given
  try {
    return canonicalJson([turn, id, name, value || {}])
  } catch {
    // Too deeply nested to serialise.
    return `${turn} ${id} ${name}`
  }
}

/** Returns a digest of 96 bits of texts. */
function digestOf(...texts: readonly string[]): string {
  const whole = texts.length === 1 ? (texts[0] ?? '') : JSON.stringify(texts)
  return hash('sha1', whole, 'base64url').slice(0, digest_chars)
}

const digest_chars = 16
