/** What the model of a case does: which file it reads at each step, and what it says at the end. */
export type AgentCase = { paths: readonly string[]; last: string }

/** The cases that each program runs through. */
export const agentCases = {
  /** Asks for one file that does not exist, again and again: a loop. */
  loop: { paths: Array<string>(7).fill('src/app.ts'), last: 'I could not read the file.' },
  /** Reads three files and ends: nothing is wrong. */
  work: { paths: ['src/a.ts', 'src/b.ts', 'src/c.ts'], last: 'I have read the three files.' },
} satisfies Record<string, AgentCase>

/** The tokens of one call, in the buckets of OpenAI: cached is inside input, reasoning inside output. */
export type ScriptedUsage = { input: number; cached: number; output: number; reasoning: number }

/** Returns the tokens of the call number `at` of a case; each call has its own. */
export function usageOf(at: number): ScriptedUsage {
  return { input: 120 + 40 * at, cached: at === 0 ? 0 : 64, output: 20 + at, reasoning: 8 }
}

/** The formats of model calls that the scripted model speaks. */
type ScriptedFormat = 'chat' | 'responses' | 'messages' | 'generate_content'

/** A request of a model, as far as the script looks at it. */
export type AskedModel = {
  format: ScriptedFormat
  streamed: boolean
  body: Record<string, unknown>
}

/** What the model does in one answer. */
type Move = { tool: string; arguments: Record<string, unknown>; id: string } | { text: string }

/** An answer of a provider: JSON, or the text of an event stream. */
export type ScriptedAnswer = { content_type: string; body: string }

/**
 * Returns the provider's answer to the call number `at` of a case, in the format of the request.
 * A client whose tool `final_answer` ends a run gets a call of that tool at the end.
 */
export function scriptedAnswer(
  asked: AskedModel,
  { paths, last }: AgentCase,
  at: number,
): ScriptedAnswer {
  const path = paths[at]
  const id = `call_${String(at).padStart(2, '0')}scripted`
  const ends = JSON.stringify(asked.body['tools'] ?? '').includes('"final_answer"')
  let move: Move = { text: last }
  if (path !== undefined) move = { tool: 'read_file', arguments: { path }, id }
  else if (ends) move = { tool: 'final_answer', arguments: { answer: last }, id }
  const answer = { move, at, usage: usageOf(at), body: asked.body }
  const whole = writers[asked.format]
  if (!asked.streamed)
    return { content_type: 'application/json', body: JSON.stringify(whole(answer)) }
  return { content_type: 'text/event-stream', body: streams[asked.format](answer) }
}

type Answer = { move: Move; at: number; usage: ScriptedUsage; body: Record<string, unknown> }

const created_s = 1_790_000_000

const writers: Record<ScriptedFormat, (answer: Answer) => object> = {
  chat: wholeChat,
  responses: wholeResponse,
  messages: wholeMessage,
  generate_content: wholeContent,
}

const streams: Record<ScriptedFormat, (answer: Answer) => string> = {
  chat: chatStream,
  responses: responseStream,
  messages: messageStream,
  generate_content: (answer) => `data: ${JSON.stringify(wholeContent(answer))}\r\n\r\n`,
}

function chatUsage({ input, cached, output, reasoning }: ScriptedUsage) {
  return {
    ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  }
}

const openaiModel = 'gpt-5-mini-2025-08-07'

function wholeChat({ move, at, usage }: Answer) {
  const message =
    'tool' in move
      ? { role: 'assistant', content: null, tool_calls: [chatToolCall(move)], refusal: null }
      : { role: 'assistant', content: move.text, refusal: null }
  const finish_reason = 'tool' in move ? 'tool_calls' : 'stop'
  return {
    ...{ id: `chatcmpl-scripted${at}`, object: 'chat.completion', created: created_s },
    ...{ model: openaiModel, service_tier: 'default' },
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: chatUsage(usage),
  }
}

function chatToolCall({ id, tool, arguments: given }: Extract<Move, { tool: string }>) {
  return { id, type: 'function', function: { name: tool, arguments: JSON.stringify(given) } }
}

function chatStream({ move, at, usage, body }: Answer): string {
  const chunk = (choices: object[], more: object = {}) => ({
    ...{ id: `chatcmpl-scripted${at}`, object: 'chat.completion.chunk', created: created_s },
    ...{ model: openaiModel, service_tier: 'default', choices, ...more },
  })
  const delta = (part: object, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta: part, logprobs: null, finish_reason }])
  const parts: object[] = []
  if ('tool' in move) {
    const whole = chatToolCall(move)
    const opening = { ...whole, function: { name: move.tool, arguments: '' } }
    parts.push(delta({ role: 'assistant', content: null, tool_calls: [{ index: 0, ...opening }] }))
    for (const piece of piecesOf(whole.function.arguments)) {
      parts.push(delta({ tool_calls: [{ index: 0, function: { arguments: piece } }] }))
    }
    parts.push(delta({}, 'tool_calls'))
  } else {
    parts.push(delta({ role: 'assistant', content: '', refusal: null }))
    for (const content of piecesOf(move.text)) parts.push(delta({ content }))
    parts.push(delta({}, 'stop'))
  }
  const { include_usage } = (body['stream_options'] ?? {}) as { include_usage?: boolean }
  if (include_usage === true) parts.push(chunk([], { usage: chatUsage(usage) }))
  return `${parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join('')}data: [DONE]\n\n`
}

