/** A message of the chat format, as in the history of the sample agent. */
export type ChatMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | null
  tool_calls?: ChatToolCall[]
  tool_call_id?: string
}

type ChatToolCall = {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** Target of calls, with their headers and limits. */
export type ChatTarget = {
  /** Base URL with `/v1`. */
  url: string
  headers: Record<string, string>
  fetch: typeof globalThis.fetch
  /** Time-out of one call, its stream included. */
  timeout_ms: number
  /** Aborts a call, which then fails. */
  signal?: AbortSignal
  /** Receives the trace of each answered call: its header X-Trace-ID. */
  onTrace?: (trace_id: string) => void
}

/** A call failed; the message has the status and the start of the answer. */
class ChatCallFailed extends Error {
  override readonly name = 'ChatCallFailed'
}

/**
 * Sends one chat completion and returns the assistant's message, streamed or not. Throws
 * ChatCallFailed.
 */
export async function chatCall(
  target: ChatTarget,
  body: { model: string; messages: readonly ChatMessage[]; tools: unknown; stream: boolean },
): Promise<ChatMessage> {
  const { url, headers, fetch, timeout_ms, signal, onTrace } = target
  const timeout = AbortSignal.timeout(timeout_ms)
  try {
    const answer = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    const text = await answer.text()
    if (!answer.ok) throw new ChatCallFailed(`status ${answer.status}: ${text.slice(0, 500)}`)
    onTrace?.(answer.headers.get('x-trace-id') ?? '')
    return body.stream ? joinStream(text) : JSON.parse(text).choices[0].message
  } catch (cause) {
    if (cause instanceof ChatCallFailed) throw cause
    throw new ChatCallFailed(`POST ${url}/chat/completions: ${cause}`, { cause })
  }
}

type Delta = {
  content?: string | null
  tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[]
}

/** Joins the deltas of a finished stream, which must end with `[DONE]`. */
function joinStream(text: string): ChatMessage {
  const data = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
  if (data.at(-1) !== '[DONE]') throw new ChatCallFailed('the stream ended without [DONE]')
  const deltas: Delta[] = data
    .slice(0, -1)
    .flatMap((chunk) => JSON.parse(chunk).choices.map((choice: { delta: Delta }) => choice.delta))
  const content = deltas.map((delta) => delta.content ?? '').join('')
  const tool_calls = joinToolCalls(deltas)
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    ...(tool_calls.length > 0 && { tool_calls }),
  }
}

function joinToolCalls(deltas: readonly Delta[]): ChatToolCall[] {
  const calls: ChatToolCall[] = []
  for (const part of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const empty = { id: '', type: 'function' as const, function: { name: '', arguments: '' } }
    const call = calls[part.index] ?? empty
    calls[part.index] = call
    call.id ||= part.id ?? ''
    call.function.name ||= part.function?.name ?? ''
    call.function.arguments += part.function?.arguments ?? ''
  }
  return calls
}
