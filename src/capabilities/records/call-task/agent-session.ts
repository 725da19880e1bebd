import { type JsonObject, objectFrom, parsedJson, textFrom } from '../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../model/exchange.ts'
import { isResponseId } from '../../../model/response-id.ts'
import type { TaskRule } from '../../../model/task-rules.ts'
import { isUniqueId } from './unique-id.ts'

/** The session of an agent, as the agent names it. */
export type AgentSession = {
  rule: TaskRule
  session: string
  /** A sub-agent or a thread of the session; empty for the session's own agent. */
  agent: string
}

/** The parts of a call that may name a session. */
export type AskedCall = {
  facts: Pick<ExchangeFacts, 'endpoint' | 'agent_headers' | 'task_rules_off'>
  /** The parsed request; undefined if it is not a JSON object. */
  body: JsonObject | undefined
}

type Found = Omit<AgentSession, 'rule'>

/**
 * Finds the session of a call from the headers and the body of its client, by the first rule that
 * matches and is not switched off. Rules that need other calls are not asked.
 */
export function findAgentSession(call: AskedCall): AgentSession | undefined {
  for (const [rule, find] of sessionRules) {
    if (call.facts.task_rules_off?.includes(rule)) continue
    const found = find(call)
    const session = sessionText(found?.session)
    if (session === '') continue
    const agent = sessionText(found?.agent)
    return { rule, session, agent: agent === session ? '' : agent }
  }
  return undefined
}

/** Characters of a session's name. */
const session_chars_max = 256

/** Returns the name of a session; empty for a text that is too long or has control characters. */
function sessionText(value: unknown): string {
  const text = textFrom(value).trim()
  const isValid = text.length <= session_chars_max && !/\p{Cc}/u.test(text) && text.isWellFormed()
  return isValid ? text : ''
}

function header({ facts }: AskedCall, ...names: readonly string[]): string {
  for (const name of names) {
    const value = facts.agent_headers?.[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return ''
}

const named =
  (name: string) =>
  (call: AskedCall): Found => ({ session: header(call, name), agent: '' })

const sessionRules: readonly (readonly [TaskRule, (call: AskedCall) => Found | undefined])[] = [
  [
    'claude_code',
    (call) => ({
      session: header(call, 'x-claude-code-session-id'),
      agent: header(call, 'x-claude-code-agent-id'),
    }),
  ],
  [
    'codex',
    (call) => ({
      session: header(call, 'session-id', 'session_id', 'conversation_id', 'thread-id'),
      agent: header(call, 'thread-id'),
    }),
  ],
  ['x_session_id', named('x-session-id')],
  ['x_session_affinity', named('x-session-affinity')],
  ['x_opencode_session', named('x-opencode-session')],
  [
    'metadata_user_id',
    ({ facts, body }) => {
      const isMessages = facts.endpoint.startsWith('messages')
      const metadata = isMessages ? objectFrom(body?.['metadata']) : undefined
      return { session: sessionInUserId(metadata?.['user_id']), agent: '' }
    },
  ],
  [
    'prompt_cache_key',
    ({ body }) => {
      const key = textFrom(body?.['prompt_cache_key'])
      // Many applications send one constant key with all their calls.
      return { session: isUniqueId(key) ? key : '', agent: '' }
    },
  ],
  [
    'conversation',
    (call) => {
      const id = conversationOf(call)
      // Some agents keep the id of the latest answer as the id of their conversation.
      return { session: isResponseId(id) ? '' : id, agent: '' }
    },
  ],
]

/** The older form of Claude Code: `user_<hash>_account_<uuid>_session_<uuid>`. */
const sessionAtEnd = /_session_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i
const maxUserIdChars = 4_096

/**
 * Returns the session part of a `metadata.user_id` of Claude Code, in its older or its newer form,
 * which is JSON text. Empty without one. The rest names a person.
 */
export function sessionInUserId(value: unknown): string {
  const text = textFrom(value)
  if (text.length > maxUserIdChars) return ''
  if (!text.trimStart().startsWith('{')) return sessionAtEnd.exec(text)?.[1] ?? ''
  return sessionText(objectFrom(parsedJson(text))?.['session_id'])
}

function conversationOf({ facts, body }: AskedCall): string {
  const value = facts.endpoint === 'responses' ? body?.['conversation'] : undefined
  return textFrom(value) || textFrom(objectFrom(value)?.['id'])
}

/** Returns the answer that a call continues: the provider has the history before it. */
export function continuedResponse(call: AskedCall): string {
  const { facts, body } = call
  const { endpoint } = facts
  if (endpoint === 'responses') {
    const conversation = conversationOf(call)
    const previous = body?.['previous_response_id']
    return sessionText(previous) || (isResponseId(conversation) ? sessionText(conversation) : '')
  }
  if (endpoint === 'interactions') return sessionText(body?.['previous_interaction_id'])
  return ''
}

/** Returns whether a provider keeps the answer of a call, so that a later call can continue it. */
export function isKept({ facts: { endpoint }, body }: AskedCall): boolean {
  return (endpoint === 'responses' || endpoint === 'interactions') && body?.['store'] !== false
}
