import { type ChatMessage, type ChatTarget, chatCall } from './chat-call.ts'
import { type SampleTask, sampleToolResults, sampleTools, systemPrompt } from './sample-script.ts'

/** More rounds than any sample needs: a model that never stops calling tools is left. */
const rounds_max = 12

/** What one task of the sample came to. */
export type AgentRun = { calls: number; answer: string }

/**
 * Works on one task as agents do: asks the model, runs the tools it wants, sends the whole grown
 * history again, until it answers. Throws ChatCallFailed.
 */
export async function runAgent(
  target: ChatTarget,
  task: SampleTask,
  about: { model: string; earlier: readonly ChatMessage[] },
): Promise<AgentRun> {
  const messages: ChatMessage[] = [
    { role: 'system', content: systemPrompt },
    ...about.earlier,
    { role: 'user', content: task.user_message },
  ]
  for (let calls = 1; calls <= rounds_max; calls += 1) {
    const stream = task.streamed_calls.includes(calls)
    const body = { model: about.model, messages, tools: sampleTools, stream }
    const message = await chatCall(target, body)
    messages.push(message)
    if (!message.tool_calls?.length) return { calls, answer: message.content ?? '' }
    messages.push(...message.tool_calls.map(({ id }) => toolResult(id)))
  }
  return { calls: rounds_max, answer: '' }
}

function toolResult(tool_call_id: string): ChatMessage {
  const result = sampleToolResults[tool_call_id] ?? { error: 'there is no such tool here' }
  return { role: 'tool', tool_call_id, content: JSON.stringify(result) }
}
