import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'

/** The providers that the proxy knows and this server plays. */
export const providerNames = ['openai', 'anthropic', 'gemini'] as const
export type ProviderName = (typeof providerNames)[number]

/** Longest wait in a script: ten minutes. */
const delay_ms_max = 600_000
const milliseconds = z.int().min(0).max(delay_ms_max)
const count = z.int().min(0)
/** Headers with names in lower case, so that they replace our own. */
const headers = z.record(z.string().toLowerCase(), z.string())

const toolCallSchema = z.strictObject({
  /** Id of the call. Default: generated in the provider's form. */
  id: z.string().optional(),
  name: z.string().min(1),
  /** Arguments as text, or as a value to write as JSON. */
  arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).default('{}'),
})

const choiceSchema = z.strictObject({
  content: z.string().nullable().optional(),
  tool_calls: z.array(toolCallSchema).max(128).default([]),
  /** Finish reason. Default: `tool_calls` with tool calls, else `stop`. */
  finish_reason: z.string().optional(),
  reasoning_content: z.string().optional(),
  refusal: z.string().optional(),
  /** Further fields of the message; in a stream, fields of the choice's first delta. */
  extra: z.record(z.string(), z.unknown()).default({}),
})

const errorSchema = z.strictObject({
  status: z.int().min(200).max(599),
  message: z.string().default('The script makes the provider fail.'),
  type: z.string().optional(),
  code: z.string().nullable().optional(),
  param: z.string().nullable().default(null),
  headers: headers.default({}),
  /** Body instead of the provider's error form: a text, or a value to write as JSON. */
  body: z.unknown().optional(),
})

const rawSchema = z.strictObject({
  status: z.int().min(200).max(599).default(200),
  headers: headers.default({}),
  body: z.string().default(''),
  encoding: z.enum(['utf8', 'base64']).default('utf8'),
})

const usageSchema = z.strictObject({
  prompt_tokens: count.optional(),
  completion_tokens: count.optional(),
  /** Part of prompt_tokens, as OpenAI and Gemini count. */
  cached_tokens: count.optional(),
  /** Part of completion_tokens. */
  reasoning_tokens: count.optional(),
})

/** An answer: one of `error`, `raw`, `choices`, or the fields of a single choice. */
const replySchema = z.strictObject({
  ...choiceSchema.shape,
  /** Choices for `n` > 1; fewer than `n` are repeated in turn. */
  choices: z.array(choiceSchema).min(1).max(128).optional(),
  error: errorSchema.optional(),
  raw: rawSchema.optional(),
  /** Usage; missing counts are estimated at four characters per token; null: no usage. */
  usage: usageSchema.nullable().optional(),
  /** Model in the answer. Default: the requested model. */
  model: z.string().optional(),
  headers: headers.default({}),
})

const streamErrorSchema = z.strictObject({
  after_chunks: count.default(1),
  /**
   * `event`: an SSE event of type error, as Groq; `data`: an error without choices; `chunk`: an
   * error beside choices in an ordinary chunk, then `[DONE]`, as OpenRouter.
   */
  form: z.enum(['event', 'data', 'chunk']).default('data'),
  message: z.string().default('The scripted provider failed in mid-stream.'),
})

