import { z } from 'zod'
import { Semaphore } from '../../kernel/semaphore.ts'
import type { Outbound } from '../outbound/index.ts'
import {
  chargeUpTo,
  keyOf,
  ModelFailed,
  type NliSettings,
  type PaidReply,
  type PricedCall,
  priceOf,
  successOf,
  tokensOf,
} from './model.ts'
import { type ModelReply, postJson } from './post-json.ts'

/** How well a text entails a claim, or contradicts it; 0–1. */
export type NliScore = { entailment: number; contradiction: number }

/** A model that scores whether texts entail a claim. */
export type NliModel = {
  name: string
  model: string
  /** Returns the call that scores texts. The reply is `{ scores }`, read by `readScores`. */
  score(question: { claim: string; texts: readonly string[] }): PricedCall
}

const requests_max = 4

/** Opens a model of type `nli-http`. The wire format is in docs/guides/add-a-judge.md. */
export function openNliModel(settings: NliSettings, outbound: Outbound): NliModel {
  const { name, model = name, format } = settings
  const permits = new Semaphore({ permits_max: requests_max })
  return {
    name,
    model,
    score: ({ claim, texts }) => {
      const pairs = texts.map((text) => toPair(format, claim, text))
      const price = priceOf(tokensOf(JSON.stringify(pairs)), settings.cents_per_million_input)
      const send = async (signal: AbortSignal): Promise<PaidReply> => {
        const reply = await postJson(outbound, settings, pairs, signal)
        const scores = toScores(settings, reply, texts.length)
        return { reply: { scores }, input_tokens: null, output_tokens: null, nano_dollars: price }
      }
      return {
        key: keyOf([name, model, settings.url, pairs]),
        model: name,
        nano_dollars_max: price,
        send: (signal) => chargeUpTo(price, () => permits.run(() => send(signal), signal)),
      }
    },
  }
}

function toPair(format: NliSettings['format'], claim: string, text: string) {
  return format === 'nli' ? { premise: text, hypothesis: claim } : { document: text, claim }
}

const share = z.number().min(0).max(1)
const nliSchema = z.array(z.object({ entailment: share, neutral: share, contradiction: share }))
const groundingSchema = z.array(z.object({ probability: share }))
const scoresSchema = z.array(z.object({ entailment: share, contradiction: share }))

function toScores(settings: NliSettings, reply: ModelReply, count: number): NliScore[] {
  const { name, format } = settings
  const json = successOf(settings, reply)
  const scores =
    format === 'nli'
      ? nliSchema
          .safeParse(json)
          .data?.map(({ entailment, contradiction }) => ({ entailment, contradiction }))
      : groundingSchema
          .safeParse(json)
          .data?.map(({ probability }) => ({ entailment: probability, contradiction: 0 }))
  if (scores?.length === count) return scores
  throw new ModelFailed(`model ${name}: the reply does not have ${count} scores from 0 to 1`, {
    isCharged: true,
  })
}

/** Reads the scores of a recorded reply; undefined when their number differs from that of the texts. */
export function readScores(reply: Record<string, unknown>, count: number): NliScore[] | undefined {
  const { data } = scoresSchema.safeParse(reply['scores'])
  return data?.length === count ? data : undefined
}
