import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSseParser, type SseEvent } from './sse.ts'
import { readStreamedAnswer } from './streamed-answer.ts'

const line = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const done = 'data: [DONE]\n\n'
const read = (...parts: string[]) =>
  readStreamedAnswer(Buffer.from(parts.join('')), 'chat.completions')
const delta = (value: object, more: object = {}) =>
  line({ model: 'm-1', choices: [{ index: 0, delta: value, finish_reason: null, ...more }] })
const message = (...deltas: object[]) =>
  read(...deltas.map((value) => delta(value))).choices[0]?.message
const call = (fields: object) => ({ tool_calls: [fields] })

describe('text', () => {
  test('is joined, and the end of the stream is known', () => {
    const answer = read(
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Grüß' }),
      delta({ content: ' dich' }),
      delta({}, { finish_reason: 'stop' }),
      line({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }),
      done,
    )
    expect(answer).toEqual({
      model: 'm-1',
      id: '',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'Grüß dich' },
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
      error: undefined,
      done: true,
      dropped: 0,
    })
  })

  test('several choices interleave', () => {
    const piece = (index: number, content: string) =>
      line({ choices: [{ index, delta: { content } }] })
    const { choices } = read(
      piece(1, 'b'),
      piece(0, 'a'),
      piece(2, 'c'),
      piece(1, 'B'),
      piece(0, 'A'),
    )
    expect(choices.map(({ index, message: m }) => [index, m])).toEqual([
      [0, { role: 'assistant', content: 'aA' }],
      [1, { role: 'assistant', content: 'bB' }],
      [2, { role: 'assistant', content: 'c' }],
    ])
  })

  test('text before parts is kept, and text after parts becomes a part', () => {
    const part = { type: 'thinking', thinking: 'hm' }
    expect(message({ content: 'a' }, { content: [part] }, { content: 'b' })).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'a' }, part, { type: 'text', text: 'b' }],
    })
  })

  test('of unknown fields, lists are appended and other values replaced', () => {
    expect(
      message(
        { reasoning_content: 'be', refusal: 'n', channel: 'a', details: [1] },
        { reasoning_content: 'cause', refusal: 'o', channel: 'b', details: [2, 3] },
        { audio: { id: 'x', transcript: 'ha', data: 'QQ' }, extra_content: { v: 1 } },
        { audio: { transcript: 'llo', data: 'Qg', expires_at: 7 }, extra_content: { v: 2 } },
        { channel: null },
      ),
    ).toEqual({
      role: 'assistant',
      reasoning_content: 'because',
      refusal: 'no',
      channel: 'b',
      details: [1, 2, 3],
      audio: { id: 'x', transcript: 'hallo', data: 'QQQg', expires_at: 7 },
      extra_content: { v: 2 },
    })
  })

  test('the last chunk of some servers is a whole message', () => {
    const whole = line({ choices: [{ message: { role: 'assistant', content: 'all' } }] })
    expect(read(whole).choices[0]?.message).toEqual({ role: 'assistant', content: 'all' })
  })
})

