import { describe, expect, test } from 'vitest'
import { otlpMessage } from '../../../../../test/support/otlp-messages.ts'
import { encodeExportResponse, encodeStatus } from './answers.ts'

describe('an export response', () => {
  test('is empty when every item was accepted', () => {
    for (const signal of ['traces', 'logs'] as const) {
      expect(encodeExportResponse('protobuf', signal)).toHaveLength(0)
      expect(encodeExportResponse('json', signal).toString()).toBe('{}')
    }
  })

  test.each([
    ['traces', 'ExportTraceServiceResponse', 'rejectedSpans'],
    ['logs', 'ExportLogsServiceResponse', 'rejectedLogRecords'],
  ] as const)('tells what was not: %s', (signal, message, field) => {
    for (const rejected of [0, 3, 300, 2 ** 53 - 1]) {
      const partial = { rejected, error_message: 'item 2: trace_id is mïssing' }
      const errorMessage = partial.error_message
      const expected =
        rejected === 0 ? { errorMessage } : { [field]: String(rejected), errorMessage }
      expect(readBack(message, encodeExportResponse('protobuf', signal, partial))).toEqual({
        partialSuccess: expected,
      })
      expect(JSON.parse(encodeExportResponse('json', signal, partial).toString())).toEqual({
        partialSuccess: expected,
      })
    }
  })
})

describe('a status', () => {
  test('has its code and message', () => {
    const status = { code: 3, message: 'Span.name at byte 7: the varint is incomplete' }
    expect(readBack('RpcStatus', encodeStatus('protobuf', status))).toEqual(status)
    expect(JSON.parse(encodeStatus('json', status).toString())).toEqual(status)
  })

  test.each([
    [0, '0s', undefined],
    [1_500, '1.5s', { seconds: '1', nanos: 500_000_000 }],
    [60_000, '60s', { seconds: '60' }],
    [0.2, '0.001s', { nanos: 1_000_000 }],
  ])('has the retry delay: %d ms', (retry_delay_ms, retryDelay, duration) => {
    const status = { code: 14, message: 'the queue is full', retry_delay_ms }
    const typeUrl = 'type.googleapis.com/google.rpc.RetryInfo'
    const read = otlpMessage('RpcStatus').decode(encodeStatus('protobuf', status))
    const [detail] = (read as unknown as { details: { typeUrl: string; value: Buffer }[] }).details
    expect(detail?.typeUrl).toBe(typeUrl)
    expect(readBack('RetryInfo', detail?.value ?? Buffer.alloc(0))).toEqual(
      duration === undefined ? {} : { retryDelay: duration },
    )
    expect(JSON.parse(encodeStatus('json', status).toString()).details).toEqual([
      { '@type': typeUrl, retryDelay },
    ])
  })
})

function readBack(message: string, bytes: Uint8Array): unknown {
  const type = otlpMessage(message)
  return type.toObject(type.decode(bytes), { longs: String })
}
