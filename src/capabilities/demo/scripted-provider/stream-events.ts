import type { Answer, AnswerChoice, AnswerToolCall } from './answer.ts'
import type { Dialect } from './dialects.ts'
import type { CompletionRequest, Endpoint } from './request.ts'
import type { StreamShape } from './script.ts'
import { envelopeOf } from './whole-answer.ts'

/** One server-sent event; `data` is a JSON value, or the text `[DONE]`. */
export type StreamEvent = { event?: string; data: unknown }

/** Yields the events of a streamed answer, in order, up to `[DONE]` or the scripted error. */
export function* streamEvents(
  request: Pick<CompletionRequest, 'endpoint' | 'usage_asked'>,
  answer: Answer,
  how: { dialect: Dialect; shape: StreamShape },
): Generator<StreamEvent> {
  const { dialect, shape } = how
  const failure = shape.error_mid_stream
  const chunks = answerChunks(request, answer, how)
  for (let sent = 0; ; sent += 1) {
    if (failure && sent === failure.after_chunks) {
      yield errorEvent(failure, chunkOf(request, answer, dialect))
      if (failure.form === 'chunk' && shape.done) yield { data: '[DONE]' }
      return
    }
    const next = chunks.next()
    if (next.done) break
    yield { data: next.value }
  }
  if (shape.done) yield { data: '[DONE]' }
}

function* answerChunks(
  request: Pick<CompletionRequest, 'endpoint' | 'usage_asked'>,
  answer: Answer,
  { dialect, shape }: { dialect: Dialect; shape: StreamShape },
): Generator<Record<string, unknown>> {
  const base = chunkOf(request, answer, dialect)
  const placed = usagePlace(request.usage_asked, dialect, shape)
  const usage = answer.usage
  const deltas = deltasInOrder(request, answer, { dialect, shape })
  for (const [index, choice] of deltas.entries()) {
    yield {
      ...base,
      choices: [choice],
      ...(placed === 'own_chunk' && { usage: null }),
      ...(placed === 'every_chunk' &&
        usage && { usage: dialect.usage(usageSoFar(usage, (index + 1) / deltas.length)) }),
    }
  }
  if (placed === 'own_chunk' && usage) {
    yield { ...base, choices: [], usage: dialect.usage(usage) }
  }
}

function chunkOf(
  request: Pick<CompletionRequest, 'endpoint'>,
  answer: Answer,
  dialect: Dialect,
): Record<string, unknown> {
  const legacy = request.endpoint === 'completions'
  return envelopeOf(answer, dialect, legacy ? 'text_completion' : 'chat.completion.chunk')
}

function usagePlace(
  asked: boolean,
  dialect: Dialect,
  shape: StreamShape,
): 'own_chunk' | 'every_chunk' | 'nowhere' {
  if (shape.usage === 'every_chunk') return 'every_chunk'
  const wanted = shape.usage === 'always' || (shape.usage === 'as_asked' && asked)
  return wanted ? dialect.stream_usage : 'nowhere'
}

function usageSoFar<U extends { completion_tokens: number; reasoning_tokens: number }>(
  usage: U,
  part: number,
): U {
  return {
    ...usage,
    completion_tokens: Math.ceil(usage.completion_tokens * part),
    reasoning_tokens: Math.ceil(usage.reasoning_tokens * part),
  }
}

/**
 * Orders the choices' deltas: interleaved, as providers send them, or one choice after the other.
 */
function deltasInOrder(
  request: Pick<CompletionRequest, 'endpoint'>,
  answer: Answer,
  how: { dialect: Dialect; shape: StreamShape },
): Record<string, unknown>[] {
  const lanes = answer.choices.map((choice, index) =>
    choiceDeltas(choice, { ...how, endpoint: request.endpoint, seed: answer.seed + index }).map(
      (delta: Delta) => ({ index, ...delta }),
    ),
  )
  if (!how.shape.interleave) return lanes.flat()
  const longest = Math.max(...lanes.map((lane) => lane.length))
  return Array.from({ length: longest }, (_, turn) =>
    lanes.flatMap((lane) => lane.slice(turn, turn + 1)),
  ).flat()
}

function errorEvent(
  failure: NonNullable<StreamShape['error_mid_stream']>,
  base: Record<string, unknown>,
): StreamEvent {
  const { form, message } = failure
  if (form === 'chunk') {
    const choice = { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'error' }
    return { data: { ...base, error: { code: 502, message }, choices: [choice] } }
  }
  const error = { message, type: 'server_error', param: null, code: 'scripted_failure' }
  return form === 'event' ? { event: 'error', data: { error } } : { data: { error } }
}

/** One chunk's fields of one choice, without its index. */
type Delta = Record<string, unknown> & { finish_reason: string | null }

type How = { dialect: Dialect; shape: StreamShape; endpoint: Endpoint; seed: number }

/** Splits a choice into the deltas of a stream; the last one has the finish reason. */
function choiceDeltas(choice: AnswerChoice, how: How): Delta[] {
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
      wrapDelta(delta, dialect, index === parts.length + 1 ? choice.finish_reason : null),
    )
  }
  const filled = parts.length > 0 ? parts : [{ content: '' }]
  return filled.map((part, index) =>
    wrapDelta(
      { role: 'assistant', ...(index === 0 && choice.extra), ...part },
      dialect,
      index === filled.length - 1 ? choice.finish_reason : null,
    ),
  )
}

function wrapDelta(delta: unknown, dialect: Dialect, finish_reason: string | null): Delta {
  return { delta, ...dialect.choice, finish_reason }
}

/** Splits a legacy completion into deltas of `text`; the last one has the finish reason. */
function textDeltas(choice: AnswerChoice, how: How): Delta[] {
  const parts = pieces(choice.content ?? '', how.shape)
  const texts = parts.length > 0 ? parts : ['']
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

/** Splits a text into pieces of similar length, never inside a character. */
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
