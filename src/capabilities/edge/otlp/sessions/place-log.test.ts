import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AgentSession,
  claudeCodeSession,
  codexSession,
  geminiCliSession,
  logRecord,
  logsOf,
  mapLogs,
  plainPairs,
} from '../../../../../test/support/agent-logs.ts'
import type { PlainLogRecord } from '../../../../../test/support/otlp-messages.ts'
import type { EventDraft, ObservationDraft } from '../../../../model/ingest-records.ts'
import { applyCapture, compilePolicy, defaultRules } from '../../../records/capture/index.ts'

function rowsOf(session: AgentSession) {
  const { records, rejected } = mapLogs(logsOf(session, session.records))
  expect([...rejected]).toEqual([])
  expect(records.observations.length + records.events.length).toBe(session.records.length)
  return records
}

function only(rows: ObservationDraft[], name: string): ObservationDraft {
  const found = rows.filter((row) => row.name === name)
  expect(found).toHaveLength(1)
  return found[0] as ObservationDraft
}

function names(rows: readonly { name: string }[]): string[] {
  return rows.map(({ name }) => name)
}

const second_ns = 1_000_000_000n

test('Claude Code: an observation for each call, tool and prompt, and a task for each prompt', () => {
  const { observations, events } = rowsOf(claudeCodeSession())
  const call = 'chat claude-sonnet-4-5-20250929'
  expect(names(observations)).toEqual([
    'user_prompt',
    call,
    'execute_tool Bash',
    'user_prompt',
    call,
    call,
  ])
  expect(names(events)).toEqual(['claude_code.mcp_server_connection', 'claude_code.tool_decision'])
  const [asked, answered, tool, , failed] = observations
  expect(asked).toMatchObject({ type: 'span', input: 'Why does the test fail?' })
  expect(answered).toMatchObject({
    type: 'generation',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5-20250929',
    input_uncached_tokens: 4,
    cache_read_tokens: 12_000,
    cache_write_tokens: 800,
    output_visible_tokens: 250,
    cost_reported_usd: '0.0103',
    conversation_external_id: 'b7a3c1d0-session',
    user_id: 'u-1',
    agent_name: 'Claude Code',
    service_name: 'claude-code',
    release: '2.1.0',
    status: 'ok',
  })
  expect((answered?.end_time ?? 0n) - (answered?.start_time ?? 0n)).toBe(5n * second_ns)
  expect(tool).toMatchObject({
    type: 'tool',
    status: 'error',
    error_message: 'exit code 1',
    tool_calls: [{ id: 'toolu_1', name: 'Bash', arguments: '{"bash_command":"npm test"}' }],
  })
  expect(failed).toMatchObject({
    type: 'generation',
    status: 'error',
    status_code: 529,
    error_message: 'overloaded',
    model: '',
    model_requested: 'claude-sonnet-4-5-20250929',
  })
  const prompts = Map.groupBy(observations, ({ task_id }) => task_id)
  expect([...prompts.values()].map((rows) => rows.length)).toEqual([3, 3])
  expect(new Set(observations.map(({ conversation_id }) => conversation_id)).size).toBe(1)
})

test('Codex: tokens of the finished stream, and failed requests; its conversation is a task', () => {
  const { observations, events } = rowsOf(codexSession())
  expect(names(observations)).toEqual([
    'user_prompt',
    'chat gpt-5-codex',
    'execute_tool shell',
    'chat gpt-5-codex',
  ])
  const [, answered, , failed] = observations
  expect(answered).toMatchObject({
    type: 'generation',
    provider: 'openai',
    input_uncached_tokens: 1_000,
    cache_read_tokens: 8_000,
    output_visible_tokens: 200,
    reasoning_tokens: 300,
    conversation_external_id: '0199-codex',
    agent_name: 'Codex',
  })
  expect(only(observations, 'execute_tool shell')).toMatchObject({
    type: 'tool',
    tool_calls: [{ id: 'call_1', name: 'shell', arguments: '{"command":["ls"]}' }],
    tool_results: [{ tool_call_id: 'call_1', content: 'README.md' }],
    status: 'ok',
  })
  expect(failed).toMatchObject({ status: 'error', status_code: 500, error_message: 'server error' })
  expect(names(events)).toEqual([
    'codex.conversation_starts',
    'codex.api_request',
    'codex.sse_event',
  ])
  expect(new Set(observations.map(({ trace_id }) => trace_id)).size).toBe(1)
})

test('Gemini CLI: its totals exclude thoughts and prompts of tools', () => {
  const { observations, events } = rowsOf(geminiCliSession())
  expect(names(observations)).toEqual([
    'user_prompt',
    'chat gemini-2.5-pro',
    'execute_tool read_file',
    'chat gemini-2.5-pro',
  ])
  expect(observations[1]).toMatchObject({
    type: 'generation',
    provider: 'gemini',
    input_uncached_tokens: 450,
    cache_read_tokens: 600,
    output_visible_tokens: 40,
    reasoning_tokens: 160,
    output: 'Hello there',
    conversation_external_id: 'gemini-session',
    agent_name: 'Gemini CLI',
  })
  expect(observations[3]).toMatchObject({ status: 'error', status_code: 429 })
  const [, request] = events
  expect(names(events)).toEqual(['gemini_cli.config', 'gemini_cli.api_request'])
  expect(request?.body.toString()).toContain('"request_text":"[{\\"role\\":\\"user\\"}]"')
  expect(String(request?.attributes)).not.toContain('role')
})

