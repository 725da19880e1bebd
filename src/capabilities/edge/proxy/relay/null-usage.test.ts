import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withoutLastNullUsage, withoutNullUsage } from './null-usage.ts'

function without(text: string): string {
  return withoutNullUsage(Buffer.from(text)).toString()
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
  expect(withoutNullUsage(bytes)).toBe(bytes)
})

test('takes out the outermost member of any JSON, and nothing else', () => {
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
    { numRuns: 1000 },
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
])('the usual event, %j, is shortened to %j', (given, left) => {
  expect(withoutLastNullUsage(Buffer.from(given))?.toString()).toBe(left)
})
