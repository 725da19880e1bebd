import { isResponseId } from '../../../../model/response-id.ts'
import type { OtlpSpan } from '../contract.ts'
import type { Conversation, MapperTools, SpanReading } from './read-span.ts'
import { addAttribute } from './row-attributes.ts'
import { textIn } from './span-state.ts'
import { stringOf } from './value-text.ts'

/** A span, the name of its scope and its attributes so far. */
type SpanParts = { span: OtlpSpan; scope: string; reading: SpanReading }

/**
 * Returns the conversation of a span. Clients of the Responses API report the response that a call follows
 * as its conversation; that id is kept as an attribute, and names no conversation.
 */
export function conversationOfSpan(
  tools: MapperTools,
  project_id: string,
  parts: SpanParts,
): Conversation {
  const { compiled, state } = tools
  const given = textIn(state, compiled.field.conversation_id)
  const response_id = textIn(state, compiled.field.response_id)
  if (!isFollowedResponse(given, response_id, parts)) return tools.conversationOf(project_id, given)
  addAttribute(parts.reading, 'request.previous_response_id', given, compiled.contract.limits)
  return tools.conversationOf(project_id, '')
}

/** Agent Framework also reports it of calls that failed, which have no response. */
const agentFramework = 'agent_framework'
const reportedKey = 'gen_ai.conversation.id'

function isFollowedResponse(
  given: string,
  response_id: string,
  { span: { attributes }, scope }: SpanParts,
): boolean {
  if (!isResponseId(given)) return false
  if (stringOf(attributes.values[attributes.keys.indexOf(reportedKey)]) !== given) return false
  return scope === agentFramework || isResponseId(response_id)
}
