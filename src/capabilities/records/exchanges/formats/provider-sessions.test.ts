import { describe, expect, test } from 'vitest'
import {
  endpointOf,
  type RecordedExchange,
  recordedSessions,
} from '../../../../../test/support/provider-sessions.ts'
import { hasSharedFixtures } from '../../../../../test/support/shared-fixtures.ts'
import { objectFrom, parsedJson, textFrom } from '../../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import type { Observation } from '../../../../model/observation.ts'
import { createPricing } from '../../pricing/index.ts'
import { exchangeToObservation } from '../mapping/exchange-to-records.ts'

type Call = { id: string | null; name: string; arguments: unknown }

type Expected = {
  exchange: string
  kind: string
  model: string | null
  finish_reason: string | null
  status: string
  error: { type: string | null; message: string | null } | null
  tool_calls: Call[]
  server_tools: { id: string | null; type: string; name: string }[]
  output_text: string
  response_id: string | null
  accept?: Partial<
    Record<'finish_reason' | 'status' | 'output_text' | 'response_id', unknown[]>
  > & {
    tool_calls?: Call[][]
  }
}

const sessions = recordedSessions<Expected>()

const pricing = createPricing()

function observationOf(
  { request, response }: RecordedExchange,
  endpoint: ExchangeFacts['endpoint'],
): Observation {
  const path_model = /\/models\/([^:/?]+):/.exec(request.path)?.[1]
  const facts: ExchangeFacts = {
    ...{ project_id: '0198c0de-0000-7000-8000-00000000000a', endpoint, provider: 'openai' },
    ...{ trace_id: '0198c0de-0000-7000-8000-000000000001', observation_id: 'o1' },
    ...{ parent_observation_id: '', start_time: '1790000000000000000' },
    ...{ end_time: '1790000001000000000', first_token_time: null, outcome: 'complete' },
    ...{ status_code: response.status, error_type: '', error_message: '' },
    ...{ streamed: response.streamed, usage_requested_by_us: false, request_bytes: 1 },
    ...{ response_bytes: 1, response_encoding: '', content_state: 'full', task_id: '' },
    response_type: response.headers['content-type'] ?? '',
    ...{ task_name: '', conversation_id: '', user_id: '', environment: '', release: '' },
    attributes: {},
    ...(path_model !== undefined && { path_model }),
  }
  return exchangeToObservation(
    {
      facts,
      request: Buffer.from(JSON.stringify(request.body ?? {})),
      response: Buffer.from(response.body),
    },
    'm',
    { pricing, countTokens: () => 0, response_bytes_max: 10_000_000 },
  )
}

/** Words of the providers in those of OpenAI's chat, as rows have them. */
const reasons: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  completed: 'stop',
  complete: 'stop',
  incomplete: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  tool_use: 'tool_calls',
  requires_action: 'tool_calls',
  refusal: 'content_filter',
  safety: 'content_filter',
}
const reasonOf = (word: unknown) => {
  const lower = textFrom(word).toLowerCase()
  return reasons[lower] ?? lower
}

/** A stream that was cut has the outcome `upstream_cut`, and an answer that is too short is `ok`. */
function statusOf({ status, outcome, finish_reason }: Observation): string {
  if (outcome === 'upstream_cut') return 'incomplete'
  return status === 'ok' && finish_reason === 'length' ? 'incomplete or ok' : status
}

function outputOf(row: Observation) {
  const messages = parsedJson(row.output)
  return objectFrom(Array.isArray(messages) ? messages[0] : undefined)
}

const argumentsOf = (text: string) => parsedJson(text) ?? text

function expectRow(row: Observation, expected: Expected): void {
  const { accept = {} } = expected
  expect(row.model || row.model_requested, 'model').toBe(expected.model ?? '')
  const words = [expected.finish_reason, ...(accept.finish_reason ?? [])].map(reasonOf)
  expect(words, 'finish reason').toContain(row.finish_reason)
  const statuses = [expected.status, ...(accept.status ?? [])].join(' ')
  expect(
    statusOf(row)
      .split(' or ')
      .some((one) => statuses.includes(one)),
    `status ${statusOf(row)} of ${statuses}`,
  ).toBe(true)
  if (expected.error !== null) {
    expect(row.error_message).toContain(textFrom(expected.error.message).slice(0, 60))
  }
  const calls = row.tool_calls.map(({ id, name, arguments: given }) => {
    return { id: id === '' ? null : id, name, arguments: argumentsOf(given) }
  })
  expect([expected.tool_calls, ...(accept.tool_calls ?? [])], 'tool calls').toContainEqual(calls)
  const message = outputOf(row)
  const text = textFrom(message?.['content']).trim() || textFrom(message?.['refusal']).trim()
  const texts = [expected.output_text, ...(accept.output_text ?? [])].map((one) =>
    textFrom(one).trim(),
  )
  expect(texts, 'output').toContain(text)
  const ids = [expected.response_id ?? '', ...(accept.response_id ?? [])]
  expect(ids, 'response id').toContain(row.response_id)
  const tools = (message?.['server_tools'] as Expected['server_tools'] | undefined) ?? []
  expect(
    tools.map(({ type, name }) => `${type} ${name}`),
    'tools of the provider',
  ).toEqual(expected.server_tools.map(({ type, name }) => `${type} ${name}`))
}

describe.runIf(hasSharedFixtures)('recorded sessions of providers', () => {
  test.each(sessions)('$name', ({ session }) => {
    const { exchanges, expect: rows } = session()
    for (const [at, exchange] of exchanges.entries()) {
      const endpoint = endpointOf(exchange.request)
      const row = rows[at]
      if (endpoint === undefined || row === undefined) continue
      expectRow(observationOf(exchange, endpoint), row)
    }
  })

  test('a stream that is cut at any byte is read without a fault', () => {
    for (const { session } of sessions) {
      for (const exchange of session().exchanges) {
        const endpoint = endpointOf(exchange.request)
        if (endpoint === undefined || !exchange.response.streamed) continue
        const { body } = exchange.response
        for (let end = 0; end < body.length; end += Math.max(1, Math.floor(body.length / 40))) {
          const response = { ...exchange.response, body: body.slice(0, end) }
          const row = observationOf({ ...exchange, response }, endpoint)
          expect(row.attributes['mapping.error']).toBeUndefined()
        }
      }
    }
  })
})
