import { type ChatMessage, type ChatTarget, chatCall } from './chat-call.ts'
import { type SampleTask, sampleToolResults, sampleTools, systemPrompt } from './sample-script.ts'

/** More rounds than any sample needs: a model that never stops calling tools is left. */
const rounds_max = 12

/**
 * Works on one task as agents do: asks the model, runs the tools it wants, sends the whole grown
 * history again, until it answers. Resolves with the number of model calls. Throws ChatCallFailed.
 */
export async function runAgent(
  target: ChatTarget,
  task: SampleTask,
  { model }: { model: string },
): Promise<number> {
  const messages: ChatMessage[] = [
    { role: 'system', content: systemPrompt },
    { role: 'user', content: task.user_message },
  ]
  for (let calls = 1; calls <= rounds_max; calls += 1) {
    const { streamed = false } = task.steps[calls - 1] ?? task.answer
    const message = await chatCall(target, {
      ...{ model, messages, tools: sampleTools },
      stream: streamed,
    })
    messages.push(message)
    if (!message.tool_calls?.length) return calls
    messages.push(...message.tool_calls.map(({ id }) => toolResult(id)))
  }
  return rounds_max
}

function toolResult(tool_call_id: string): ChatMessage {
  const result = sampleToolResults.get(tool_call_id) ?? { error: 'there is no such tool here' }
  return { role: 'tool', tool_call_id, content: JSON.stringify(result) }
}
