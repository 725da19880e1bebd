import { describe, expect, test } from 'vitest'
import {
  endpointOf,
  recordedSessions,
  rowOfExchange,
} from '../../../../../test/support/provider-sessions.ts'
import { hasSharedFixtures } from '../../../../../test/support/shared-fixtures.ts'
import { objectFrom, parsedJson, textFrom } from '../../../../kernel/json-values.ts'
import type { Observation } from '../../../../model/observation.ts'

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
      expectRow(rowOfExchange(exchange, endpoint), row)
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
          const row = rowOfExchange({ ...exchange, response }, endpoint)
          expect(row.attributes['mapping.error']).toBeUndefined()
        }
      }
    }
  })
})
