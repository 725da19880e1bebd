import { z } from 'zod'
import { Semaphore } from '../../kernel/semaphore.ts'
import type { Outbound } from '../outbound/index.ts'
import { type EmbeddingSettings, ModelFailed, priceOf, successOf, tokensOf } from './model.ts'
import { type ModelReply, postJson } from './post-json.ts'

/** Vectors of texts, in their order, and what they cost. */
type Embedded = { vectors: number[][]; input_tokens: number | null; nano_dollars: bigint }

/** A model that makes vectors of texts. */
export type EmbeddingModel = {
  name: string
  model: string
  /** Maximum texts of a request. */
  texts_max: number
  /** Returns the most that texts are expected to cost, in billionths of a dollar. */
  estimate(texts: readonly string[]): bigint
  /** Embeds texts, at most `texts_max`. Rejects with ModelFailed. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embedded>
}

const requests_max = 4
const texts_max = 64
const dimensions_max = 4_096

/** Opens a model of the embeddings format. https://platform.openai.com/docs/api-reference/embeddings */
export function openEmbeddingModel(
  settings: EmbeddingSettings,
  outbound: Outbound,
): EmbeddingModel {
  const { name, model } = settings
  const permits = new Semaphore({ permits_max: requests_max })
  const estimate = (texts: readonly string[]) =>
    priceOf(tokensOf(texts.join('')), settings.cents_per_million_input)
  const embed = async (texts: readonly string[], signal: AbortSignal): Promise<Embedded> => {
    const endpoint = { ...settings, url: embeddingsUrl(settings.url) }
    const reply = await postJson(outbound, endpoint, { model, input: texts }, signal)
    return toEmbedded(settings, reply, texts)
  }
  return {
    name,
    model,
    texts_max,
    estimate,
    embed: async (texts, signal) => permits.run(() => embed(texts, signal), signal),
  }
}

function embeddingsUrl(base: string): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/embeddings`
  return url.href
}

const replySchema = z.object({
  data: z.array(
    z.object({
      index: z.int().nonnegative(),
      embedding: z.array(z.number()).min(1).max(dimensions_max),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int().nonnegative() }).nullish().catch(undefined),
})

function toEmbedded(
  settings: EmbeddingSettings,
  reply: ModelReply,
  texts: readonly string[],
): Embedded {
  const { name, cents_per_million_input } = settings
  const { data } = replySchema.safeParse(successOf(settings, reply))
  const byIndex = new Map(data?.data.map(({ index, embedding }) => [index, embedding]))
  const vectors = texts.flatMap((_, at) => {
    const vector = byIndex.get(at)
    return vector === undefined ? [] : [vector]
  })
  const isUniform = vectors.every((vector) => vector.length === vectors[0]?.length)
  if (vectors.length !== texts.length || !isUniform) {
    throw new ModelFailed(`model ${name}: the reply does not have a vector for each text`, {
      isCharged: true,
    })
  }
  const tokens_max = tokensOf(texts.join('')) * 2
  const tokens = data?.usage ? Math.min(data.usage.prompt_tokens, tokens_max) : undefined
  const nano_dollars = priceOf(tokens ?? tokens_max / 2, cents_per_million_input)
  return { vectors, input_tokens: tokens ?? null, nano_dollars }
}
