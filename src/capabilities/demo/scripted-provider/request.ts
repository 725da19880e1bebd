import { z } from 'zod'
import type { ProviderName } from './script.ts'

export type Endpoint = 'chat.completions' | 'completions'

const messageSchema = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
  tool_call_id: z.string().optional(),
})

const bodySchema = z.looseObject({
  model: z.string().min(1),
  messages: z.array(messageSchema).min(1).optional(),
  prompt: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(128).nullish(),
  tools: z.array(z.looseObject({})).nullish(),
  tool_choice: z.unknown().optional(),
})

/** A parsed chat or legacy completion. */
export type CompletionRequest = {
  provider: ProviderName
  endpoint: Endpoint
  model: string
  /** Role and text of each message; a legacy prompt is a message of role `prompt`. */
  messages: readonly Message[]
  stream: boolean
  stream_options_given: boolean
  usage_asked: boolean
  n: number
  /** Name of the function that `tool_choice` requires, else null. */
  tool_demanded: string | null
}

type Message = { role: string; text: string; tool_call_id: string | null }

/** Fault of a request, for the provider's error form. */
export type RequestFault = { param: string | null; message: string }

/** Parses a body; returns the fault when it is not a valid request of the endpoint. */
export function completionRequestFrom(
  to: { provider: ProviderName; endpoint: Endpoint },
  body: Buffer,
): CompletionRequest | RequestFault {
  const json = jsonOrUndefined(body)
  if (json === undefined) return { param: null, message: 'The body is not JSON.' }
  const parsed = bodySchema.safeParse(json)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    return { param: issue?.path.join('.') ?? null, message: issue?.message ?? 'Invalid body.' }
  }
  const wanted = to.endpoint === 'completions' ? 'prompt' : 'messages'
  if (parsed.data[wanted] === undefined) {
    return { param: wanted, message: `Missing required parameter: '${wanted}'.` }
  }
  return {
    ...to,
    model: parsed.data.model,
    messages: messagesOf(parsed.data),
    stream: parsed.data.stream === true,
    stream_options_given: parsed.data.stream_options != null,
    usage_asked: parsed.data.stream_options?.include_usage === true,
    n: parsed.data.n ?? 1,
    tool_demanded: toolDemanded(parsed.data),
  }
}

function jsonOrUndefined(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function messagesOf(body: z.output<typeof bodySchema>): Message[] {
  if (body.messages) {
    return body.messages.map((message) => ({
      role: message.role,
      text: textOf(message.content),
      tool_call_id: message.tool_call_id ?? null,
    }))
  }
  const prompts = Array.isArray(body.prompt) ? body.prompt : [body.prompt ?? '']
  return prompts.map((text) => ({ role: 'prompt', text, tool_call_id: null }))
}

/** Returns the text of a message's content: a text, or a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: unknown }) => String(part?.text ?? '')).join('')
}

function toolDemanded(body: z.output<typeof bodySchema>): string | null {
  const choice = body.tool_choice
  if (choice === 'required') return functionName(body.tools?.[0])
  return functionName(choice)
}

function functionName(value: unknown): string | null {
  const named = z.looseObject({ function: z.looseObject({ name: z.string() }) }).safeParse(value)
  return named.success ? named.data.function.name : null
}
