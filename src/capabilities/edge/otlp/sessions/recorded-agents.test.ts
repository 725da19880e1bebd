import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { logProject } from '../../../../../test/support/agent-logs.ts'
import { noPrice } from '../../../../../test/support/no-cost.ts'
import type { IngestRecords, ObservationDraft } from '../../../../model/ingest-records.ts'
import { jsonDecoder } from '../decode/json/decoder.ts'
import { currentContract } from '../mapping/contracts/registry.ts'
import { createMapper } from '../mapping/create-mapper.ts'

type Json = Record<string, unknown>
type Export = { path: string; body: Json }

const folder = new URL('../../../../../test/fixtures/agent-telemetry/', import.meta.url)

function readExports(name: string): Export[] {
  const text = gunzipSync(readFileSync(new URL(`${name}.json.gz`, folder))).toString('utf8')
  return (JSON.parse(text) as { exports: Export[] }).exports
}

const decoder = jsonDecoder()
const mapper = createMapper({ contract: currentContract, pricing: noPrice })
const about = { project_id: logProject, environment: '', release: '', received_at_ms: 1 }

/** The records of an export, and the number of rejected items. */
function mapped({ path, body }: Export): { records: IngestRecords; rejected: number } {
  const bytes = Buffer.from(JSON.stringify(body))
  const mapOf = {
    '/v1/traces': () => mapper.traces(decoder.traces(bytes), about),
    '/v1/logs': () => mapper.logs(decoder.logs(bytes), about),
    '/v1/metrics': () => mapper.metrics(decoder.metrics(bytes), about),
  }[path]
  if (mapOf === undefined) throw new Error(path)
  const { records, rejected } = mapOf()
  return { records, rejected: [...rejected.values()].reduce((sum, items) => sum + items, 0) }
}

function observationsOf(exports: readonly Export[]): ObservationDraft[] {
  return exports.flatMap((one) => mapped(one).records.observations)
}

/** Those that count as work of an agent, with the prompt. */
function workOf(exports: readonly Export[]): ObservationDraft[] {
  const rows = observationsOf(exports)
  return rows.filter(({ type, name }) => type !== 'span' || name === 'user_prompt')
}

const usageOfCodex = {
  type: 'generation',
  provider: 'openai',
  model: 'gpt-5-codex',
  input_uncached_tokens: 1_000,
  cache_read_tokens: 8_000,
  cache_write_tokens: 0,
  output_visible_tokens: 200,
  reasoning_tokens: 300,
  agent_name: 'Codex',
  status: 'ok',
}

describe.each(['codex-0.171.0', 'codex-0.171.0-with-traces'])('%s', (name) => {
  const exports = readExports(name)

  test('four calls and three tools with results, in one task, whether it exports spans or not', () => {
    const rows = workOf(exports).toSorted((a, b) => (a.end_time < b.end_time ? -1 : 1))
    const kinds = rows.map(({ name: kind }) => kind)
    const turn = ['chat gpt-5-codex', 'execute_tool exec_command']
    expect(kinds).toEqual(['user_prompt', ...turn, ...turn, ...turn, 'chat gpt-5-codex'])
    expect(rows[0]?.input).toBe('Fix the bug')
    for (const call of rows.filter(({ type }) => type === 'generation')) {
      expect(call).toMatchObject(usageOfCodex)
    }
    const tools = rows.filter(({ type }) => type === 'tool')
    expect(tools.map(({ tool_calls }) => tool_calls[0])).toEqual(
      ['call_1', 'call_2', 'call_3'].map((id) => ({
        id,
        name: 'exec_command',
        arguments: '{"cmd":"ls"}',
      })),
    )
    for (const { output } of tools)
      expect(output.toString()).toContain('Process exited with code 0')
    expect(new Set(rows.map(({ task_id }) => task_id)).size).toBe(1)
    expect(new Set(rows.map(({ conversation_id }) => conversation_id)).size).toBe(1)
  })

  test('only the log record about its own exporter is rejected', () => {
    const logs = exports.filter(({ path }) => path === '/v1/logs')
    expect(logs.reduce((sum, one) => sum + mapped(one).rejected, 0)).toBe(1)
  })
})

test('metrics of Codex are events', () => {
  const exports = readExports('codex-0.171.0-with-traces')
  const [metrics] = exports.filter(({ path }) => path === '/v1/metrics')
  const { records, rejected } = mapped(metrics as Export)
  expect(rejected).toBe(0)
  expect(new Set(records.events.map(({ name }) => name))).toContain('codex.turn.token_usage')
})

