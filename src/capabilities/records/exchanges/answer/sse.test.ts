import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSseParser, type SseEvent } from './sse.ts'

function eventsOf(...pieces: (string | Uint8Array)[]): SseEvent[] {
  const events: SseEvent[] = []
  const parser = createSseParser((event) => events.push(event))
  for (const piece of pieces) {
    parser.push(typeof piece === 'string' ? Buffer.from(piece) : piece)
  }
  parser.end()
  return events
}

const data = (text: string): SseEvent => ({ event: '', data: text })

describe('line ends and fields', () => {
  test.each([
    ['LF', 'data: a\n\ndata: b\n\n', [data('a'), data('b')]],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', [data('a'), data('b')]],
    ['CR', 'data: a\r\rdata: b\r\r', [data('a'), data('b')]],
    ['mixed', 'data: a\r\n\ndata: b\r\r\ndata: c\n\r', [data('a'), data('b'), data('c')]],
    ['no space', 'data:a\n\n', [data('a')]],
    ['only one space goes', 'data:  a\n\n', [data(' a')]],
    ['several data lines', 'data: a\ndata:\ndata: b\n\n', [data('a\n\nb')]],
    ['a data line without colon', 'data\n\n', [data('')]],
    ['comments', ': ping\n\n:\ndata: a\n: x\ndata: b\n\n', [data('a\nb')]],
    ['unknown fields', 'id: 7\nretry: 5\nfoo\nbar: x\ndata: a\n\n', [data('a')]],
    ['a named event', 'event: error\ndata: {}\n\n', [{ event: 'error', data: '{}' }]],
    ['a name does not outlive its event', 'event: x\n\ndata: a\n\n', [data('a')]],
    ['blank lines alone', '\n\n\r\n\n', []],
    ['colons in the value', 'data: {"a":"b:c"}\n\n', [data('{"a":"b:c"}')]],
    ['a byte order mark', '\uFEFFdata: a\n\n', [data('a')]],
    ['nothing', '', []],
  ])('%s', (_name, stream, expected) => {
    expect(eventsOf(stream)).toEqual(expected)
  })
})

describe('a stream that is cut', () => {
  test.each([
    ['before the blank line', 'data: a\n\ndata: b\n', [data('a'), data('b')]],
    ['inside a line', 'data: a\n\ndata: {"b', [data('a'), data('{"b')]],
    ['after the name of an event', 'event: error', []],
    ['between CR and LF', 'data: a\r', [data('a')]],
  ])('%s', (_name, stream, expected) => {
    expect(eventsOf(stream)).toEqual(expected)
  })
})

const line = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `data: ${text}`),
  fc.constantFrom('data:x', 'data', ': ping', 'event: error', 'id: 1', '', '', '', '\uFEFF'),
)
const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
const stream = fc
  .array(fc.tuple(line, lineEnd), { maxLength: 20 })
  .map((lines) => Buffer.from(lines.flat().join('')))

test('any split of the bytes gives the same events', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(200), { maxLength: 8 }), (bytes, marks) => {
      const cuts = [...marks.map((mark) => mark % (bytes.length + 1)), bytes.length]
      const pieces: Uint8Array[] = []
      let from = 0
      for (const to of cuts.toSorted((a, b) => a - b)) {
        pieces.push(bytes.subarray(from, to))
        from = to
      }
      expect(eventsOf(...pieces)).toEqual(eventsOf(bytes))
    }),
    { numRuns: 500 },
  )
})

test('single bytes give the same events, inside a character too', () => {
  const bytes = Buffer.from('event: x\r\ndata: é中😀\r\n\r\ndata: {"a":"ü"}\r\r')
  expect(eventsOf(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(eventsOf(bytes))
  expect(eventsOf(bytes)).toEqual([{ event: 'x', data: 'é中😀' }, data('{"a":"ü"}')])
})
