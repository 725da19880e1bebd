import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyEdit, findUsageEdit } from './stream-options.ts'

function edited(text: string): string {
  const body = Buffer.from(text)
  const edit = findUsageEdit(body)
  return edit ? applyEdit(body, edit).toString() : text
}

const added = { include_usage: true }

describe('adds include_usage', () => {
  test.each([
    ['{"stream":true}', '{"stream_options":{"include_usage":true},"stream":true}'],
    [' {\n"stream" : true }', ' {"stream_options":{"include_usage":true},\n"stream" : true }'],
    ['{"stream":true,"stream_options":null}', { stream: true, stream_options: added }],
    ['{"stream":true,"stream_options":{}}', { stream: true, stream_options: added }],
    [
      '{"stream":true,"stream_options":{ "include_obfuscation":false}}',
      { stream: true, stream_options: { ...added, include_obfuscation: false } },
    ],
    ['{"stream":false,"stream":true}', { stream: true, stream_options: added }],
    [
      '{"messages":[{"content":"\\\\\\"stream\\": \\"}]"}],"stream":true}',
      { messages: [{ content: '\\"stream": "}]' }], stream: true, stream_options: added },
    ],
  ])('%s', (text, expected) => {
    if (typeof expected === 'string') expect(edited(text)).toBe(expected)
    else expect(JSON.parse(edited(text))).toEqual(expected)
  })
})

describe('leaves the body alone', () => {
  test.each([
    ['no stream', '{"model":"m"}'],
    ['stream false', '{"stream":false}'],
    ['stream as text', '{"stream":"true"}'],
    ['stream deeper down', '{"metadata":{"stream":true}}'],
    ['stream inside a string', '{"content":"\\"stream\\":true"}'],
    ['the last stream is false', '{"stream":true,"stream":false}'],
    ['an explicit true', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['an explicit false', '{"stream":true,"stream_options":{"include_usage":false}}'],
    [
      'an escaped explicit choice',
      '{"stream":true,"stream_options":{"include\\u005fusage":false}}',
    ],
    ['options of another type', '{"stream":true,"stream_options":"x"}'],
    ['an array', '[{"stream":true}]'],
    ['no JSON', 'stream "stream": true'],
    ['cut JSON', '{"stream":true'],
    ['an unclosed string', '{"a":"\\'],
    ['nothing', ''],
    ['a byte order mark', '\ufeff{"stream":true}'],
  ])('%s', (_, text) => {
    expect(findUsageEdit(Buffer.from(text))).toBeUndefined()
  })
})

const key = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('stream', 'stream_options', 'include_usage') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
)
const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('true', 'false', 'null', '1', '-0.5e3', '"true"') },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 120 }).map(jsonText) },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }).map((v) => `[${v}]`) },
    { weight: 2, arbitrary: tie('object') },
  ),
  object: membersText(tie('value')),
}))

function jsonText(text: string): string {
  return JSON.stringify(text)
}

function membersText(of: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const space = fc.constantFrom('', ' ', '\n\t', '\r\n')
  const member = fc
    .tuple(space, key, space, space, of, space)
    .map(([a, name, b, c, text, d]) => `${a}${JSON.stringify(name)}${b}:${c}${text}${d}`)
  return fc.array(member, { maxLength: 5 }).map((members) => `{${members.join(',')}}`)
}

/** The expected edit, computed with JSON.parse. */
function expectedOf(parsed: Record<string, unknown>): Record<string, unknown> {
  if (parsed['stream'] !== true) return parsed
  const options = parsed['stream_options']
  if (options === undefined || options === null) return { ...parsed, stream_options: added }
  if (typeof options !== 'object' || Array.isArray(options)) return parsed
  if (Object.hasOwn(options, 'include_usage')) return parsed
  return { ...parsed, stream_options: { ...added, ...options } }
}

test('agrees with JSON.parse on any object', () => {
  fc.assert(
    fc.property(membersText(value), (text) => {
      expect(JSON.parse(edited(text))).toEqual(expectedOf(JSON.parse(text)))
    }),
    { numRuns: 3000 },
  )
})

test('never makes valid JSON of invalid JSON, and never throws', () => {
  fc.assert(
    fc.property(membersText(value), fc.nat(), fc.nat({ max: 3 }), (text, at, length) => {
      const from = at % (text.length + 1)
      const damaged = text.slice(0, from) + text.slice(from + length)
      expect(parses(edited(damaged))).toBe(parses(damaged))
    }),
    { numRuns: 3000 },
  )
})

test('a deeply nested body uses no stack', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  const body = Buffer.from(`{"a":${deep},"stream":true}`)
  expect(findUsageEdit(body)?.from).toBe(1)
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
