import { type ExchangeFacts, hasEnvelopeOnly } from '../../../../model/exchange.ts'
import type { Observation } from '../../../../model/observation.ts'

/** Returns the name that OpenTelemetry's GenAI conventions give the span of such a call. */
export function nameOf({ endpoint }: Pick<ExchangeFacts, 'endpoint'>, model: string): string {
  const operation = operations[endpoint]
  return model === '' ? operation : `${operation} ${model}`
}

const operations: Readonly<Record<ExchangeFacts['endpoint'], string>> = {
  'chat.completions': 'chat',
  completions: 'text_completion',
  responses: 'chat',
  'responses.retrieve': 'chat',
  'responses.compact': 'compact',
  'responses.count_tokens': 'count_tokens',
  messages: 'chat',
  'messages.count_tokens': 'count_tokens',
  generate_content: 'generate_content',
  'generate_content.count_tokens': 'count_tokens',
  interactions: 'generate_content',
  'interactions.retrieve': 'generate_content',
  embeddings: 'embeddings',
  images: 'images',
  audio: 'audio',
  rerank: 'rerank',
  moderations: 'moderations',
}

/**
 * Returns the type. A count of tokens is not a call of a model, and what is judged of one, its messages, is missing from
 * images, sound, moderation and ranks: they are other steps of a task.
 */
export function typeOf(endpoint: ExchangeFacts['endpoint']): Observation['type'] {
  if (endpoint === 'embeddings') return 'embedding'
  if (endpoint === 'rerank') return 'retriever'
  if (endpoint === 'moderations') return 'guardrail'
  if (hasEnvelopeOnly(endpoint)) return 'span'
  return endpoint.endsWith('.count_tokens') ? 'span' : 'generation'
}