test('content is in no attribute', () => {
  for (const session of [claudeCodeSession(), codexSession(), geminiCliSession()]) {
    const { observations } = rowsOf(session)
    const attributes = observations.flatMap((row) => row.attributes).join('\n')
    for (const words of [
      'Why does',
      'npm test',
      'exit code',
      'README',
      'Fix the bug',
      'a.txt',
      'Hello',
    ]) {
      expect(attributes).not.toContain(words)
    }
  }
})

/** The stored identity of a record, and everything in it. */
function keyed(rows: readonly (ObservationDraft | EventDraft)[]): Map<string, unknown> {
  return new Map(
    rows.map((row) => {
      const time = 'start_time' in row ? row.start_time : row.time
      const event = 'event_id' in row ? row.event_id : ''
      return [`${row.trace_id} ${row.observation_id} ${event} ${time}`, row]
    }),
  )
}

test('in any order, split in any way, some of them twice: the same records', () => {
  for (const session of [claudeCodeSession(), codexSession(), geminiCliSession()]) {
    const { observations, events } = rowsOf(session)
    const whole = keyed([...observations, ...events])
    expect(whole.size).toBe(session.records.length)
    const order = fc.shuffledSubarray(session.records, { minLength: session.records.length })
    const again = fc.shuffledSubarray(session.records)
    const cuts = fc.array(fc.integer({ min: 0, max: session.records.length }), { maxLength: 5 })
    fc.assert(
      fc.property(order, again, cuts, (records, repeated, at) => {
        const found = split([...records, ...repeated], at).flatMap((batch) => {
          const mapped = mapLogs(logsOf(session, batch)).records
          return [...mapped.observations, ...mapped.events]
        })
        const stored = keyed(found)
        expect([...stored.keys()].toSorted()).toEqual([...whole.keys()].toSorted())
      }),
      { numRuns: 50 },
    )
  }
})

function split(records: PlainLogRecord[], cuts: readonly number[]): PlainLogRecord[][] {
  const ends = [...cuts.toSorted((a, b) => a - b), records.length]
  return ends.map((end, at) => records.slice(at === 0 ? 0 : ends[at - 1], end))
}

describe('a session', () => {
  test('of the same name in another project is another trace and another conversation', () => {
    const session = claudeCodeSession('shared')
    const request = logsOf(session, session.records)
    const other = '01900000-0000-7000-8000-0000000000bb'
    const [ours] = mapLogs(request).records.observations
    const [theirs] = mapLogs(request, { project_id: other }).records.observations
    expect(theirs?.project_id).toBe(other)
    expect(theirs?.trace_id).not.toBe(ours?.trace_id)
    expect(theirs?.conversation_id).not.toBe(ours?.conversation_id)
  })

  test('of the same name in another agent is another trace', () => {
    const ids = [codexSession('same'), geminiCliSession('same')].map(
      (session) => rowsOf(session).observations[0]?.trace_id,
    )
    expect(new Set(ids).size).toBe(2)
  })

  test('that no record names is refused, and says why', () => {
    const record = logRecord(1, { 'event.name': 'codex.user_prompt', prompt: 'a' })
    const { records, rejected } = mapLogs(logsOf(codexSession(), [record]))
    expect([records.observations, records.events]).toEqual([[], []])
    expect([...rejected]).toEqual([['no_trace_id', 1]])
  })
})

test('a record with a trace id is an event of that trace: its agent exports spans too', () => {
  const session = claudeCodeSession()
  const traceId = '5b8efff798038103d269b633813fc60c'
  const records = session.records.map((record) => ({
    ...record,
    traceId,
    spanId: 'eee19b7ec3c1b174',
  }))
  const { observations, events } = mapLogs(logsOf(session, records)).records
  expect(observations).toEqual([])
  expect(names(events)).toContain('claude_code.api_request')
  for (const { trace_id, observation_id } of events) {
    expect([trace_id.replaceAll('-', ''), observation_id]).toEqual([traceId, 'eee19b7ec3c1b174'])
  }
})

