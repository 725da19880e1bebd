import type { Attributes } from '@opentelemetry/api'
import OpenAI from 'openai'
import type { TracedCase } from './trace-cases.ts'

/** The scripted provider has no embeddings, so this answer was never sent by a server. */
const answer = {
  object: 'list',
  model: 'text-embedding-3-small',
  data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5, 0.125] }],
  usage: { prompt_tokens: 8, total_tokens: 8 },
}

/** An embedding with the openai package. */
export function embeddingsCase(
  options: { baseURL: string; apiKey: string },
  attributes: Attributes,
): TracedCase {
  const client = new OpenAI({ ...options, fetch: async () => Response.json(answer) })
  const run = () =>
    client.embeddings.create({ model: 'text-embedding-3-small', input: ['where is parcel 7?'] })
  return { name: 'embeddings', attributes, run }
}
