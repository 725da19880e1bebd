import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzRuns } from '../../../../../test/support/suite/budget.ts'
import { removeLastNullUsage, removeNullUsage, UsageChunkFilter } from './usage-chunk-filter.ts'

const usage = '{"id":"c","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}'
const asked = '{"id":"c","choices":[{"index":0,"delta":{"content":"héllo ✓ 😀"}}],"usage":null}'
const delta = '{"id":"c","choices":[{"index":0,"delta":{"content":"héllo ✓ 😀"}}]}'

function through(chunks: readonly Buffer[]): string {
  const filter = new UsageChunkFilter()
  const passed = chunks.map((chunk) => filter.push(chunk) ?? Buffer.alloc(0))
  return Buffer.concat([...passed, filter.end() ?? Buffer.alloc(0)]).toString()
}

function splitAt(text: string, at: number): Buffer[] {
  const bytes = Buffer.from(text)
  return [bytes.subarray(0, at), bytes.subarray(at)]
}

const streams: Record<string, { kept: string[]; removed: string }> = {
  'line feeds': {
    kept: [`data: ${delta}\n\n`, 'data: [DONE]\n\n'],
    removed: `data: ${usage}\n\n`,
  },
  'carriage returns and line feeds, no space': {
    kept: [`data:${delta}\r\n\r\n`, 'data:[DONE]\r\n\r\n'],
    removed: `data:${usage}\r\n\r\n`,
  },
  'bare carriage returns': {
    kept: [`data: ${delta}\r\r`, 'data: [DONE]\r\r'],
    removed: `data: ${usage}\r\r`,
  },
  'several data lines, comments and an event name': {
    kept: [`: ping\n\nevent: chunk\ndata: ${delta}\n: more\n\n`, '\n: bye\n\ndata: [DONE]\n\n'],
    removed:
      ': about usage\nid: 4\ndata: {"id":"c","choices": [ ],\ndata: "usage" :\ndata: {}}\n\n',
  },
  'no blank line at the end': { kept: [`data: ${delta}\n\n`, ''], removed: `data: ${usage}\n` },
}

describe.each(Object.entries(streams))('%s', (_, { kept, removed }) => {
  const stream = `${kept[0]}${removed}${kept[1]}`.replaceAll(delta, asked)

  test('the usage chunk is removed with the bytes split anywhere', () => {
    for (let at = 0; at <= Buffer.byteLength(stream); at += 1) {
      expect(through(splitAt(stream, at)), `split at ${at}`).toBe(kept.join(''))
    }
  })

  test('and in single bytes', () => {
    const bytes = [...Buffer.from(stream)].map((byte) => Buffer.from([byte]))
    expect(through(bytes)).toBe(kept.join(''))
  })
})

test.each([
  ['usage beside choices', '{"choices":[{"index":0}],"usage":{"prompt_tokens":1}}'],
  ['no choices, no usage', '{"choices":[],"prompt_filter_results":[]}'],
  ['usage without choices', '{"usage":{"prompt_tokens":1}}'],
  ['usage only as content', '{"choices":[{"delta":{"content":"\\"usage\\":{}"}}]}'],
  ['a nested one', '{"x":{"choices":[],"usage":{}}}'],
  ['no JSON', '{"choices":[],"usage":{}'],
  ['an error', '{"error":{"message":"no"}}'],
])('keeps %s', (_, data) => {
  const stream = `data: ${data}\n\ndata: [DONE]\n\n`
  expect(through([Buffer.from(stream)])).toBe(stream)
})

test('any bytes in any pieces pass unchanged except for usage', () => {
  const event = fc.oneof(
    fc.constant(`data: ${asked}\n\n`),
    fc.constant(`data: ${usage}\n\n`),
    fc.constant(`data: ${usage}\r\n\r\n`),
    fc
      .string({ unit: 'binary', maxLength: 20 })
      .map((text) => `: ${text.replace(/[\r\n]/g, '')}\n\n`),
    fc.constantFrom('\n', ': c\n\n', 'event: error\ndata: {"usage":1}\n\n', '\r\n'),
  )
  fc.assert(
    fc.property(fc.array(event), fc.array(fc.nat()), (events, cuts) => {
      const bytes = Buffer.from(events.join(''))
      const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
      const pieces = [0, ...places].map((at, i) => bytes.subarray(at, places[i] ?? bytes.length))
      const others = events.filter((text) => !text.startsWith(`data: ${usage}`))
      expect(through(pieces)).toBe(others.join('').replaceAll(asked, delta))
    }),
    { numRuns: fuzzRuns(2000) },
  )
})

