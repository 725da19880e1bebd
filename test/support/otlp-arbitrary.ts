import fc from 'fast-check'
import type { PlainAttribute, PlainSpan, PlainTraces, PlainValue } from './otlp-messages.ts'

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String)
const int64 = fc
  .oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: -1_000n, max: 1_000n }),
    fc.constantFrom(2n ** 53n, 2n ** 53n - 1n, -(2n ** 53n), 1n - 2n ** 53n, 2n ** 32n),
  )
  .map(String)
const uint32 = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff_ffff }))
/** Unicode text of every length around 64 bytes, where long text begins. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ minLength: 60, maxLength: 70 }),
  fc.constantFrom('', 'gpt-5-mini', 'chat', 'x'.repeat(63), 'x'.repeat(64), 'é'.repeat(32)),
)
/** A number that JSON and protobuf can both carry; -0 is 0 in JSON. */
const double = fc
  .double({ noDefaultInfinity: true, noNaN: true })
  .map((value) => (Object.is(value, -0) ? 0 : value))

const { value } = fc.letrec<{ value: PlainValue; attribute: PlainAttribute }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    text.map((stringValue) => ({ stringValue })),
    int64.map((intValue) => ({ intValue })),
    double.map((doubleValue) => ({ doubleValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => ({
      bytesValue: Buffer.from(bytes).toString('base64'),
    })),
    fc.constant({}),
    fc.array(tie('value'), { maxLength: 4 }).map((values) => ({ arrayValue: { values } })),
    fc.array(tie('attribute'), { maxLength: 4 }).map((values) => ({ kvlistValue: { values } })),
  ),
  attribute: fc.record({ key: text, value: tie('value') }, { requiredKeys: ['key'] }),
}))

const attributes = fc.array(fc.record({ key: text, value }, { requiredKeys: ['key'] }), {
  maxLength: 6,
})
const traceId = hexId(32)
const spanId = hexId(16)

const span: fc.Arbitrary<PlainSpan> = fc.record(
  {
    traceId,
    spanId,
    name: text,
    startTimeUnixNano: uint64,
    endTimeUnixNano: uint64,
    parentSpanId: spanId,
    traceState: text,
    kind: fc.integer({ min: 0, max: 5 }),
    attributes,
    droppedAttributesCount: uint32,
    events: fc.array(
      fc.record(
        { timeUnixNano: uint64, name: text, attributes, droppedAttributesCount: uint32 },
        { requiredKeys: ['timeUnixNano', 'name'] },
      ),
      { maxLength: 3 },
    ),
    droppedEventsCount: uint32,
    links: fc.array(
      fc.record(
        {
          traceId,
          spanId,
          traceState: text,
          attributes,
          droppedAttributesCount: uint32,
          flags: uint32,
        },
        { requiredKeys: ['traceId', 'spanId'] },
      ),
      { maxLength: 3 },
    ),
    droppedLinksCount: uint32,
    status: fc.record({ message: text, code: fc.integer({ min: 0, max: 2 }) }),
    flags: uint32,
  },
  { requiredKeys: ['traceId', 'spanId', 'name', 'startTimeUnixNano', 'endTimeUnixNano'] },
)

const scopeSpans = fc.record(
  {
    spans: fc.array(span, { maxLength: 4 }),
    scope: fc.record({ name: text, version: text, attributes }),
    schemaUrl: text,
  },
  { requiredKeys: ['spans'] },
)

/** Any valid ExportTraceServiceRequest. */
export const anyTraces: fc.Arbitrary<PlainTraces> = fc.record({
  resourceSpans: fc.array(
    fc.record(
      {
        scopeSpans: fc.array(scopeSpans, { maxLength: 3 }),
        resource: fc.record({ attributes, droppedAttributesCount: uint32 }),
        schemaUrl: text,
      },
      { requiredKeys: ['scopeSpans'] },
    ),
    { maxLength: 3 },
  ),
})

function hexId(digits: number): fc.Arbitrary<string> {
  return fc
    .uint8Array({ minLength: digits / 2, maxLength: digits / 2 })
    .map((bytes) => Buffer.from(bytes).toString('hex'))
    .filter((id) => !/^0+$/.test(id))
}