function piecesOf(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

function responseItem({ move, at }: Answer) {
  if ('tool' in move) {
    const { id, tool, arguments: given } = move
    return {
      ...{ type: 'function_call', id: `fc_scripted${at}`, call_id: id, name: tool },
      ...{ arguments: JSON.stringify(given), status: 'completed' },
    }
  }
  const content = [{ type: 'output_text', text: move.text, annotations: [], logprobs: [] }]
  return {
    ...{ type: 'message', id: `msg_scripted${at}`, role: 'assistant', status: 'completed' },
    content,
  }
}

function wholeResponse(answer: Answer) {
  const { at, usage, body } = answer
  return {
    ...responseHead(answer, 'completed'),
    output: [responseItem(answer)],
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    },
    ...{ completed_at: created_s + at, previous_response_id: body['previous_response_id'] ?? null },
  }
}

function responseHead({ at, body }: Answer, status: string) {
  return {
    ...{ id: `resp_scripted${at}`, object: 'response', created_at: created_s, status },
    ...{ background: false, error: null, incomplete_details: null, instructions: null },
    ...{
      max_output_tokens: null,
      max_tool_calls: null,
      model: openaiModel,
      output: [] as object[],
    },
    ...{ parallel_tool_calls: true, reasoning: { effort: 'medium', summary: null } },
    ...{ service_tier: 'default', store: body['store'] ?? true, temperature: 1 },
    ...{ text: { format: { type: 'text' }, verbosity: 'medium' }, tool_choice: 'auto' },
    ...{ tools: body['tools'] ?? [], top_logprobs: 0, top_p: 1, truncation: 'disabled' },
    ...{ usage: null, user: null, metadata: {} },
  }
}

function responseStream(answer: Answer): string {
  const { move } = answer
  const item = responseItem(answer)
  const item_id = item.id
  const events: Record<string, unknown>[] = []
  for (const type of ['response.created', 'response.in_progress']) {
    events.push({ type, response: responseHead(answer, 'in_progress') })
  }
  const at = { item_id, output_index: 0 }
  if ('tool' in move) {
    const text = JSON.stringify(move.arguments)
    const opened = { ...item, status: 'in_progress', arguments: '' }
    events.push({ type: 'response.output_item.added', output_index: 0, item: opened })
    for (const delta of piecesOf(text)) {
      events.push({ type: 'response.function_call_arguments.delta', ...at, delta })
    }
    events.push({
      type: 'response.function_call_arguments.done',
      ...at,
      arguments: text,
      name: move.tool,
    })
  } else {
    const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
    const opened = { ...item, status: 'in_progress', content: [] }
    const inPart = { ...at, content_index: 0 }
    events.push({ type: 'response.output_item.added', output_index: 0, item: opened })
    events.push({ type: 'response.content_part.added', ...inPart, part })
    for (const delta of piecesOf(move.text)) {
      events.push({ type: 'response.output_text.delta', ...inPart, delta, logprobs: [] })
    }
    events.push({ type: 'response.output_text.done', ...inPart, text: move.text, logprobs: [] })
    events.push({
      type: 'response.content_part.done',
      ...inPart,
      part: { ...part, text: move.text },
    })
  }
  events.push({ type: 'response.output_item.done', output_index: 0, item })
  events.push({ type: 'response.completed', response: wholeResponse(answer) })
  return events.map((event, sequence_number) => eventOf({ ...event, sequence_number })).join('')
}

/** An event whose name is its type, as OpenAI's Responses and Anthropic's Messages write it. */
function eventOf(event: Record<string, unknown>): string {
  return `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`
}

/** Anthropic counts cached input beside the rest. */
function messageUsage({ input, cached, output }: ScriptedUsage) {
  return {
    ...{ input_tokens: input - cached, cache_creation_input_tokens: 0 },
    ...{ cache_read_input_tokens: cached, output_tokens: output, service_tier: 'standard' },
  }
}

function messageHead({ at, usage }: Answer) {
  return {
    ...{ id: `msg_scripted${at}`, type: 'message', role: 'assistant' },
    ...{ model: 'claude-sonnet-4-5-20250929', content: [] as object[] },
    ...{
      stop_reason: null,
      stop_sequence: null,
      usage: { ...messageUsage(usage), output_tokens: 1 },
    },
  }
}

function messageBlock({ move }: Answer) {
  if (!('tool' in move)) return { type: 'text', text: move.text }
  return { type: 'tool_use', id: toolUseId(move.id), name: move.tool, input: move.arguments }
}

const toolUseId = (id: string) => id.replace('call_', 'toolu_')

function wholeMessage(answer: Answer) {
  const stop_reason = 'tool' in answer.move ? 'tool_use' : 'end_turn'
  const content = [messageBlock(answer)]
  return { ...messageHead(answer), content, stop_reason, usage: messageUsage(answer.usage) }
}

function messageStream(answer: Answer): string {
  const { move, usage } = answer
  const isTool = 'tool' in move
  const opened = isTool ? { ...messageBlock(answer), input: {} } : { type: 'text', text: '' }
  const deltas = isTool
    ? piecesOf(JSON.stringify(move.arguments)).map((partial_json) => ({
        ...{ type: 'input_json_delta', partial_json },
      }))
    : piecesOf(move.text).map((text) => ({ type: 'text_delta', text }))
  const events: Record<string, unknown>[] = [
    { type: 'message_start', message: messageHead(answer) },
    { type: 'content_block_start', index: 0, content_block: opened },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: isTool ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: messageUsage(usage),
    },
    { type: 'message_stop' },
  ]
  return events.map(eventOf).join('')
}

function wholeContent({ move, at, usage }: Answer) {
  const part =
    'tool' in move
      ? { functionCall: { name: move.tool, args: move.arguments } }
      : { text: move.text }
  return {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cached,
      candidatesTokenCount: usage.output - usage.reasoning,
      thoughtsTokenCount: usage.reasoning,
      totalTokenCount: usage.input + usage.output,
    },
    ...{ modelVersion: 'gemini-2.5-flash', responseId: `scripted${at}` },
  }
}
