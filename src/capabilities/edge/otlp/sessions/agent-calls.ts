import type { OtlpValue } from '../contract.ts'
import type { LogReading } from './log-reading.ts'

/** An observation that a log record describes. */
export type LoggedCall = {
  name: string
  /** Attributes of the GenAI conventions that the mapping reads. */
  attributes: Record<string, OtlpValue | undefined>
  duration_ms: number
  /** The message of an error; undefined for a call that succeeded. */
  error: string | undefined
}

type ReadCall = (log: LogReading) => LoggedCall | undefined

/**
 * The events that are observations: one for each call of a model, each tool and each prompt. The
 * reader returns undefined for an event that only accompanies one. Names of attributes:
 * https://code.claude.com/docs/en/monitoring-usage (claude_code),
 * https://developers.openai.com/codex/config-advanced (codex) and
 * https://geminicli.com/docs/cli/telemetry (gemini_cli).
 */
export const loggedCalls: Readonly<Record<string, ReadCall>> = {
  'claude_code.api_request': (log) => claudeGeneration(log),
  'claude_code.api_error': (log) => claudeGeneration(log),
  'claude_code.tool_result': (log) => tool(log, 'tool_name'),
  'claude_code.user_prompt': prompt,
  // Codex states the tokens with the end of the stream; its request states failures.
  'codex.sse_event': codexGeneration,
  'codex.websocket_event': codexGeneration,
  'codex.api_request': (log) => (errorOf(log) === undefined ? undefined : generation(log, {})),
  'codex.tool_result': (log) => tool(log, 'tool_name'),
  'codex.user_prompt': prompt,
  'gemini_cli.api_response': geminiGeneration,
  'gemini_cli.api_error': geminiGeneration,
  'gemini_cli.tool_call': (log) => tool(log, 'function_name'),
  'gemini_cli.user_prompt': prompt,
}

/** Attributes with content, which become input, output or an error, or the body of an event. */
export const contentKeys: ReadonlySet<string> = new Set([
  'prompt',
  'arguments',
  'function_args',
  'tool_input',
  'tool_parameters',
  'output',
  'tool_output',
  'request_text',
  'response_text',
  'body',
  'error',
  'error.message',
])

/** Texts in place of a prompt that an agent does not send. */
const redacted = new Set(['<REDACTED>', '[REDACTED]'])

/** Claude Code's input excludes cached tokens, which these two names of Anthropic say. */
function claudeGeneration(log: LogReading): LoggedCall {
  return generation(log, {
    'gen_ai.usage.input_tokens': log.count('input_tokens'),
    'gen_ai.usage.output_tokens': log.count('output_tokens'),
    cache_read_input_tokens: log.count('cache_read_tokens'),
    cache_creation_input_tokens: log.count('cache_creation_tokens'),
  })
}

/** Codex's counts are those of the Responses API: the parts are inside the totals. */
function codexGeneration(log: LogReading): LoggedCall | undefined {
  const input = log.count('input_token_count')
  if (input === undefined && errorOf(log) === undefined) return undefined
  return generation(log, {
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': log.count('output_token_count'),
    'gen_ai.usage.cache_read.input_tokens': log.count('cached_token_count'),
    'gen_ai.usage.cache_write.input_tokens': log.count('cache_write_token_count'),
    'gen_ai.usage.reasoning.output_tokens': log.count('reasoning_token_count'),
  })
}

/** Gemini's output excludes its thoughts, and its input excludes the prompts of tools. */
function geminiGeneration(log: LogReading): LoggedCall {
  const thoughts = log.count('thoughts_token_count')
  const answer = log.text('response_text')
  return generation(log, {
    'gen_ai.usage.input_tokens': sumOf(
      log.count('input_token_count'),
      log.count('tool_token_count'),
    ),
    'gen_ai.usage.output_tokens': sumOf(log.count('output_token_count'), thoughts),
    'gen_ai.usage.cache_read.input_tokens': log.count('cached_content_token_count'),
    'gen_ai.usage.reasoning.output_tokens': thoughts,
    'gen_ai.response.finish_reasons': log.value('finish_reasons'),
    'output.value': answer === '' ? undefined : log.value('response_text'),
  })
}

function generation(log: LogReading, attributes: LoggedCall['attributes']): LoggedCall {
  const model = log.text('model')
  const error = errorOf(log)
  const isAnswered = error === undefined
  return {
    name: `chat ${model}`.trimEnd(),
    attributes: {
      ...attributes,
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model,
      'gen_ai.response.model': isAnswered ? model : undefined,
      'http.response.status_code': log.count('http.response.status_code', 'status_code'),
    },
    duration_ms: log.count('duration_ms') ?? 0,
    error,
  }
}

function tool(log: LogReading, nameKey: string): LoggedCall {
  const name = log.text(nameKey)
  const isFailed = log.text('success') === 'false'
  return {
    name: `execute_tool ${name}`.trimEnd(),
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': log.text('tool_use_id', 'call_id', 'tool_call_id'),
      'gen_ai.tool.call.arguments': log.value(
        'tool_input',
        'tool_parameters',
        'arguments',
        'function_args',
      ),
      'gen_ai.tool.call.result': log.value('output', 'tool_output'),
    },
    duration_ms: log.count('duration_ms') ?? 0,
    error: isFailed ? log.text('error', 'error.message') || 'the tool failed' : undefined,
  }
}

function prompt(log: LogReading): LoggedCall {
  const isSent = !redacted.has(log.text('prompt'))
  return {
    name: 'user_prompt',
    attributes: { 'input.value': isSent ? log.value('prompt') : undefined },
    duration_ms: 0,
    error: undefined,
  }
}

/** Returns the message of a failed call: its error, or its HTTP status of 400 or more. */
function errorOf(log: LogReading): string | undefined {
  const message = log.text('error', 'error.message')
  if (message !== '') return message
  const status = log.count('http.response.status_code', 'status_code') ?? 0
  return status >= 400 ? `HTTP status ${status}` : undefined
}

function sumOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}