test('a chunk of whole events passes uncopied', () => {
  const chunk = Buffer.from(`data: ${delta}\n\ndata: ${delta}\n\n`)
  expect(new UsageChunkFilter().push(chunk)).toBe(chunk)
})

test('an event too long to be held passes at once, and later events are filtered', () => {
  const long = `data: {"choices":[{"delta":{"content":"${'x'.repeat(200_000)}"}}]}\n\n`
  const filter = new UsageChunkFilter()
  const bytes = Buffer.from(long)
  const passed = [filter.push(bytes.subarray(0, 100_000)), filter.push(bytes.subarray(100_000))]
  expect(Buffer.concat(passed.map((part) => part ?? Buffer.alloc(0))).toString()).toBe(long)
  const after = filter.push(Buffer.from(`data: ${usage}\n\ndata: [DONE]\n\n`))
  expect(after?.toString()).toBe('data: [DONE]\n\n')
})

function without(text: string): string {
  return removeNullUsage(Buffer.from(text)).toString()
}

test.each([
  ['at the end', 'data: {"id":"c","usage":null}\n\n', 'data: {"id":"c"}\n\n'],
  ['in the middle', 'data: {"a":[1],"usage":null,"x":"y"}\n\n', 'data: {"a":[1],"x":"y"}\n\n'],
  ['at the start', 'data: {"usage":null,"x":{}}\r\n\r\n', 'data: {"x":{}}\r\n\r\n'],
  ['alone', 'data:{"usage":null}\n\n', 'data:{}\n\n'],
  ['with spaces', 'data: {"id": "c" , "usage" : null }\n\n', 'data: {"id": "c"  }\n\n'],
  [
    'before a string with braces',
    '{"id":1,"usage":null,"o":"}\\"}{"}\n',
    '{"id":1,"o":"}\\"}{"}\n',
  ],
  ['without an end of the line', 'data: {"id":"c","usage":null}', 'data: {"id":"c"}'],
  ['in two events', '{"usage":null}\n\n{"a":1,"usage":null}\n\n', '{}\n\n{"a":1}\n\n'],
])('takes it out %s', (_, given, left) => {
  expect(without(given)).toBe(left)
})

test.each([
  ['an object', 'data: {"id":"c","usage":{"prompt_tokens":1}}\n\n'],
  ['one of an inner object', 'data: {"x_groq":{"id":"r","usage":null}}\n\n'],
  ['one in a list', 'data: {"choices":[{"index":0,"usage":null}]}\n\n'],
  ['content', 'data: {"content":"\\"usage\\":null"}\n\n'],
  ['a value of that name', 'data: {"kind":"usage","is":null}\n\n'],
  ['an event that is cut', 'data: {"choices":[],"usage":null,"x":{'],
  ['an event of several lines', 'data: {"a":1,"usage":null,\ndata: "x":1}\n\n'],
  ['one that begins a line', 'data: {"a":1,\ndata: "usage":null}\n\n'],
])('leaves %s', (_, given) => {
  const bytes = Buffer.from(given)
  expect(removeNullUsage(bytes)).toBe(bytes)
})

test('removes the outermost member of any JSON, and nothing else', () => {
  const value = fc.jsonValue({ maxDepth: 3 })
  const named = fc.dictionary(fc.constantFrom('usage', 'a', 'b"', 'c\\'), value, { maxKeys: 4 })
  fc.assert(
    fc.property(named, fc.array(named), fc.nat(4), (members, nested, place) => {
      const { usage: _, ...others } = members
      const inner: [string, unknown][] = Object.entries({ ...others, nested })
      const asked = Object.fromEntries(inner.toSpliced(place, 0, ['usage', null]))
      expect(without(`data: ${JSON.stringify(asked)}\n\n`)).toBe(
        `data: ${JSON.stringify(Object.fromEntries(inner))}\n\n`,
      )
    }),
    { numRuns: fuzzRuns(1000) },
  )
})

test.each([
  ['data: {"id":"c","usage":null}\n\n', 'data: {"id":"c"}\n\n'],
  ['data: {"a":1}\n\ndata: {"id":"c","usage":null}\n\n', undefined],
  ['data: {"a":1,\rdata: "usage":null}\n\n', undefined],
  ['data: {"id":"c","usage":null}\n', undefined],
  ['data: {"id":"c","usage":null}\r\n\r\n', undefined],
  ['}\n\n', undefined],
  ['', undefined],
])('the most frequent event, %j, is shortened to %j', (given, left) => {
  expect(removeLastNullUsage(Buffer.from(given))?.toString()).toBe(left)
})