describe('tool calls', () => {
  const weather = (...pieces: object[]) =>
    (message(...pieces.map(call)) as { tool_calls: unknown[] }).tool_calls
  const whole = (id: string, name: string, args: string) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  })

  test.each([
    [
      'id and name come once',
      [
        { index: 0, ...whole('c1', 'weather', '') },
        { index: 0, function: { arguments: '{"a"' } },
        { index: 0, function: { arguments: ':1}' } },
      ],
      [whole('c1', 'weather', '{"a":1}')],
    ],
    [
      'id and name come every time',
      [
        { index: 0, ...whole('c1', 'weather', '{"a"') },
        { index: 0, ...whole('c1', 'weather', ':1}') },
      ],
      [whole('c1', 'weather', '{"a":1}')],
    ],
    [
      'a fresh id with every piece, the name once',
      [
        { index: 0, ...whole('c1', 'weather', '{"a"') },
        { index: 0, id: 'c2', function: { arguments: ':1}' } },
      ],
      [whole('c1', 'weather', '{"a":1}')],
    ],
    [
      'a name in pieces',
      [
        { index: 0, ...whole('c1', 'wea', '') },
        { index: 0, function: { name: 'ther', arguments: '{}' } },
      ],
      [whole('c1', 'weather', '{}')],
    ],
    [
      'no index, distinguished by id',
      [whole('c1', 'a', '{'), whole('c2', 'b', '{}'), { id: 'c1', function: { arguments: '}' } }],
      [whole('c1', 'a', '{}'), whole('c2', 'b', '{}')],
    ],
    [
      'no index and no id: pieces go to the latest, a whole one is followed by another',
      [
        { function: { name: 'a', arguments: '{"x":' } },
        { function: { arguments: '1}' } },
        { function: { name: 'a', arguments: '{"x":2}' } },
      ],
      [
        { function: { name: 'a', arguments: '{"x":1}' } },
        { function: { name: 'a', arguments: '{"x":2}' } },
      ],
    ],
    [
      'whole calls that all say index 0',
      [
        { index: 0, ...whole('c1', 'a', '{}') },
        { index: 0, ...whole('c2', 'b', '{}') },
      ],
      [whole('c1', 'a', '{}'), whole('c2', 'b', '{}')],
    ],
    [
      'a later index first',
      [
        { index: 1, ...whole('c2', 'b', '{}') },
        { index: 0, ...whole('c1', 'a', '{}') },
      ],
      [whole('c1', 'a', '{}'), whole('c2', 'b', '{}')],
    ],
    [
      'an absurd index is a name and no size',
      [
        { index: 999_999_999, ...whole('c2', 'b', '{') },
        { index: 0, ...whole('c1', 'a', '{}') },
        { index: 999_999_999, function: { arguments: '}' } },
      ],
      [whole('c1', 'a', '{}'), whole('c2', 'b', '{}')],
    ],
    [
      'arguments as an object',
      [{ index: 0, id: 'c1', function: { name: 'a', arguments: { x: 1 } } }],
      [{ id: 'c1', function: { name: 'a', arguments: '{"x":1}' } }],
    ],
    [
      'a tool with free text',
      [
        { index: 0, id: 'c1', type: 'custom', custom: { name: 'sh', input: 'l' } },
        { index: 0, custom: { input: 's' } },
      ],
      [{ id: 'c1', type: 'custom', custom: { name: 'sh', input: 'ls' } }],
    ],
    [
      'fields beside',
      [{ index: 0, ...whole('c1', 'a', '{}'), extra_content: { google: { sig: 'x' } } }],
      [{ ...whole('c1', 'a', '{}'), extra_content: { google: { sig: 'x' } } }],
    ],
  ])('%s', (_name, pieces, expected) => {
    expect(weather(...pieces)).toEqual(expected)
  })

  test('whole calls in one chunk with one index and no id are separate calls', () => {
    const named = (name: string) => ({ index: 0, function: { name, arguments: '{}' } })
    const { tool_calls } = message({ tool_calls: [named('a'), named('a')] }) as {
      tool_calls: unknown[]
    }
    expect(tool_calls).toHaveLength(2)
  })

  test('the old function_call is assembled', () => {
    expect(
      message(
        { function_call: { name: 'weather', arguments: '' } },
        { function_call: { arguments: '{}' } },
      ),
    ).toEqual({ role: 'assistant', function_call: { name: 'weather', arguments: '{}' } })
  })

  test('more than 256 calls are counted and left out', () => {
    const pieces = Array.from({ length: 300 }, (_, index) =>
      delta(call({ index, ...whole(`c${index}`, 'a', '{}') })),
    )
    const answer = read(...pieces)
    expect(answer.dropped).toBe(44)
    expect(answer.choices[0]?.message).toHaveProperty('tool_calls.length', 256)
  })
})

