import {
  createMapper,
  currentContract,
  jsonDecoder,
  type MappedRequest,
} from '../../src/capabilities/edge/otlp/index.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { PlainAttribute, PlainLogRecord, PlainLogs, PlainValue } from './otlp-messages.ts'

type Value = string | number | boolean

/** One session of an agent as log records. */
export type AgentSession = { scope: string; resource: PlainAttribute[]; records: PlainLogRecord[] }

const start_ns = 1_790_000_000_000_000_000n

function valueOfJson(value: Value): PlainValue {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'string') return { stringValue: value }
  return Number.isInteger(value) ? { intValue: `${value}` } : { doubleValue: value }
}

export function plainPairs(pairs: Record<string, Value>): PlainAttribute[] {
  return Object.entries(pairs).map(([key, value]) => ({ key, value: valueOfJson(value) }))
}

/** A log record `at_s` seconds after the start of all sessions. */
export function logRecord(at_s: number, pairs: Record<string, Value>, body = ''): PlainLogRecord {
  return {
    timeUnixNano: `${start_ns + BigInt(at_s) * 1_000_000_000n}`,
    severityNumber: 9,
    ...(body !== '' && { body: { stringValue: body } }),
    attributes: plainPairs(pairs),
  }
}

/**
 * A session of Claude Code: two prompts. Its logs have counts as texts and `event.name` without the
 * prefix (https://code.claude.com/docs/en/monitoring-usage). Written after that page, not captured.
 */
export function claudeCodeSession(session = 'b7a3c1d0-session'): AgentSession {
  const usual = { 'session.id': session, 'user.id': 'u-1', 'terminal.type': 'xterm' }
  let sequence = 0
  const event = (at_s: number, name: string, prompt: string, more: Record<string, Value>) =>
    logRecord(
      at_s,
      {
        ...usual,
        'event.name': name,
        'event.sequence': sequence++,
        ...(prompt !== '' && { 'prompt.id': prompt }),
        ...more,
      },
      `claude_code.${name}`,
    )
  const request = {
    model: 'claude-sonnet-4-5-20250929',
    input_tokens: '4',
    output_tokens: '250',
    cache_read_tokens: '12000',
    cache_creation_tokens: '800',
    cost_usd: '0.0103',
    duration_ms: '5000',
  }
  return {
    scope: 'com.anthropic.claude_code.events',
    resource: plainPairs({ 'service.name': 'claude-code', 'service.version': '2.1.0' }),
    records: [
      event(0, 'mcp_server_connection', '', { status: 'connected' }),
      event(1, 'user_prompt', 'p-1', { prompt_length: '24', prompt: 'Why does the test fail?' }),
      event(7, 'api_request', 'p-1', request),
      event(8, 'tool_decision', 'p-1', { tool_name: 'Bash', decision: 'accept' }),
      event(10, 'tool_result', 'p-1', {
        tool_name: 'Bash',
        tool_use_id: 'toolu_1',
        success: 'false',
        error: 'exit code 1',
        duration_ms: '2000',
        tool_parameters: '{"bash_command":"npm test"}',
      }),
      event(20, 'user_prompt', 'p-2', { prompt_length: '5', prompt: '<REDACTED>' }),
      event(22, 'api_error', 'p-2', {
        model: 'claude-sonnet-4-5-20250929',
        error: 'overloaded',
        status_code: '529',
        duration_ms: '300',
        attempt: 1,
      }),
      event(30, 'api_request', 'p-2', { ...request, cost_usd: '0.02', duration_ms: '4000' }),
    ],
  }
}