describe('a GenAI event without a trace id', () => {
  const details = 'gen_ai.client.inference.operation.details'
  const scope = {
    scope: 'opentelemetry.util.genai',
    resource: plainPairs({ 'service.name': 'shop' }),
  }

  test('but with a session becomes a trace of the session, with its content', () => {
    const record = (at_s: number) => ({
      ...logRecord(at_s, {
        'gen_ai.conversation.id': 'chat-1',
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.usage.input_tokens': 12,
        'gen_ai.usage.output_tokens': 3,
        'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
      }),
      eventName: details,
    })
    const session = { ...scope, records: [record(1), record(2)] }
    const { observations } = rowsOf(session)
    expect(observations[0]).toMatchObject({
      type: 'generation',
      provider: 'openai',
      model_requested: 'gpt-4o',
      input_uncached_tokens: 12,
      output_visible_tokens: 3,
      conversation_external_id: 'chat-1',
      content_state: 'full',
    })
    expect(new Set(observations.map(({ trace_id }) => trace_id)).size).toBe(1)
    expect(new Set(observations.map(({ observation_id }) => observation_id)).size).toBe(2)
  })

  test('with one message is an observation with that message', () => {
    const record = {
      ...logRecord(1, { 'session.id': 's', 'gen_ai.system': 'openai' }, 'Where is parcel 7?'),
      eventName: 'gen_ai.user.message',
    }
    const { observations } = rowsOf({ ...scope, records: [record] })
    expect(observations[0]?.input.toString()).toContain('Where is parcel 7?')
    expect(String(observations[0]?.attributes)).not.toContain('parcel')
  })

  test('and without a session is refused', () => {
    const record = { ...logRecord(1, { 'gen_ai.operation.name': 'chat' }), eventName: details }
    const { rejected } = mapLogs(logsOf({ ...scope, records: [] }, [record]))
    expect([...rejected]).toEqual([['no_trace_id', 1]])
  })
})

describe('the capture policy', () => {
  const secret = 'sk-live-0123456789'
  /** The secret in each attribute that a client can fill. */
  const session = {
    ...codexSession(),
    records: ['tool_result', 'user_prompt', 'tool_decision'].map((name, at) =>
      logRecord(at, {
        'event.name': `codex.${name}`,
        'conversation.id': 'c-1',
        tool_name: 'shell',
        prompt: `the key is ${secret}`,
        arguments: `{"command":"curl -H ${secret}"}`,
        output: `got ${secret}`,
        'error.message': `${secret} was refused`,
        note: `the key is ${secret}`,
        success: 'false',
      }),
    ),
  }
  const { records } = mapLogs(logsOf(session, session.records))
  const kinds = ['events', 'observations'] as const

  test('masks secrets in records of log records', () => {
    const masks = [{ name: 'key', pattern: 'sk-live-[0-9]+', keys: null, replacement: '…' }]
    const policy = compilePolicy({ ...defaultRules, masks })
    const kept = applyCapture(policy, records, kinds)
    expect(textOf(records)).toContain(secret)
    expect(textOf(kept.records)).not.toContain(secret)
    expect([kept.masked, kept.rejected]).toEqual([3, {}])
  })

  test('keeps no content with metadata_only', () => {
    const policy = compilePolicy({ ...defaultRules, content: 'metadata_only' })
    const text = textOf(applyCapture(policy, records, kinds).records)
    for (const words of ['curl', 'got sk', 'was refused']) expect(text).not.toContain(words)
  })

  test('counts each record once when it keeps none', () => {
    const policy = compilePolicy({ ...defaultRules, content: 'off' })
    expect(applyCapture(policy, records, kinds).rejected).toEqual({ capture_off: 3 })
  })

  /** All texts of a value. */
  function textOf(value: unknown): string {
    if (value instanceof Uint8Array) return Buffer.from(value).toString()
    if (typeof value !== 'object' || value === null) return String(value)
    return Object.values(value).map(textOf).join('\n')
  }
})

test('no attribute of any type throws, and each record is counted once', () => {
  const value = fc.oneof(
    fc.record({ stringValue: fc.string() }),
    fc.record({ intValue: fc.constantFrom('-1', '9223372036854775807', '1e9') }),
    fc.record({ doubleValue: fc.double() }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ bytesValue: fc.constant('AAEC') }),
    fc.record({
      arrayValue: fc.record({ values: fc.array(fc.record({ stringValue: fc.string() })) }),
    }),
    fc.constant({}),
  )
  const keys = fc.constantFrom(
    ...['event.name', 'session.id', 'prompt.id', 'model', 'duration_ms', 'success', 'error'],
    ...['input_tokens', 'input_token_count', 'status_code', 'prompt', 'tool_name', 'arguments'],
  )
  const named = fc.constantFrom(
    ...['claude_code.api_request', 'codex.sse_event', 'codex.', 'gemini_cli.tool_call', 'x'],
  )
  const record = fc.record({
    eventName: named,
    timeUnixNano: fc.constantFrom('0', '1790000000000000000', '18446744073709551615'),
    attributes: fc.array(fc.record({ key: keys, value }), { maxLength: 8 }),
  })
  fc.assert(
    fc.property(fc.array(record, { maxLength: 6 }), (records) => {
      const session = { ...codexSession(), records: [] }
      const { records: rows, rejected } = mapLogs(logsOf(session, records as PlainLogRecord[]))
      const refused = [...rejected.values()].reduce((sum, items) => sum + items, 0)
      expect(rows.observations.length + rows.events.length + refused).toBe(records.length)
      for (const { start_time, end_time } of rows.observations) {
        expect(start_time > 0n && end_time >= start_time).toBe(true)
      }
    }),
  )
})
