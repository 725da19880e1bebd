import { objectFrom, parsedJson, textFrom } from '../../../../kernel/json-values.ts'
import type { Observation } from '../../../../model/observation.ts'
import { isResponseId } from '../../../../model/response-id.ts'
import type { HistoryMessage } from '../reading/read-messages.ts'
import { bounds, type RunState } from '../run-state.ts'
import { findAgent } from './agent-lanes.ts'
import { continueHead, type FollowedHistory, startBranch, startThread } from './continue-history.ts'
import { type Head, newHead, useHead } from './heads.ts'

/** The history that a call names instead of sending it: an answer, or a conversation. */
export type HistoryLink = { previous: string; conversation: string }

const previousKeys = [
  'request.previous_response_id',
  'request.previous_interaction_id',
  'gen_ai.request.previous_response_id',
] as const
const parametersKey = 'llm.invocation_parameters'

/** Reads the link of a call; undefined for a call that sends its history. */
export function readLink({
  attributes,
  conversation_external_id,
  source,
  response_id,
}: Observation): HistoryLink | undefined {
  const key = previousKeys.find((name) => isGiven(attributes[name]))
  if (key !== undefined) return { previous: attributes[key] ?? '', conversation: '' }
  const conversation = attributes['request.conversation']
  if (isGiven(conversation)) return { previous: '', conversation: readId(conversation) }
  const parameters = attributes[parametersKey]
  if (parameters?.includes('"previous_response_id"')) {
    const previous = textFrom(objectFrom(parsedJson(parameters))?.['previous_response_id'])
    if (previous !== '') return { previous, conversation: '' }
  }
  // Rows that were mapped earlier have the response that a call follows as their conversation.
  const isResponse =
    source === 'otlp' && isResponseId(response_id) && isResponseId(conversation_external_id)
  return isResponse ? { previous: conversation_external_id, conversation: '' } : undefined
}

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value !== '' && value !== 'null'
}

/** Reads the id of a conversation, which can be an object. */
function readId(text: string): string {
  return text[0] === '{' ? textFrom(objectFrom(parsedJson(text))?.['id']) : text
}

/** A call that sends only new messages; undefined without content. */
type LinkedCall = { row: Observation; call: number; messages: HistoryMessage[] | undefined }

/**
 * Finds the thread that a call with a link continues. Where the linked answer is not in the run, a
 * thread starts whose beginning the provider holds. Undefined if a call without content has no
 * known link.
 */
export function followLink(
  state: RunState,
  { row, call, messages }: LinkedCall,
  link: HistoryLink,
): FollowedHistory | undefined {
  const answer = link.previous === '' ? undefined : state.responses.get(link.previous)
  if (messages === undefined) {
    if (answer === undefined) return undefined
    return { thread: answer.thread, head: undefined, fresh: [], known: undefined, is_first: false }
  }
  const head = findLinkedHead(state, link) ?? findWaitingHead(state, messages)
  const sent = { row, raw: undefined, fresh: messages, call }
  if (head !== undefined) {
    const followed = continueHead(state, head, { ...sent, fresh: selectNew(head, messages) })
    if (followed.head !== undefined) followed.head.conversation = link.conversation
    return { ...followed, is_only_new: true }
  }
  const left = answer && state.heads.find(({ thread }) => thread === answer.thread)
  if (left !== undefined && answer !== undefined) {
    const kept = Math.min(answer.kept, left.ids.length)
    const fresh = selectNew(left, messages)
    return { ...startBranch(state, left, { ...sent, fresh, kept }), is_only_new: true }
  }
  return startHeld(state, { row, call, messages }, link)
}

function findLinkedHead(
  { heads }: RunState,
  { previous, conversation }: HistoryLink,
): Head | undefined {
  return previous === ''
    ? heads.findLast((head) => head.conversation === conversation)
    : heads.findLast((head) => head.response_id === previous)
}

/** Finds the thread that waits for these tool results: some clients send only new messages. */
export function findWaitingHead(
  state: RunState,
  messages: readonly HistoryMessage[],
): Head | undefined {
  const first = messages.find(({ role }) => role !== 'system')
  if (first?.role !== 'tool' || first.tool_call_id === '') return undefined
  return state.heads.findLast(({ thread }) =>
    state.lines[thread]?.open.some(
      (index) => state.tools[index]?.tool_call_id === first.tool_call_id,
    ),
  )
}

/**
 * Returns the messages that the head does not have: instructions come with each call, and a call
 * that failed is sent again.
 */
export function selectNew(head: Head, messages: readonly HistoryMessage[]): HistoryMessage[] {
  const known = new Set(head.digests.slice(0, head.systems))
  const fresh = messages.filter(({ role, digest }) => role !== 'system' || !known.has(digest))
  const tail = head.digests.slice(head.digests.length - fresh.length)
  const isAgain =
    !head.is_ok && fresh.length > 0 && fresh.every(({ digest }, at) => digest === tail[at])
  return isAgain ? [] : fresh
}

function startHeld(
  state: RunState,
  { row, call, messages = [] }: LinkedCall,
  { conversation }: HistoryLink,
): FollowedHistory {
  const thread = startThread(state, row, findAgent(state, row).parent)
  holdThread(state, thread)
  const head = newHead(thread, call)
  head.conversation = conversation
  useHead(state.heads, head)
  return { thread, head, fresh: messages, known: undefined, is_first: true, is_only_new: true }
}

/** Marks a thread of whose history the provider holds a part. */
export function holdThread(state: RunState, index: number): void {
  const thread = state.threads[index]
  if (thread !== undefined) thread.is_held = true
}

/** Formats of the proxy whose providers hold histories. */
const holdingEndpoints: ReadonlySet<string> = new Set(['responses', 'interactions'])

/** Remembers the answer of a call, which later calls can name. */
export function rememberAnswer(
  state: RunState,
  { row, thread, head }: { row: Observation; thread: number; head: Head | undefined },
): void {
  if (row.response_id === '') return
  if (row.source === 'proxy' && !holdingEndpoints.has(row.endpoint)) return
  if (head !== undefined) head.response_id = row.response_id
  if (state.responses.size >= bounds.calls_max) return
  state.responses.set(row.response_id, { thread, kept: head?.ids.length ?? 0 })
}
