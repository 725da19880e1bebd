/** Headers in which agents name their session; every client may send them. */
const sessionHeaders = [
  'x-claude-code-session-id',
  'x-claude-code-agent-id',
  'x-session-id',
  'x-session-affinity',
  'x-opencode-session',
] as const

/** Names of Codex, which are too general to be believed of other clients. */
const codexHeaders = ['session-id', 'thread-id', 'session_id', 'conversation_id'] as const

const sessionNames: ReadonlySet<string> = new Set(sessionHeaders)
const codexNames: ReadonlySet<string> = new Set(codexHeaders)

/** Headers that tell who the client is. */
const clientHeaders = ['user-agent', 'originator'] as const

/** The headers that `readAgentHeaders` reads, in lower case. */
export const agentHeaderNames = [...sessionHeaders, ...codexHeaders, ...clientHeaders]

/** Printable ASCII of limited length. Other values are ignored. */
const sessionName = /^[\x20-\x7e]{1,256}$/

/**
 * Returns the headers in which the client's agent names its session, by lower-case name; undefined
 * without one. `flat`: name, value, and so on. A header that came twice, is too long or has control
 * characters names no session, and is forwarded all the same.
 */
export function readAgentHeaders(flat: readonly string[]): Record<string, string> | undefined {
  const found: Record<string, string> = {}
  const seen = new Set<string>()
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i] ?? ''
    const value = flat[i + 1] ?? ''
    if (!sessionNames.has(name) && !codexNames.has(name)) continue
    if (seen.has(name)) delete found[name]
    else if (sessionName.test(value) && (!codexNames.has(name) || isCodex(flat)))
      found[name] = value
    seen.add(name)
  }
  return Object.keys(found).length === 0 ? undefined : found
}

function isCodex(flat: readonly string[]): boolean {
  for (let i = 0; i < flat.length; i += 2) {
    const isClient = flat[i] === 'user-agent' || flat[i] === 'originator'
    if (isClient && /^codex/i.test(flat[i + 1] ?? '')) return true
  }
  return false
}