/** How an answer is streamed. Chunks are SSE events. */
const streamSchema = z.strictObject({
  /** Characters of text per chunk. */
  chunk_characters: z.int().min(1).default(16),
  /** Alternative: number of chunks of a choice's text (at most one per character). */
  chunks: z.int().min(1).optional(),
  /** Delay between headers and the first chunk. */
  first_delay_ms: milliseconds.default(0),
  /** Delay between two chunks. */
  delay_ms: milliseconds.default(0),
  /** Number of chunks after which nothing more is sent on the open connection. */
  stall_after_chunks: count.optional(),
  /** Number of chunks, or bytes of body, after which the connection is closed without an end. */
  cut_after_chunks: count.optional(),
  cut_after_bytes: count.optional(),
  error_mid_stream: streamErrorSchema.optional(),
  /** `every_chunk` adds the usage so far to each chunk; the last one has the total. */
  usage: z.enum(['as_asked', 'always', 'never', 'every_chunk']).default('as_asked'),
  /** How tool calls are streamed. Default: as the provider does. */
  tool_calls: z.enum(['pieces', 'whole', 'id_every_time']).optional(),
  /** Whether choices are interleaved, as by providers, or sent one after the other. */
  interleave: z.boolean().default(true),
  /** `false`: the stream ends normally, but without `[DONE]`. */
  done: z.boolean().default(true),
  crlf: z.boolean().default(false),
  no_space_after_data: z.boolean().default(false),
  /** Whether each JSON text is split into several `data` lines. */
  multi_line_data: z.boolean().default(false),
  /** Number of comment lines before the first chunk. */
  comments: count.max(1000).default(0),
  /** Whether each byte is written separately. */
  split_at_every_byte: z.boolean().default(false),
})

/** Conditions for the requests that a step answers; all of them must match. */
const matchSchema = z.strictObject({
  provider: z.enum(providerNames).optional(),
  endpoint: z.enum(['chat.completions', 'completions']).optional(),
  model: z.string().optional(),
  stream: z.boolean().optional(),
  /** Part of the last message's text (the prompt, for legacy completions). */
  last_text_contains: z.string().optional(),
  last_role: z.string().optional(),
  /** Tool call whose result is the last message. */
  last_tool_call_id: z.string().optional(),
  /** Part of any message's text. */
  any_text_contains: z.string().optional(),
})

const stepSchema = z.strictObject({
  match: matchSchema.default({}),
  /** Maximum uses of the step. Default: unlimited. */
  times: z.int().min(1).optional(),
  /** Answer of the step. Default: an echo of the last message. */
  reply: replySchema.optional(),
  stream: streamSchema.prefault({}),
  /** Delay before the headers. */
  delay_ms: milliseconds.default(0),
  /** Whether nothing is answered on the open connection. */
  stall_before_headers: z.boolean().default(false),
  /** Whether the connection is closed instead of an answer. */
  cut_before_headers: z.boolean().default(false),
  /** For an unstreamed answer: bytes of its body after which the connection is closed or stalls. */
  cut_after_bytes: count.optional(),
  stall_after_bytes: count.optional(),
  /** `body`: a 200 whose body is not JSON; `http`: bytes that are not HTTP. */
  garbage: z.enum(['body', 'http']).optional(),
  /** Whether the body is compressed, even if the client does not accept it. */
  gzip: z.boolean().default(false),
})

/** The server answers with the first matching step that has uses left, else with an echo. */
const scriptSchema = z.strictObject({
  steps: z.array(stepSchema).max(10_000).default([]),
  /** `false`: requests with `stream_options` get a 400 that names the field. */
  knows_stream_options: z.boolean().default(true),
  /** Required provider key; null accepts any key, or no key. */
  required_key: z.string().nullable().default(null),
  /** Whether ids and times are the same in each answer, so that answers can be compared. */
  repeatable: z.boolean().default(false),
})

/** A script, with optional fields. */
export type ScriptInput = z.input<typeof scriptSchema>
export type Script = z.output<typeof scriptSchema>
export type Step = z.output<typeof stepSchema>
export type Match = z.output<typeof matchSchema>
export type Reply = z.output<typeof replySchema>
export type ChoiceReply = z.output<typeof choiceSchema>
export type ErrorReply = z.output<typeof errorSchema>
export type StreamShape = z.output<typeof streamSchema>

/** Validates a script and fills in the defaults. Throws `invalid_request` with each fault. */
export function scriptFrom(input: unknown): Script {
  const parsed = scriptSchema.safeParse(input)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => ({
    pointer: `/${issue.path.join('/')}`,
    detail: issue.message,
  }))
  const first = faults[0]
  throw problem('invalid_request', {
    detail: `script: ${first?.pointer} ${first?.detail}, expected a script as scriptSchema says`,
    faults,
    cause: parsed.error,
  })
}

/** Returns a step with all defaults. */
export function plainStep(): Step {
  return stepSchema.parse({})
}
