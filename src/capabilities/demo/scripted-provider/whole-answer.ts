import type { Answer, AnswerChoice } from './answer.ts'
import type { Dialect } from './dialects.ts'
import type { Endpoint } from './request.ts'

/** Returns the JSON body of an unstreamed answer. */
export function wholeAnswer(answer: Answer, dialect: Dialect, endpoint: Endpoint): unknown {
  const legacy = endpoint === 'completions'
  return {
    ...envelopeOf(answer, dialect, legacy ? 'text_completion' : 'chat.completion'),
    choices: answer.choices.map((choice, index) => ({
      index,
      ...(legacy
        ? { text: choice.content ?? '' }
        : { message: messageOf(choice, dialect, answer.seed + index) }),
      ...dialect.choice,
      finish_reason: choice.finish_reason,
    })),
    ...(answer.usage && { usage: dialect.usage(answer.usage) }),
  }
}

/** Returns the fields of every answer and chunk besides choices and usage. */
export function envelopeOf(
  answer: Answer,
  dialect: Dialect,
  object: 'chat.completion' | 'chat.completion.chunk' | 'text_completion',
): Record<string, unknown> {
  const id = dialect.completionId(answer.seed)
  return {
    id: object === 'text_completion' ? id.replace('chatcmpl-', 'cmpl-') : id,
    object,
    created: answer.created_s,
    model: answer.model,
    ...dialect.envelope,
  }
}

function messageOf(choice: AnswerChoice, dialect: Dialect, seed: number): Record<string, unknown> {
  return {
    role: 'assistant',
    content: choice.content,
    ...dialect.message,
    ...(choice.refusal !== undefined && { refusal: choice.refusal }),
    ...(choice.reasoning_content !== undefined && { reasoning_content: choice.reasoning_content }),
    ...choice.extra,
    ...(choice.tool_calls.length > 0 && {
      tool_calls: choice.tool_calls.map((call, index) => ({
        id: call.id ?? dialect.toolCallId(seed, index),
        type: 'function',
        function: { name: call.name, arguments: call.arguments },
        ...dialect.toolCall(seed),
      })),
    }),
  }
}
