import { z } from 'zod'
import { objectFrom, parsedJson, textFrom } from '../../kernel/json-values.ts'
import { Semaphore } from '../../kernel/semaphore.ts'
import type { Outbound } from '../outbound/index.ts'
import {
  type ChatSettings,
  chargeUpTo,
  keyOf,
  ModelFailed,
  type PaidReply,
  type PricedCall,
  priceOf,
  successOf,
  tokensOf,
  toStorable,
} from './model.ts'
import { type ModelReply, postJson } from './post-json.ts'

/** A question whose answer is JSON. */
export type ChatQuestion = {
  /** Fixed instructions, without text of a trace. */
  instructions: string
  /** Texts of a trace, sent as JSON, whose syntax delimits them. */
  data: Record<string, unknown>
  /** JSON schema of the answer; the answer may still differ from it. */
  schema: Record<string, unknown>
  output_tokens_max: number
}

/** A model of the chat completions format. */
export type ChatModel = {
  name: string
  model: string
  /** Returns the call of a question. The reply is `{ content }`: text that should be JSON. */
  ask(question: ChatQuestion): PricedCall
}

/** Maximum concurrent requests to a model. */
const requests_max = 4
const content_chars_max = 32_000

/**
 * Opens a model of the chat completions format. https://platform.openai.com/docs/api-reference/chat
 */
export function openChatModel(settings: ChatSettings, outbound: Outbound): ChatModel {
  const { name, model } = settings
  const permits = new Semaphore({ permits_max: requests_max })
  // Parameters that the model refused. Later requests omit them.
  const refused = new Set<Quirk>()
  return {
    name,
    model,
    ask: (question) => {
      const nano_dollars_max = priceOfTokens(settings, boundsOf(question))
      const send = (signal: AbortSignal) =>
        complete({ settings, outbound, refused }, question, signal)
      return {
        key: keyOf({ ...question, model: [name, model, settings.url] }),
        model: name,
        nano_dollars_max,
        send: (signal) =>
          chargeUpTo(nano_dollars_max, () => permits.run(() => send(signal), signal)),
      }
    },
  }
}

type Tokens = { input: number; output: number }

/** Returns the most tokens that a question is expected to cost. */
function boundsOf({ instructions, data, schema, output_tokens_max }: ChatQuestion): Tokens {
  const text = `${instructions}${JSON.stringify(data)}${JSON.stringify(schema)}`
  return { input: tokensOf(text) + frame_tokens, output: output_tokens_max }
}

/** Tokens that separate messages. */
const frame_tokens = 50

function priceOfTokens(settings: ChatSettings, { input, output }: Tokens): bigint {
  const { cents_per_million_input, cents_per_million_output } = settings
  return priceOf(input, cents_per_million_input) + priceOf(output, cents_per_million_output)
}

type Chat = { settings: ChatSettings; outbound: Outbound; refused: Set<Quirk> }

async function complete(
  chat: Chat,
  question: ChatQuestion,
  signal: AbortSignal,
): Promise<PaidReply> {
  const { settings, refused } = chat
  const reply = await post(chat, question, signal)
  const quirk = findQuirk(reply, refused)
  if (quirk === undefined) return toPaidReply(settings, question, reply)
  refused.add(quirk)
  return complete(chat, question, signal)
}

async function post(
  { settings, outbound, refused }: Chat,
  { instructions, data, schema, output_tokens_max }: ChatQuestion,
  signal: AbortSignal,
): Promise<ModelReply> {
  const limit = refused.has('max_tokens') ? 'max_completion_tokens' : 'max_tokens'
  const body = {
    model: settings.model,
    [limit]: output_tokens_max,
    ...(!refused.has('temperature') && { temperature: 0 }),
    ...(!refused.has('response_format') && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', strict: true, schema },
      },
    }),
    messages: [
      { role: 'system', content: instructions },
      { role: 'user', content: JSON.stringify(data) },
    ],
  }
  return postJson(outbound, { ...settings, url: completionsUrl(settings.url) }, body, signal)
}

function completionsUrl(base: string): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/chat/completions`
  return url.href
}

/** Parameters that some models refuse. */
const quirks = ['temperature', 'response_format', 'max_tokens'] as const
type Quirk = (typeof quirks)[number]

/** Returns the parameter that a reply refuses, if the request can be sent again without it. */
function findQuirk({ status, json }: ModelReply, refused: ReadonlySet<Quirk>): Quirk | undefined {
  if (status !== 400 && status !== 422) return undefined
  const error = objectFrom(objectFrom(json)?.['error'])
  const text = `${textFrom(error?.['param'])} ${textFrom(error?.['message']).slice(0, 2_000)}`
  return quirks.find((quirk) => !refused.has(quirk) && text.includes(quirk))
}

const completionSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })).min(1),
  usage: z
    .object({ prompt_tokens: z.int().nonnegative(), completion_tokens: z.int().nonnegative() })
    .nullish()
    .catch(undefined),
})

function toPaidReply(settings: ChatSettings, question: ChatQuestion, reply: ModelReply): PaidReply {
  const { data } = completionSchema.safeParse(successOf(settings, reply))
  if (data === undefined) {
    const message = `model ${settings.name}: the reply is not a chat completion`
    throw new ModelFailed(message, { isCharged: true })
  }
  const bounds = boundsOf(question)
  const { usage } = data
  const content = data.choices[0]?.message.content
  // Tokens are capped at the bytes of the text, so that an endpoint cannot report more and use up
  // the budget.
  const tokens = usage
    ? {
        input: Math.min(usage.prompt_tokens, bounds.input * 2),
        output: Math.min(usage.completion_tokens, bounds.output),
      }
    : undefined
  return {
    reply: { content: toStorable(withoutKey(settings, content ?? ''), content_chars_max) },
    input_tokens: tokens?.input ?? null,
    output_tokens: tokens?.output ?? null,
    nano_dollars: priceOfTokens(settings, tokens ?? bounds),
  }
}

/** Hides the key from members of the project, who can read replies. */
function withoutKey({ api_key }: ChatSettings, text: string): string {
  return api_key === undefined ? text : text.replaceAll(api_key, '***')
}

/**
 * Reads the JSON that a chat model answered, also between the marks of a Markdown block. Returns
 * undefined when it does not have the form of the schema. Unknown fields are dropped.
 */
export function readAnswer<T>(reply: Record<string, unknown>, schema: z.ZodType<T>): T | undefined {
  const text = textFrom(reply['content']).trim()
  const block = /^```(?:json)?\s*\n([\s\S]*)\n```$/.exec(text)?.[1]
  return schema.safeParse(parsedJson(block ?? text)).data
}
