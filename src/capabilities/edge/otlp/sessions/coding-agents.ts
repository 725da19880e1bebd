import type { OtlpSpan } from '../contract.ts'
import { emptyAttributes } from '../decode/items.ts'

/** A coding agent that exports metrics and log records, and no spans unless it is asked to. */
export type CodingAgent = {
  /** The agent's name in observations. */
  name: string
  /** The start of the names of its metrics and events. */
  prefix: string
  provider: string
  /**
   * True when calls are taken from log records even if the agent exports spans too, because its spans
   * lack tokens or have a trace for each call.
   */
  logs_hold_calls: boolean
}

const claudeCode: CodingAgent = {
  name: 'Claude Code',
  prefix: 'claude_code.',
  provider: 'anthropic',
  logs_hold_calls: false,
}
const codex: CodingAgent = {
  name: 'Codex',
  prefix: 'codex.',
  provider: 'openai',
  logs_hold_calls: true,
}
const geminiCli: CodingAgent = {
  name: 'Gemini CLI',
  prefix: 'gemini_cli.',
  provider: 'gemini',
  logs_hold_calls: true,
}

const agents = [claudeCode, codex, geminiCli] as const

/** The scope of all telemetry of Gemini CLI: spans, GenAI events and its own events. */
const geminiCliScope = 'gemini-cli'

/** Returns the agent whose log records hold the calls of the spans and GenAI events of a scope. */
export function loggedAgentOf(scope: string): CodingAgent | undefined {
  return scope === geminiCliScope ? geminiCli : undefined
}

/** Claude Code writes the attribute `event.name` without its prefix. */
const claudeCodeScope = 'com.anthropic.claude_code'

/** Returns the agent of a metric or an event; undefined for the names of other programs. */
export function agentOf(name: string): CodingAgent | undefined {
  return agents.find(({ prefix }) => name.startsWith(prefix) && name.length > prefix.length)
}

/**
 * Returns the whole name of an event: the first of these that is the name of an agent's event, or the
 * first with the prefix of Claude Code in one of its scopes. Returns '' if none is.
 */
export function agentEventName(names: readonly string[], scope: string): string {
  const whole = names.find((name) => agentOf(name) !== undefined)
  if (whole !== undefined) return whole
  const [first = ''] = names
  return first !== '' && scope.startsWith(claudeCodeScope) ? `${claudeCode.prefix}${first}` : ''
}

/** Keys that say what kind of call a span is, and what it used. */
const callKeys = /^gen_ai\.(?:operation\.name$|tool\.(?:name|call)|usage\.|(?:request|response)\.)/

/** A text about the tool. Its presence alone would make the span a tool. */
const toolDescription = 'gen_ai.tool.description'

/**
 * Returns a span of an agent whose log records hold its calls as a plain span, so that each call
 * counts once: attributes of the call get the prefix `span.`. Returns any other span unchanged.
 */
export function withoutLoggedCall(span: OtlpSpan, scope: string): OtlpSpan {
  if (loggedAgentOf(scope) === undefined) return span
  const attributes = emptyAttributes()
  const { keys, values } = span.attributes
  for (const [at, key] of keys.entries()) {
    if (key === toolDescription) continue
    attributes.keys.push(callKeys.test(key) ? `span.${key}` : key)
    attributes.values.push(values[at] ?? null)
  }
  return { ...span, attributes }
}
