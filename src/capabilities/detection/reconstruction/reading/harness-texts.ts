import { jsonText } from '../../../../kernel/json-values.ts'
import { readMarkedAction } from '../text-actions/read-text-actions.ts'
import type { TextAction } from '../text-actions/text-action.ts'
import type { HistoryMessage } from './read-messages.ts'
import type { HistoryCall } from './tool-parts.ts'

/**
 * Texts that an agent's harness writes in the name of the user: results of tools, and reminders.
 * The marks are those of smolagents, ReAct agents, SWE-agent, Cline, Claude Code and Codex.
 */

/** A tool's result that a harness wrote as text. */
export type WrittenResult = { text: string; is_error: boolean | undefined }

const head_chars_max = 400
const resultHead =
  /^\s*(?:(?:observation|tool (?:response|result|output)|execution (?:result|output)|execution result of \[[^\]\n]{1,100}\]):|<(?:observation|tool_response|tool_result|function_results?|returncode)>|\[[\w.-]{1,64}(?: for [^\]\n]{1,200})?\] result:)\s*/i
const errorHead = /^\s*(?:call id: \S{1,128}\s+)?error:\s*/i
const retryWords = "Now let's retry:"

/** Reads a result from a text of the user; undefined for any other text. */
export function readWrittenResult(text: string): WrittenResult | undefined {
  const head = text.slice(0, head_chars_max)
  const found = resultHead.exec(head)
  if (found !== null) return { text: text.slice(found[0].length).trim(), is_error: undefined }
  const failed = errorHead.exec(head)
  const at = failed === null ? -1 : text.lastIndexOf(retryWords)
  if (failed === null || at === -1) return undefined
  return { text: text.slice(failed[0].length, at).trim(), is_error: true }
}

const action_chars_max = 16_384
const observation = /\n[ \t*]*observation[ \t*]*:[ \t*]*/i
const codeBlock = /<code>\s*([\s\S]*?)(?:<\/code>|$)/
const taggedCall = /<(?:tool_call|function_calls?|invoke)[ >]/
const calling = /(?:^|\n)Calling tools:\s/
const calledName = /'name': '([^'\n]{1,128})'/

/**
 * Reads the action in an answer without tool calls that a result follows; undefined if it only
 * talks. `sent` is the answer as the client sent it back, which can name the tool.
 */
export function readWrittenAction(said: string, sent: string): TextAction | undefined {
  const text = said.slice(0, action_chars_max)
  const named = calling.test(sent) ? calledName.exec(sent.slice(said.length))?.[1] : undefined
  const code = codeBlock.exec(text)?.[1]
  if (code !== undefined) {
    return { name: named ?? 'code', args: jsonText({ code: code.trim() }) }
  }
  const action = readMarkedAction(text)
  if (action !== undefined) return named === undefined ? action : { ...action, name: named }
  if (named === undefined && !taggedCall.test(text)) return undefined
  return { name: named ?? 'action', args: jsonText({ text: text.trim() }) }
}

/** Reads the observation that a client added to the answer itself, after the words of the model. */
export function readAddedObservation(rest: string): string | undefined {
  const head = observation.exec(`\n${rest}`)
  return head === null ? undefined : rest.slice(head.index + head[0].length - 1).trim()
}

/** Maximum characters that a client adds to an answer without saying why, such as a closing tag. */
const added_chars_max = 32
const said_chars_min = 16

/**
 * Tells whether a message is a model's answer as its client wrote it down: with its calls as text,
 * with the result added, or with a closing tag that a stop sequence had cut off.
 */
export function isWrittenAnswer(said: HistoryMessage, reported: HistoryMessage): boolean {
  if (reported.role !== 'assistant' || reported.calls.length > 0) return false
  const sent = reported.text.trimStart()
  if (said.calls.length > 0) return said.calls.every((call) => isNamed(call, sent))
  const text = said.text.trim()
  if (text.length < said_chars_min || !sent.startsWith(text)) return false
  const rest = sent.slice(text.length)
  return rest.length <= added_chars_max || calling.test(rest) || observation.test(`\n${rest}`)
}

function isNamed({ id, name }: Pick<HistoryCall, 'id' | 'name'>, sent: string): boolean {
  if (id !== '' && sent.includes(id)) return true
  return calling.test(sent) && sent.includes(`'name': '${name}'`)
}

const opening =
  /<(system[-_]reminder|environment_(?:context|details)|user_instructions|browser_state|agent_state|step_info|read_state|context_update)(?: [^>\n]{0,200})?>/gi
const reminderHead = /^\s*\[(?:system|step|context|token|automatic)[- ]?\w{0,16}\]/i

/** Removes the reminders in tags that a harness puts into texts and results. */
export function stripReminders(text: string): string {
  if (!text.includes('</')) return text
  let kept = ''
  let from = 0
  for (const { 0: tag, 1: name = '', index } of text.matchAll(opening)) {
    if (index < from) continue
    const close = `</${name}>`
    const end = text.indexOf(close, index + tag.length)
    // Without its end a tag is text, and so are all later ones: the search stays linear.
    if (end === -1) break
    kept += text.slice(from, index)
    from = end + close.length
  }
  return from === 0 ? text : kept + text.slice(from)
}

/** Tells whether a text is nothing but reminders of a harness. */
export function isReminder(text: string): boolean {
  if (reminderHead.test(text.slice(0, head_chars_max))) return true
  return text.includes('</') && stripReminders(text).trim() === ''
}

/** A text with its numbers apart. */
export type TextForm = { template: string; numbers: readonly number[] }

const form_chars_max = 2_000

/** Returns the form of a text: equal texts with other numbers have one template. */
export function readForm(text: string): TextForm {
  const numbers: number[] = []
  const head = text.slice(0, form_chars_max)
  const template = head.replaceAll(/\d+(?:[.,]\d+)*/g, (found) => {
    numbers.push(Number(found.replaceAll(',', '')))
    return '#'
  })
  return { template, numbers }
}

const plain_chars_max = 40
const markup = /^\s*[[<{#*]|\b(?:step|turn|iteration|round|attempt) ?#? ?# ?(?:of|\/) ?#/i

/**
 * Tells whether two texts can be one sentence of a harness: the same template whose numbers stay or
 * count by one. A few plain words are a person's.
 */
export function isSameNudge(one: TextForm, next: TextForm): boolean {
  if (one.template !== next.template) return false
  if (markup.test(one.template)) return true
  if (one.template.trim().length < plain_chars_max) return false
  return one.numbers.every((number, at) => Math.abs((next.numbers[at] ?? NaN) - number) <= 1)
}
