import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'

/** The providers that the proxy knows and this server plays. */
export const providerNames = ['openai', 'anthropic', 'gemini'] as const
export type ProviderName = (typeof providerNames)[number]

/** A script asks for no wait longer than this: ten minutes. */
const delay_ms_max = 600_000
const milliseconds = z.int().min(0).max(delay_ms_max)
const count = z.int().min(0)
/** Names in lower case, so that one given replaces one of ours. */
const headers = z.record(z.string().toLowerCase(), z.string())

const toolCallSchema = z.strictObject({
  /** Left out, an id in the provider's form is made up. */
  id: z.string().optional(),
  name: z.string().min(1),
  /** The arguments' text, or a value to write as JSON. */
  arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).default('{}'),
})

const choiceSchema = z.strictObject({
  content: z.string().nullable().optional(),
  tool_calls: z.array(toolCallSchema).max(128).default([]),
  /** Left out: `tool_calls` when there are some, else `stop`. */
  finish_reason: z.string().optional(),
  reasoning_content: z.string().optional(),
  refusal: z.string().optional(),
  /** Further fields of the message; in a stream they stand in the choice's first delta. */
  extra: z.record(z.string(), z.unknown()).default({}),
})

const errorSchema = z.strictObject({
  status: z.int().min(200).max(599),
  message: z.string().default('The scripted provider was told to fail.'),
  type: z.string().optional(),
  code: z.string().nullable().optional(),
  param: z.string().nullable().default(null),
  headers: headers.default({}),
  /** Instead of the provider's error form: a text as it stands, or a value to write as JSON. */
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

/** What to answer. One of `error`, `raw`, `choices`, or the fields of a single choice. */
const replySchema = z.strictObject({
  ...choiceSchema.shape,
  /** For `n` > 1; when there are fewer than `n`, they repeat in turn. */
  choices: z.array(choiceSchema).min(1).max(128).optional(),
  error: errorSchema.optional(),
  raw: rawSchema.optional(),
  /** What is left out is counted from the texts, four characters a token; null: no usage at all. */
  usage: usageSchema.nullable().optional(),
  /** The model named in the answer; left out: the one asked for. */
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

/** How a streamed answer goes over the wire. Chunks are SSE events. */
const streamSchema = z.strictObject({
  /** Characters of text a chunk. */
  chunk_characters: z.int().min(1).default(16),
  /** Instead: in how many chunks a choice's text comes (fewer when it has fewer characters). */
  chunks: z.int().min(1).optional(),
  /** Between headers and the first chunk. */
  first_delay_ms: milliseconds.default(0),
  /** Between two chunks. */
  delay_ms: milliseconds.default(0),
  /** After so many chunks nothing more comes, and the connection stays open. */
  stall_after_chunks: count.optional(),
  /** After so many chunks, or bytes of body, the connection is closed without an end. */
  cut_after_chunks: count.optional(),
  cut_after_bytes: count.optional(),
  error_mid_stream: streamErrorSchema.optional(),
  /** `every_chunk` puts the usage so far in each one; the last one has the whole. */
  usage: z.enum(['as_asked', 'always', 'never', 'every_chunk']).default('as_asked'),
  /** How tool calls come; left out, as the provider does it. */
  tool_calls: z.enum(['pieces', 'whole', 'id_every_time']).optional(),
  /** Whether choices come mixed, as they do, or one after the other. */
  interleave: z.boolean().default(true),
  /** `false`: the stream ends in good order, but without `[DONE]`. */
  done: z.boolean().default(true),
  crlf: z.boolean().default(false),
  no_space_after_data: z.boolean().default(false),
  /** Each JSON text in several `data` lines. */
  multi_line_data: z.boolean().default(false),
  /** So many comment lines before the first chunk. */
  comments: count.max(1000).default(0),
  /** Each byte is written by itself. */
  split_at_every_byte: z.boolean().default(false),
})

/** Which requests a step answers: all that is named must hold. */
const matchSchema = z.strictObject({
  provider: z.enum(providerNames).optional(),
  endpoint: z.enum(['chat.completions', 'completions']).optional(),
  model: z.string().optional(),
  stream: z.boolean().optional(),
  /** A part of the last message's text (the prompt, for legacy completions). */
  last_text_contains: z.string().optional(),
  last_role: z.string().optional(),
  /** The tool call that the last message brings the result of. */
  last_tool_call_id: z.string().optional(),
  /** A part of any message's text. */
  any_text_contains: z.string().optional(),
})

const stepSchema = z.strictObject({
  match: matchSchema.default({}),
  /** How often the step may answer; left out: always. */
  times: z.int().min(1).optional(),
  /** Left out: an echo of the last message. */
  reply: replySchema.optional(),
  stream: streamSchema.prefault({}),
  /** Before the headers. */
  delay_ms: milliseconds.default(0),
  /** Nothing is answered, and the connection stays open. */
  stall_before_headers: z.boolean().default(false),
  /** The connection is closed instead of an answer. */
  cut_before_headers: z.boolean().default(false),
  /** For an answer in one piece: closed, or left open, after so many bytes of its body. */
  cut_after_bytes: count.optional(),
  stall_after_bytes: count.optional(),
  /** `body`: bytes that are no JSON in a 200; `http`: bytes that are no HTTP. */
  garbage: z.enum(['body', 'http']).optional(),
  /** The body is compressed, whatever the client accepts. */
  gzip: z.boolean().default(false),
})

/** What the server answers: the first step that matches and has uses left; none: an echo. */
const scriptSchema = z.strictObject({
  steps: z.array(stepSchema).max(10_000).default([]),
  /** `false`: a request with `stream_options` gets a 400 that names it. */
  knows_stream_options: z.boolean().default(true),
  /** The provider key that requests must bring; null takes any, and none. */
  required_key: z.string().nullable().default(null),
  /** Ids and times are the same in each answer, so that two of them can be compared. */
  repeatable: z.boolean().default(false),
})

/** A script as one writes it. */
export type ScriptInput = z.input<typeof scriptSchema>
export type Script = z.output<typeof scriptSchema>
export type Step = z.output<typeof stepSchema>
export type Match = z.output<typeof matchSchema>
export type Reply = z.output<typeof replySchema>
export type ChoiceReply = z.output<typeof choiceSchema>
export type ErrorReply = z.output<typeof errorSchema>
export type StreamShape = z.output<typeof streamSchema>

/** Checks a script and fills in what it leaves out. Throws `invalid_request` with each fault. */
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

/** The step of a script that leaves all to the defaults. */
export function plainStep(): Step {
  return stepSchema.parse({})
}
