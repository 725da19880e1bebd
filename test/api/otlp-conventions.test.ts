import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Observation } from '../../src/model/observation.ts'
import { aiSdkSpans } from '../support/ai-sdk-spans.ts'
import { conventionSpans } from '../support/convention-spans.ts'
import { googleAdkSpans } from '../support/google-adk-spans.ts'
import { langfuseSpans } from '../support/langfuse-spans.ts'
import { olderConventionSpans } from '../support/older-convention-spans.ts'
import { type ConventionSpan, plainAttributes, plainSpanOf } from '../support/otlp-conventions.ts'
import type { PlainLogs, PlainTraces } from '../support/otlp-messages.ts'
import { type TestReceiver, testReceiver } from '../support/otlp-receiver.ts'
import { pairsFrom, storedFrom, textFrom } from '../support/otlp-spans.ts'

let receiver: TestReceiver
beforeAll(async () => {
  receiver = await testReceiver()
})
beforeEach(() => void receiver.requests.splice(0))
afterAll(() => receiver?.[Symbol.asyncDispose]())

describe.each([
  ['the AI SDK', aiSdkSpans],
  ['Langfuse', langfuseSpans],
  ['Google ADK', googleAdkSpans],
  ['conventions of today', conventionSpans],
  ['conventions of yesterday', olderConventionSpans],
])('%s', (_, spans) => {
  test.each(spans)('$convention', async (given) => {
    const row = await rowOf(given)
    expect(row).toMatchObject({
      source: 'otlp',
      contract_version: 'phase9-otlp-v1',
      status: 'ok',
      ...given.row,
    })
    expect(row.name).toBe(given.span)
    for (const key of Object.keys(row.attributes)) expect(key).not.toMatch(saidKeys)
  })
})

/** Keys of content attributes, which are in no attribute of a row. */
const saidKeys =
  /(messages?|\.prompt(\.\d.*)?|\.completion\.\d.*|content|(in|out)put|spanInputs|spanOutputs|final_result|args|arguments|response|llm_request|\.value)$/

test('attributes without content stay unchanged', async () => {
  const { attributes } = await rowOf({
    convention: '',
    span: 'a span',
    attributes: { 'http.route': '/a', count: 3, ratio: 0.5, is_new: true, list: ['a', 'b'] },
    row: {},
  })
  expect(attributes).toEqual({
    'http.route': '/a',
    count: '3',
    ratio: '0.5',
    is_new: 'true',
    list: '["a","b"]',
  })
})

test('GenAI events in log records are events of their span', async () => {
  const logs: PlainLogs = {
    resourceLogs: [
      {
        scopeLogs: [
          {
            logRecords: [
              {
                traceId: '0198c0de00007000800000000000000a',
                spanId: '00f067aa0ba902b7',
                timeUnixNano: '1790000000000000000',
                severityNumber: 9,
                attributes: plainAttributes({
                  'event.name': 'gen_ai.user.message',
                  'gen_ai.system': 'openai',
                }),
                body: { kvlistValue: { values: plainAttributes({ content: 'How warm is it?' }) } },
              },
              { eventName: 'app.started', timeUnixNano: '1790000000000000000' },
            ],
          },
        ],
      },
    ],
  }
  const answer = await post('/v1/logs', logs)
  expect(answer).toMatchObject({ partialSuccess: { rejectedLogRecords: '1' } })
  const events = receiver.requests.flatMap(({ records }) => records.events)
  expect(events).toMatchObject([
    { name: 'gen_ai.user.message', observation_id: '00f067aa0ba902b7', source: 'otlp' },
  ])
  expect(JSON.parse(textFrom(events[0]?.body ?? ''))).toEqual({ content: 'How warm is it?' })
  expect(pairsFrom(events[0]?.attributes ?? [])).toMatchObject({ 'gen_ai.system': 'openai' })
})

async function rowOf(given: ConventionSpan): Promise<Observation> {
  const spans = [plainSpanOf(given)]
  const scope = { name: given.scope ?? '' }
  const traces: PlainTraces = { resourceSpans: [{ scopeSpans: [{ scope, spans }] }] }
  expect(await post('/v1/traces', traces)).toEqual({})
  const [draft, ...more] = receiver.requests.flatMap(({ records }) => records.observations)
  if (draft === undefined || more.length > 0) throw new Error(`got ${more.length + 1} rows`)
  return storedFrom(draft)
}

async function post(path: string, body: PlainTraces | PlainLogs): Promise<unknown> {
  const headers = { 'X-API-Key': 'lt_writer', 'Content-Type': 'application/json' }
  const sent = { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(`${receiver.url}${path}`, sent)
  expect(answer.status).toBe(200)
  return answer.json()
}
