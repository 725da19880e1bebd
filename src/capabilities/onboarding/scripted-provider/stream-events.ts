import type { Answer } from './answer.ts'
import { choiceDeltas, type Delta } from './choice-deltas.ts'
import type { Dialect } from './dialects/contract.ts'
import type { CompletionRequest } from './request.ts'
import type { StreamShape } from './script.ts'
import { envelopeOf } from './whole-answer.ts'

/** One server-sent event; `data` is a JSON value, or the text `[DONE]`. */
export type StreamEvent = { event?: string; data: unknown }

/** The events of a streamed answer, in order, up to `[DONE]` or the scripted error. */
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

/** The choices' deltas: in turn, as providers mix them, or one choice after the other. */
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