describe('what goes wrong', () => {
  test('an error event (Groq)', () => {
    const answer = read(
      delta({ content: 'a' }),
      'event: error\n',
      line({ error: { message: 'no' } }),
    )
    expect(answer).toMatchObject({ error: { error: { message: 'no' } }, done: false })
    expect(answer.choices[0]?.message).toEqual({ role: 'assistant', content: 'a' })
  })

  test('an error event that is not JSON', () => {
    expect(read('event: error\ndata: broken\n\n')).toMatchObject({ error: 'broken', dropped: 1 })
  })

  test('an error in a chunk (OpenRouter)', () => {
    const chunk = { error: { code: 502, message: 'gone' }, choices: [{ delta: { content: '' } }] }
    expect(read(delta({ content: 'a' }), line(chunk), done)).toMatchObject({ error: chunk })
  })

  test('a cut: what came is kept, half an event is counted', () => {
    const answer = read(delta({ content: 'a' }), 'data: {"choices":[{"del')
    expect(answer).toMatchObject({ done: false, dropped: 1 })
    expect(answer.choices[0]?.message).toEqual({ role: 'assistant', content: 'a' })
  })

  test('keys that would reach a prototype are ignored', () => {
    const hostile = '{"__proto__":{"polluted":1},"constructor":{"a":1},"content":"a"}'
    const piece = `data: {"choices":[{"index":0,"delta":${hostile}}],"usage":${hostile}}\n\n`
    const calls = `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"__proto__":{"polluted":1},"function":${hostile}}]}}]}\n\n`
    const answer = read(piece, piece, calls)
    expect(Object.keys(answer.choices[0]?.message ?? {})).toEqual(['role', 'content', 'tool_calls'])
    expect(Object.keys(answer.usage ?? {})).toEqual(['content'])
    expect('polluted' in {}).toBe(false)
  })

  test('any other JSON does not throw', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 6 }), (values) => {
        for (const endpoint of ['chat.completions', 'completions'] as const) {
          const shapes = values.flatMap((value) => [
            value,
            { choices: [value] },
            { choices: [{ index: value, delta: value, finish_reason: value }] },
            { choices: [{ delta: { tool_calls: [value], content: value, audio: value } }] },
            {
              choices: [{ delta: { tool_calls: [{ id: value, index: value, function: value }] } }],
            },
          ])
          readStreamedAnswer(Buffer.from(shapes.map(line).join('')), endpoint)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('usage', () => {
  test.each([
    ['in the last chunk', [{ usage: null }, { usage: { prompt_tokens: 1 } }], { prompt_tokens: 1 }],
    [
      'as a running total',
      [{ usage: { prompt_tokens: 1 } }, { usage: { prompt_tokens: 1, completion_tokens: 9 } }],
      { prompt_tokens: 1, completion_tokens: 9 },
    ],
    ['below x_groq', [{ x_groq: { usage: { prompt_tokens: 2 } } }], { prompt_tokens: 2 }],
    ['in a choice', [{ choices: [{ usage: { prompt_tokens: 3 } }] }], { prompt_tokens: 3 }],
    [
      'spread over two events (Anthropic)',
      [
        { message: { usage: { input_tokens: 4, output_tokens: 1 } } },
        { usage: { output_tokens: 8 } },
      ],
      { input_tokens: 4, output_tokens: 8 },
    ],
  ])('%s', (_name, chunks, expected) => {
    expect(read(...chunks.map(line)).usage).toEqual(expected)
  })
})

test('legacy completions: the text of each choice is joined', () => {
  const piece = (index: number, text: string, finish_reason: string | null = null) =>
    line({ model: 'old', choices: [{ index, text, finish_reason }] })
  const stream = [
    piece(0, 'a'),
    piece(1, 'b'),
    piece(0, 'A', 'stop'),
    piece(1, 'B', 'length'),
    done,
  ]
  expect(readStreamedAnswer(Buffer.from(stream.join('')), 'completions')).toMatchObject({
    model: 'old',
    done: true,
    choices: [
      { index: 0, message: 'aA', finish_reason: 'stop' },
      { index: 1, message: 'bB', finish_reason: 'length' },
    ],
  })
})

const text = fc.string({ unit: 'grapheme', maxLength: 20 })
const wholeChoice = fc.record({
  content: text,
  reasoning_content: text,
  calls: fc.array(fc.record({ id: fc.uuid(), name: fc.constantFrom('a', 'b'), arguments: text }), {
    maxLength: 3,
  }),
})

/** The pieces of a text, cut anywhere (inside surrogate pairs too: JSON escapes carry halves). */
function cut(whole: string, size: number): string[] {
  const pieces = []
  for (let at = 0; at < whole.length; at += size) pieces.push(whole.slice(at, at + size))
  return pieces
}

test('an answer cut into deltas anywhere and interleaved is the whole answer again', () => {
  const choices = fc.array(wholeChoice, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(choices, fc.integer({ min: 1, max: 5 }), fc.boolean(), (wholes, size, repeats) => {
      const queues = wholes.map((choice, index) => {
        const pieces: object[] = [
          { role: 'assistant' },
          ...cut(choice.reasoning_content, size).map((reasoning_content) => ({
            reasoning_content,
          })),
          ...cut(choice.content, size).map((content) => ({ content })),
          ...choice.calls.flatMap(({ id, name, arguments: args }, at) => [
            call({ index: at, id, type: 'function', function: { name, arguments: '' } }),
            ...cut(args, size).map((piece) =>
              call({ index: at, ...(repeats && { id }), function: { arguments: piece } }),
            ),
          ]),
        ]
        return pieces.map((value) => line({ choices: [{ index, delta: value }] }))
      })
      const lines: string[] = []
      for (let at = 0; queues.some((queue) => at < queue.length); at++) {
        for (const queue of queues) lines.push(queue[at] ?? '')
      }
      const answer = read(...lines, done)
      expect(answer.choices.map((choice) => choice.message)).toEqual(
        wholes.map(({ content, reasoning_content, calls }) => ({
          role: 'assistant',
          ...(reasoning_content !== '' && { reasoning_content }),
          ...(content !== '' && { content }),
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ id, ...called }) => ({
              id,
              type: 'function',
              function: called,
            })),
          }),
        })),
      )
    }),
    { numRuns: 200 },
  )
})

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

const rawLine = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `data: ${text}`),
  fc.constantFrom('data:x', 'data', ': ping', 'event: error', 'id: 1', '', '', '', '\uFEFF'),
)
const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
const stream = fc
  .array(fc.tuple(rawLine, lineEnd), { maxLength: 20 })
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
