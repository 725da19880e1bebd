import { describe, expect, test } from 'vitest'
import { countTokens, estimateUsage } from './call-usage.ts'

/** Counts one token per character, so that the expected sums are obvious. */
const count = (text: string) => text.length
const estimate = (request: object | undefined, message?: object | string) =>
  estimateUsage(
    {
      request: request as never,
      requestText: 'raw text',
      choices:
        message === undefined ? [] : [{ index: 0, finish_reason: '', message: message as never }],
    },
    count,
  )

describe('input', () => {
  test.each([
    [
      'a message: frame, role, text, start of the answer',
      { messages: [{ role: 'user', content: 'hello' }] },
      3 + 5 + 5 + 3,
    ],
    [
      'an image is not text',
      {
        messages: [
          {
            role: 'u',
            content: [
              { type: 'text', text: 'ab' },
              { type: 'image_url', image_url: { url: 'data:…' } },
            ],
          },
        ],
      },
      3 + 2 + 2 + 85 + 3,
    ],
    [
      'calls in earlier answers',
      {
        messages: [
          { role: 'a', content: null, tool_calls: [{ function: { name: 'f', arguments: '{}' } }] },
        ],
      },
      3 + 2 + 3 + 3,
    ],
    ['tools', { messages: [], tools: [1] }, 3],
    ['a prompt', { prompt: ['ab', 'c'] }, 3],
    ['a prompt of token ids', { prompt: [17, 4, 9] }, 3],
    ['no JSON', undefined, 8],
  ])('%s', (_name, request, input_uncached_tokens) => {
    expect(estimate(request)).toEqual({
      input_uncached_tokens,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_visible_tokens: 0,
      reasoning_tokens: 0,
    })
  })
})

test('output: text, refusal and calls are visible, reasoning is apart', () => {
  const message = {
    content: 'abc',
    refusal: 'no',
    reasoning_content: 'hmm…',
    tool_calls: [{ function: { name: 'f', arguments: '{}' } }],
  }
  expect(estimate({}, message)).toMatchObject({ output_visible_tokens: 8, reasoning_tokens: 4 })
  expect(estimate({}, 'text')).toMatchObject({ output_visible_tokens: 4 })
})

describe('the tokenizer', () => {
  test.each([
    ['', 0],
    ['hello world', 2],
    ['<|endoftext|>', 7],
  ])('%j', (text, tokens) => {
    expect(countTokens(text)).toBe(tokens)
  })

  test('beyond its bound, four characters are one token', () => {
    const text = 'hello world '.repeat(2_000)
    const bound = countTokens(text.slice(0, 4_096))
    expect(countTokens(text)).toBe(bound + Math.ceil((text.length - 4_096) / 4))
  })
})
