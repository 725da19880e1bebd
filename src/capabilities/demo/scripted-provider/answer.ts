import { createHash } from 'node:crypto'
import type { CompletionRequest } from './request.ts'
import type { ChoiceReply, Reply } from './script.ts'

/** A complete answer, before it is written in a provider's form. */
export type Answer = {
  /** Seed of ids: the request's number, so that runs are repeatable. */
  seed: number
  /** Seconds since 1970. */
  created_s: number
  model: string
  choices: readonly AnswerChoice[]
  usage: AnswerUsage | null
}

export type AnswerChoice = {
  content: string | null
  tool_calls: readonly AnswerToolCall[]
  finish_reason: string
  reasoning_content: string | undefined
  refusal: string | undefined
  extra: Record<string, unknown>
}

export type AnswerToolCall = { id: string | undefined; name: string; arguments: string }

export type AnswerUsage = {
  prompt_tokens: number
  completion_tokens: number
  cached_tokens: number
  reasoning_tokens: number
}

/** Builds the answer of a reply; without a reply, an echo of the last message. */
export function buildAnswer(
  request: CompletionRequest,
  reply: Reply | undefined,
  head: { seed: number; created_s: number },
): Answer {
  const choices = choicesOf(request, reply)
  return {
    ...head,
    model: reply?.model ?? request.model,
    choices,
    usage: usageOf(request, reply, choices),
  }
}

/** Returns characters of `alphabet` that depend on the seed alone, for repeatable ids. */
export function opaqueId(kind: string, seed: number, length: number): string {
  const digest = createHash('sha512').update(`${kind} ${seed}`).digest()
  return Array.from(digest.subarray(0, length), (byte) => alphabet[byte % alphabet.length]).join('')
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

function choicesOf(request: CompletionRequest, reply: Reply | undefined): AnswerChoice[] {
  if (!reply || isEmpty(reply)) return echoChoices(request)
  const given = reply.choices ?? [reply]
  const length = (request.endpoint === 'completions' ? request.messages.length : 1) * request.n
  return Array.from({ length }, (_, index) => choiceOf(given[index % given.length] ?? reply))
}

/**
 * Whether a reply has no text of its own, only headers, usage or model, so that the echo is used.
 */
function isEmpty(reply: Reply): boolean {
  const { content, tool_calls, choices, refusal, reasoning_content, extra } = reply
  const hasText = [content, choices, refusal, reasoning_content].some((part) => part !== undefined)
  return !hasText && tool_calls.length === 0 && Object.keys(extra).length === 0
}

function choiceOf(reply: ChoiceReply): AnswerChoice {
  return {
    content: reply.content ?? null,
    tool_calls: reply.tool_calls.map((call) => ({
      id: call.id,
      name: call.name,
      arguments:
        typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    })),
    finish_reason: reply.finish_reason ?? (reply.tool_calls.length > 0 ? 'tool_calls' : 'stop'),
    reasoning_content: reply.reasoning_content,
    refusal: reply.refusal,
    extra: reply.extra,
  }
}

const nothingElse = { reasoning_content: undefined, refusal: undefined, extra: {} }

function echoChoices(request: CompletionRequest): AnswerChoice[] {
  if (request.tool_demanded !== null) {
    const call = { id: undefined, name: request.tool_demanded, arguments: '{}' }
    const choice = { content: null, tool_calls: [call], finish_reason: 'tool_calls' }
    return Array.from({ length: request.n }, () => ({ ...choice, ...nothingElse }))
  }
  const echoed = request.endpoint === 'completions' ? request.messages : request.messages.slice(-1)
  return echoed.flatMap(({ role, text }) =>
    Array.from({ length: request.n }, (_, index) => ({
      content: echoOf(role, text) + (index === 0 ? '' : ` (${index + 1})`),
      tool_calls: [],
      finish_reason: 'stop',
      ...nothingElse,
    })),
  )
}

function echoOf(role: string, text: string): string {
  if (role === 'tool') return `The tool said: ${text}`
  return role === 'prompt' ? ` ${text}` : `You said: ${text}`
}

function usageOf(
  request: CompletionRequest,
  reply: Reply | undefined,
  choices: readonly AnswerChoice[],
): AnswerUsage | null {
  if (reply?.usage === null) return null
  const given = reply?.usage ?? {}
  const reasoning = choices.map((choice) => choice.reasoning_content ?? '').join('')
  const reasoning_tokens = given.reasoning_tokens ?? tokensIn(reasoning)
  const visible = choices.map(visibleText).join('')
  return {
    prompt_tokens: given.prompt_tokens ?? promptTokens(request),
    completion_tokens: given.completion_tokens ?? tokensIn(visible) + reasoning_tokens,
    cached_tokens: given.cached_tokens ?? 0,
    reasoning_tokens,
  }
}

const charactersPerToken = 4
/** Approximate tokens of the chat format per message. */
const tokensPerMessage = 4

function tokensIn(text: string): number {
  return Math.ceil(text.length / charactersPerToken)
}

function promptTokens(request: CompletionRequest): number {
  const tokens = request.messages.map(({ text }) => tokensIn(text) + tokensPerMessage)
  return tokens.reduce((sum, count) => sum + count, 0)
}

function visibleText(choice: AnswerChoice): string {
  const calls = choice.tool_calls.map((call) => call.name + call.arguments).join('')
  return (choice.content ?? '') + (choice.refusal ?? '') + calls
}