test('metrics of Codex, which name no session, have one trace for each day', () => {
  const exports = readExports('codex-0.171.0-with-traces')
  const [metrics] = exports.filter(({ path }) => path === '/v1/metrics')
  const sent = JSON.stringify((metrics as Export).body)
  const tracesAfter = (days: number) => {
    const later = sent.replace(
      /("(?:timeUnixNano|startTimeUnixNano)":")(\d+)/g,
      (_, key, time) => `${key}${BigInt(time) + BigInt(days) * 86_400_000_000_000n}`,
    )
    const { records } = mapped({ ...(metrics as Export), body: JSON.parse(later) })
    return records.events.map(({ trace_id }) => trace_id)
  }
  const traces = [0, 0, 1, 365].map((days) => new Set(tracesAfter(days)))
  expect(traces.map(({ size }) => size)).toEqual([1, 1, 1, 1])
  expect(new Set(traces.flatMap((ids) => [...ids])).size).toBe(3)
})

describe.each(['gemini-cli-0.61.0', 'gemini-cli-0.61.0-with-traces'])('%s', (name) => {
  const exports = readExports(name)

  test('three calls and two tools in one task, though its spans and GenAI events repeat them', () => {
    const rows = workOf(exports).toSorted((a, b) => (a.end_time < b.end_time ? -1 : 1))
    const turn = ['chat gemini-2.5-pro', 'execute_tool list_directory']
    const kinds = rows.map(({ name: kind }) => kind)
    expect(kinds).toEqual(['user_prompt', ...turn, ...turn, 'chat gemini-2.5-pro'])
    for (const call of rows.filter(({ type }) => type === 'generation')) {
      expect(call).toMatchObject({
        provider: 'gemini',
        model: 'gemini-2.5-pro',
        input_uncached_tokens: 400,
        cache_read_tokens: 600,
        output_visible_tokens: 40,
        reasoning_tokens: 160,
        finish_reason: 'stop',
      })
    }
    expect(rows[2]?.tool_calls[0]?.arguments).toContain('"dir_path": "."')
    expect(new Set(rows.map(({ task_id }) => task_id)).size).toBe(1)
    expect(new Set(rows.map(({ conversation_id }) => conversation_id)).size).toBe(1)
  })

  test('its spans are plain: they keep what they say, and count as nothing', () => {
    const traces = exports.filter(({ path }) => path === '/v1/traces')
    const spans = observationsOf(traces)
    expect(spans).toHaveLength(7)
    for (const span of spans) {
      expect(span).toMatchObject({ type: 'span', cost_usd: null, tool_calls: [] })
    }
    expect(String(spans[0]?.attributes)).toContain('span.gen_ai.request.model,gemini-2.5-pro')
  })

  test('of its metrics, those with its own name are events', () => {
    const [metrics] = exports.filter(({ path }) => path === '/v1/metrics')
    const { records, rejected } = mapped(metrics as Export)
    const names = new Set(records.events.map(({ name: metric }) => metric))
    expect(names).toContain('gemini_cli.token.usage')
    // gen_ai.client.token.usage twice, gen_ai.client.operation.duration once
    expect(rejected).toBe(3)
  })
})

test('records of real sessions in any order, split and repeated, are the same', () => {
  for (const name of ['codex-0.171.0', 'gemini-cli-0.61.0-with-traces']) {
    const logs = readExports(name).filter(({ path }) => path === '/v1/logs')
    const single = logs.flatMap(({ path, body }) =>
      splitRecords(body).map((one) => ({ path, body: one })),
    )
    const whole = keysOf(logs)
    expect(whole.size).toBe(observationsOf(logs).length)
    fc.assert(
      fc.property(
        fc.shuffledSubarray(single, { minLength: single.length }),
        fc.shuffledSubarray(single),
        (all, again) => {
          expect(keysOf([...again, ...all])).toEqual(whole)
        },
      ),
      { numRuns: 20 },
    )
  }
})

function keysOf(exports: readonly Export[]): Set<string> {
  const rows = observationsOf(exports)
  return new Set(rows.map((row) => `${row.trace_id} ${row.observation_id} ${row.start_time}`))
}

/** Returns a request for each log record. */
function splitRecords(body: Json): Json[] {
  return (body['resourceLogs'] as Json[]).flatMap((resource) =>
    (resource['scopeLogs'] as Json[]).flatMap((scope) =>
      (scope['logRecords'] as Json[]).map((record) => ({
        resourceLogs: [{ ...resource, scopeLogs: [{ ...scope, logRecords: [record] }] }],
      })),
    ),
  )
}
