import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AgentSession,
  claudeCodeSession,
  codexSession,
  logRecord,
  logsOf,
  mapLogs,
} from '../support/agent-logs.ts'
import { readTask } from '../support/agent-telemetry.ts'
import { type DetectionApi, openDetectionApi } from '../support/detection.ts'
import { storedFrom } from '../support/otlp-spans.ts'

let api: DetectionApi
beforeAll(async () => {
  api = await openDetectionApi()
  api.bench.startWorker()
})
afterAll(() => api?.[Symbol.asyncDispose]())

/** A prompt after which Claude Code makes the same call again and again. */
function loopOfClaudeCode(): AgentSession {
  const usual = { 'session.id': 'looping', 'prompt.id': 'p-9' }
  const records = Array.from({ length: 7 }, (_, at) => [
    logRecord(at * 10 + 5, {
      ...usual,
      'event.name': 'api_request',
      model: 'claude-sonnet-4-5-20250929',
      input_tokens: '10',
      output_tokens: '20',
      cost_usd: '0.01',
      duration_ms: '1000',
    }),
    logRecord(at * 10 + 7, {
      ...usual,
      'event.name': 'tool_result',
      tool_name: 'Bash',
      tool_use_id: `toolu_${at}`,
      success: 'true',
      duration_ms: '500',
      tool_parameters: '{"bash_command":"npm test"}',
    }),
  ])
  return { ...claudeCodeSession(), records: records.flat() }
}

/** The same of Codex, whose records hold the results of tools. */
function loopOfCodex(): AgentSession {
  const usual = { 'conversation.id': 'looping', model: 'gpt-5-codex' }
  const records = Array.from({ length: 7 }, (_, at) => [
    logRecord(at * 10 + 5, {
      ...usual,
      'event.name': 'codex.sse_event',
      'event.kind': 'response.completed',
      input_token_count: 100,
      output_token_count: 20,
    }),
    logRecord(at * 10 + 7, {
      ...usual,
      'event.name': 'codex.tool_result',
      tool_name: 'shell',
      call_id: `call_${at}`,
      arguments: '{"command":["npm","test"]}',
      duration_ms: 500,
      success: 'true',
      output: '2 tests failed',
    }),
  ])
  return { ...codexSession(), records: records.flat() }
}

async function taskOf(session: AgentSession) {
  const project_id = await api.bench.newProject()
  const { observations } = mapLogs(logsOf(session, session.records), { project_id }).records
  return readTask(api, observations.map(storedFrom))
}

test('a loop in the logs of Codex is found, in a task with its calls, tools and cost', async () => {
  const { calls, loops, task } = await taskOf(loopOfCodex())
  expect(calls).toMatchObject({ total: 7, tools: [{ name: 'shell', calls: 7, answered: 7 }] })
  expect(task).toMatchObject({ name: 'Codex', calls: 7, conversation: { external_id: 'looping' } })
  expect(Number(task['cost_usd'])).toBeGreaterThan(0)
  expect(loops).toMatchObject({ total: 1, loops: [{ type: 'repeat_call', repeats: 7 }] })
})

test('logs of Claude Code hold no results of tools: calls and cost, and no claim of a loop', async () => {
  const { calls, loops, task } = await taskOf(loopOfClaudeCode())
  expect(calls).toMatchObject({ total: 7, tools: [{ name: 'Bash', calls: 7, errors: 0 }] })
  expect(task).toMatchObject({ name: 'Claude Code', calls: 7 })
  expect(Number(task['cost_usd'])).toBeGreaterThan(0)
  expect(loops).toMatchObject({ total: 0 })
})
