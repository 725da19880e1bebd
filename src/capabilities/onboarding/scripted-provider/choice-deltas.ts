import type { AnswerChoice, AnswerToolCall } from './answer.ts'
import type { Dialect } from './dialects/contract.ts'
import type { Endpoint } from './request.ts'
import type { StreamShape } from './script.ts'

/** What one chunk says about one choice, beside its index. */
export type Delta = Record<string, unknown> & { finish_reason: string | null }

type How = { dialect: Dialect; shape: StreamShape; endpoint: Endpoint; seed: number }

/** Cuts one choice into the deltas of a stream, the last of which has the finish reason. */
export function choiceDeltas(choice: AnswerChoice, how: How): Delta[] {
  if (how.endpoint === 'completions') return textDeltas(choice, how)
  const { dialect } = how
  const parts = contentDeltas(choice, how)
  const opening = {
    role: 'assistant',
    ...(dialect.separate_ends && { content: choice.content === null ? null : '' }),
    ...dialect.message,
    ...choice.extra,
  }
  if (dialect.separate_ends) {
    return [opening, ...parts, {}].map((delta, index) =>
      wrapped(delta, dialect, index === parts.length + 1 ? choice.finish_reason : null),
    )
  }
  const filled = parts.length > 0 ? parts : [{ content: '' }]
  return filled.map((part, index) =>
    wrapped(
      { role: 'assistant', ...(index === 0 && choice.extra), ...part },
      dialect,
      index === filled.length - 1 ? choice.finish_reason : null,
    ),
  )
}

function wrapped(delta: unknown, dialect: Dialect, finish_reason: string | null): Delta {
  return { delta, ...dialect.choice, finish_reason }
}

/** Legacy completions stream `text`; the last piece has the finish reason. */
function textDeltas(choice: AnswerChoice, how: How): Delta[] {
  const found = pieces(choice.content ?? '', how.shape)
  const texts = found.length > 0 ? found : ['']
  return texts.map((text, index) => ({
    text,
    ...how.dialect.choice,
    finish_reason: index === texts.length - 1 ? choice.finish_reason : null,
  }))
}

function contentDeltas(choice: AnswerChoice, how: How): Record<string, unknown>[] {
  return [
    ...pieces(choice.reasoning_content ?? '', how.shape).map((text) => ({
      reasoning_content: text,
    })),
    ...pieces(choice.content ?? '', how.shape).map((text) => ({ content: text })),
    ...pieces(choice.refusal ?? '', how.shape).map((text) => ({ refusal: text })),
    ...choice.tool_calls.flatMap((call, index) => toolCallDeltas(call, index, how)),
  ]
}

function toolCallDeltas(call: AnswerToolCall, index: number, how: How): Record<string, unknown>[] {
  const { dialect, seed } = how
  const style = how.shape.tool_calls ?? dialect.stream_tool_calls
  const place = dialect.indexes_tool_calls ? { index } : {}
  const named = { id: call.id ?? dialect.toolCallId(seed, index), type: 'function' }
  const whole = (text: string) => ({
    ...place,
    ...named,
    function: { name: call.name, arguments: text },
    ...dialect.toolCall(seed),
  })
  const deltas = {
    whole: () => [whole(call.arguments)],
    id_every_time: () => pieces(call.arguments, how.shape).map(whole),
    pieces: () => [
      whole(''),
      ...pieces(call.arguments, how.shape).map((text) => ({
        ...place,
        function: { arguments: text },
      })),
    ],
  }[style]()
  return deltas.map((delta) => ({ tool_calls: [delta] }))
}

/** Cuts a text into pieces of about the same length, between characters, never inside one. */
function pieces(text: string, shape: StreamShape): string[] {
  const characters = Array.from(text)
  const all = characters.length
  const count = Math.min(shape.chunks ?? Math.ceil(all / shape.chunk_characters), all)
  return Array.from({ length: count }, (_, index) =>
    characters
      .slice(Math.floor((index * all) / count), Math.floor(((index + 1) * all) / count))
      .join(''),
  )
}
