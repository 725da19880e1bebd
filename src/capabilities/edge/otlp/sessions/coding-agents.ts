/** A coding agent that exports metrics and log records, and no spans unless it is asked to. */
export type CodingAgent = {
  /** The agent's name in observations. */
  name: string
  /** The start of the names of its metrics and events. */
  prefix: string
  provider: string
}

const claudeCode: CodingAgent = {
  name: 'Claude Code',
  prefix: 'claude_code.',
  provider: 'anthropic',
}
const codex: CodingAgent = { name: 'Codex', prefix: 'codex.', provider: 'openai' }
const geminiCli: CodingAgent = { name: 'Gemini CLI', prefix: 'gemini_cli.', provider: 'gemini' }

const agents = [claudeCode, codex, geminiCli] as const

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