/** A session of Codex, written after https://developers.openai.com/codex/config-advanced. */
export function codexSession(conversation = '0199-codex'): AgentSession {
  const usual = { 'conversation.id': conversation, model: 'gpt-5-codex', slug: 'gpt-5-codex' }
  const event = (at_s: number, name: string, more: Record<string, Value>) =>
    logRecord(at_s, { 'event.name': `codex.${name}`, ...usual, ...more })
  return {
    scope: 'codex_otel.log_only',
    resource: plainPairs({ 'service.name': 'codex_cli_rs' }),
    records: [
      event(0, 'conversation_starts', { provider_name: 'OpenAI', approval_policy: 'never' }),
      event(1, 'user_prompt', { prompt_length: 9, prompt: 'Fix the bug' }),
      event(2, 'api_request', { duration_ms: 400, 'http.response.status_code': 200 }),
      event(4, 'sse_event', { 'event.kind': 'response.output_item.done', duration_ms: 3 }),
      event(5, 'sse_event', {
        'event.kind': 'response.completed',
        input_token_count: 9_000,
        output_token_count: 500,
        cached_token_count: 8_000,
        reasoning_token_count: 300,
        tool_token_count: 9_500,
      }),
      event(8, 'tool_result', {
        tool_name: 'shell',
        call_id: 'call_1',
        arguments: '{"command":["ls"]}',
        duration_ms: 90,
        success: 'true',
        output: 'README.md',
      }),
      event(9, 'api_request', {
        duration_ms: 100,
        'http.response.status_code': 500,
        'error.message': 'server error',
        attempt: 1,
      }),
    ],
  }
}

/** A session of Gemini CLI, written after https://geminicli.com/docs/cli/telemetry. */
export function geminiCliSession(session = 'gemini-session'): AgentSession {
  const event = (at_s: number, name: string, more: Record<string, Value>) =>
    logRecord(
      at_s,
      { 'session.id': session, 'event.name': `gemini_cli.${name}`, ...more },
      `Gemini CLI: ${name}.`,
    )
  const prompt_id = `${session}########0`
  return {
    scope: 'gemini-cli',
    resource: plainPairs({ 'service.name': 'gemini-cli', 'session.id': session }),
    records: [
      event(0, 'config', { model: 'gemini-2.5-pro' }),
      event(1, 'user_prompt', { prompt_length: 5, prompt: 'Hello', prompt_id }),
      event(2, 'api_request', {
        model: 'gemini-2.5-pro',
        prompt_id,
        request_text: '[{"role":"user"}]',
      }),
      event(6, 'api_response', {
        model: 'gemini-2.5-pro',
        prompt_id,
        status_code: 200,
        duration_ms: 3_000,
        input_token_count: 1_000,
        cached_content_token_count: 600,
        output_token_count: 40,
        thoughts_token_count: 160,
        tool_token_count: 50,
        response_text: 'Hello there',
      }),
      event(8, 'tool_call', {
        prompt_id,
        function_name: 'read_file',
        function_args: '{"path":"a.txt"}',
        duration_ms: 12,
        success: true,
        decision: 'auto_accept',
      }),
      event(9, 'api_error', {
        model: 'gemini-2.5-pro',
        prompt_id,
        error: 'quota exceeded',
        error_type: 'ClientError',
        status_code: 429,
        duration_ms: 20,
      }),
    ],
  }
}

/** An export request with these records of a session. */
export function logsOf({ scope, resource }: AgentSession, logRecords: PlainLogRecord[]): PlainLogs {
  const scopeLogs = [{ scope: { name: scope }, logRecords }]
  return { resourceLogs: [{ resource: { attributes: resource }, scopeLogs }] }
}

const mapper = createMapper({ contract: currentContract, pricing: createPricing() })
const decoder = jsonDecoder()

export const logProject = '01900000-0000-7000-8000-0000000000aa'

/** What the decoder and the mapper make of a request. */
export function mapLogs(request: PlainLogs, about: Partial<MappedRequest> = {}) {
  const origin = { project_id: logProject, environment: '', release: '', received_at_ms: 1 }
  const decoded = decoder.logs(Buffer.from(JSON.stringify(request)))
  return mapper.logs(decoded, { ...origin, ...about })
}
