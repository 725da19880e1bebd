import { expect, test } from 'vitest'
import {
  mapAttributes,
  mappedRequest,
  mapSpans,
  onlyOne,
  otlpEvent,
  otlpRequest,
  otlpSpan,
  testMapper,
  traceOne,
} from '../../../../../test/support/otlp-spans.ts'
import { emptyLogRecord } from '../decode/items.ts'

const logged = { trace_id: traceOne, event_name: 'gen_ai.choice' }
const beyond = 2n ** 63n
const arrival = BigInt(mappedRequest.received_at_ms) * 1_000_000n
const mapped = mapSpans([
  otlpSpan(
    {},
    {
      start_time: beyond,
      end_time: beyond + 1n,
      events: [otlpEvent('a', {}, beyond), otlpEvent('b', {}, 0n), otlpEvent('c', {}, 7n)],
    },
  ),
])

test('a span gets its arrival instead, and reports it', () => {
  const [span] = mapped.observations
  expect(span).toMatchObject({ start_time: arrival, end_time: arrival })
  expect(span?.mapped_from).toContain('|default:start_time,end_time')
})

test('an event gets the start of its span, and keeps the sent time as an attribute', () => {
  const [far, none, near] = mapped.events
  const start = mapped.observations[0]?.start_time
  expect(far).toMatchObject({ time: start, attributes: ['mapping.time', `${beyond}`] })
  expect(none).toMatchObject({ time: start, attributes: [] })
  expect(near).toMatchObject({ time: 7n, attributes: [] })
})

test('a log record gets its observed time, else its arrival', () => {
  const log = (given: { time: bigint; observed_time: bigint }) => {
    const request = otlpRequest([{ ...emptyLogRecord(), ...logged, ...given }])
    return onlyOne(testMapper().logs(request, mappedRequest).records.events)
  }
  expect(log({ time: beyond, observed_time: 5n })).toMatchObject({
    time: 5n,
    attributes: ['mapping.time', `${beyond}`],
  })
  expect(log({ time: 0n, observed_time: beyond })).toMatchObject({
    time: arrival,
    attributes: [],
  })
})

test('a first chunk at such a time is ignored', () => {
  const events = [otlpEvent('gen_ai.content.completion.chunk', {}, beyond)]
  expect(mapAttributes({}, { span: { events } }).time_to_first_token_ms).toBeNull()
})
