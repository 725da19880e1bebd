import { describe, expect, test } from 'vitest'
import type { EventDraft } from '../../src/model/ingest-records.ts'
import { metricsProtobuf, otlpJson, type PlainMetrics } from '../support/otlp-messages.ts'
import { otlpProject, type TestReceiver, testReceiver } from '../support/otlp-receiver.ts'
import { runPythonText } from '../support/python.ts'

const key = { 'X-API-Key': 'lt_writer' }

function post({ url }: TestReceiver, body: Buffer, type: string, path = '/v1/metrics') {
  const headers = { ...key, 'Content-Type': type }
  return fetch(`${url}${path}`, { method: 'POST', body: new Uint8Array(body), headers })
}

function text(name: string, stringValue: string) {
  return { key: name, value: { stringValue } }
}

/**
 * What Claude Code exports every minute (https://code.claude.com/docs/en/monitoring-usage); written
 * after that page, not captured.
 */
const ofClaudeCode: PlainMetrics = {
  resourceMetrics: [
    {
      resource: { attributes: [text('service.name', 'claude-code')] },
      scopeMetrics: [
        {
          scope: { name: 'com.anthropic.claude_code' },
          metrics: [
            {
              name: 'claude_code.cost.usage',
              unit: 'USD',
              sum: {
                aggregationTemporality: 1,
                dataPoints: [
                  {
                    startTimeUnixNano: '1790000000000000000',
                    timeUnixNano: '1790000060000000000',
                    attributes: [
                      text('session.id', 's-1'),
                      text('model', 'claude-sonnet-4-5'),
                      text('user.id', 'u-1'),
                    ],
                    asDouble: 0.25,
                  },
                ],
              },
            },
            {
              name: 'claude_code.lines_of_code.count',
              sum: {
                aggregationTemporality: 1,
                dataPoints: [
                  {
                    timeUnixNano: '1790000060000000000',
                    attributes: [text('session.id', 's-1'), text('type', 'added')],
                    asInt: '12',
                  },
                ],
              },
            },
          ],
        },
      ],
    },
  ],
}

function eventsOf({ requests }: TestReceiver): EventDraft[] {
  return requests.flatMap(({ records }) => records.events)
}

describe('metrics of a coding agent are events of its session', () => {
  test.each([
    ['JSON', otlpJson(ofClaudeCode), 'application/json', '/v1/metrics'],
    ['protobuf', metricsProtobuf(ofClaudeCode), 'application/x-protobuf', '/v1/metrics'],
    ['JSON', otlpJson(ofClaudeCode), 'application/json', '/api/public/otel/v1/metrics'],
  ])('as %s', async (_, body, type, path) => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, body, type, path)
    expect(answer.status).toBe(200)
    const [cost, lines] = eventsOf(receiver)
    expect(cost).toMatchObject({
      project_id: otlpProject,
      name: 'claude_code.cost.usage',
      time: 1790000060000000000n,
    })
    expect(pairsOf(cost)).toEqual({
      'metric.value': '0.25',
      'metric.unit': 'USD',
      'metric.temporality': 'delta',
      'metric.start_time_ns': '1790000000000000000',
      'session.id': 's-1',
      model: 'claude-sonnet-4-5',
      'user.id': 'u-1',
    })
    expect(pairsOf(lines)).toMatchObject({ 'metric.value': '12', type: 'added' })
    expect(lines?.trace_id).toBe(cost?.trace_id)
    expect(receiver.requests[0]).toMatchObject({ items: 2, rejected: {} })
    const counted = 'looptrace_otlp_items_total{signal="metrics",result="accepted"}'
    expect(await receiver.counted(counted)).toBe(2)
  })

  test('the same points in both encodings, and twice, have the same ids', async () => {
    await using receiver = await testReceiver()
    await post(receiver, otlpJson(ofClaudeCode), 'application/json')
    await post(receiver, metricsProtobuf(ofClaudeCode), 'application/x-protobuf')
    const ids = eventsOf(receiver).map(({ trace_id, event_id }) => `${trace_id} ${event_id}`)
    expect([ids.length, new Set(ids).size]).toEqual([4, 2])
  })

  test.each(['codex.turn.e2e_duration_ms', 'gemini_cli.token.usage'])('%s too', async (name) => {
    await using receiver = await testReceiver()
    const histogram = {
      dataPoints: [{ timeUnixNano: '1790000060000000000', count: '3', sum: 7.5 }],
    }
    const resourceMetrics = [{ scopeMetrics: [{ metrics: [{ name, histogram }] }] }]
    await post(receiver, otlpJson({ resourceMetrics }), 'application/json')
    expect(pairsOf(eventsOf(receiver)[0])).toEqual({ 'metric.value': '7.5', 'metric.count': '3' })
  })
})

test('a real SDK that exports metrics beside traces gets a partial success', async () => {
  await using receiver = await testReceiver()
  const program = `
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, PeriodicExportingMetricReader

class Exporter(OTLPMetricExporter):
    def export(self, *args, **named):
        result = super().export(*args, **named)
        print(result)
        return result

provider = MeterProvider(metric_readers=[PeriodicExportingMetricReader(Exporter())])
meter = provider.get_meter("shop")
meter.create_counter("shop.orders").add(1, {"kind": "a"})
meter.create_histogram("http.client.duration").record(12.5)
provider.shutdown()
`
  const output = await runPythonText(program, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'X-API-Key=lt_writer',
  })
  expect(output).toContain('MetricExportResult.SUCCESS')
  expect(receiver.requests[0]).toMatchObject({ items: 2, rejected: { unknown_metric: 2 } })
  expect(eventsOf(receiver)).toEqual([])
})

test('the message of a partial success says which metrics are taken', async () => {
  await using receiver = await testReceiver()
  const metrics = [{ name: 'shop.orders', sum: { dataPoints: [{ asInt: '1' }] } }]
  const body = otlpJson({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] })
  const answer = await post(receiver, body, 'application/json')
  expect([answer.status, await answer.json()]).toEqual([
    200,
    {
      partialSuccess: {
        rejectedDataPoints: '1',
        errorMessage: expect.stringContaining('claude_code.*, codex.*, gemini_cli.*'),
      },
    },
  ])
})

function pairsOf(event: EventDraft | undefined): Record<string, string> {
  const { attributes = [] } = event ?? {}
  const pairs: Record<string, string> = {}
  for (let at = 0; at < attributes.length; at += 2) {
    pairs[String(attributes[at])] = String(attributes[at + 1])
  }
  return pairs
}
