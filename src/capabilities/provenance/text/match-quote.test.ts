import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { measureCpu } from '../../../../test/support/cpu-time.ts'
import { foldText } from './fold.ts'
import { matchQuote } from './match-quote.ts'

function find(quote: string, text: string): string | undefined {
  const range = matchQuote(quote, foldText(text))
  return range === undefined ? undefined : text.slice(...range)
}

describe('a quote is found', () => {
  test('with other quotation marks, dashes, spaces and case', () => {
    const text = 'He said: “The ferry —\u00a0the\n  BIG one – isn’t late…” Done.'
    const quote = '"the ferry - the big one - isn\'t late..."'
    expect(find(quote, text)).toBe('“The ferry —\u00a0the\n  BIG one – isn’t late…”')
  })

  test('after characters that fold to more or fewer code units', () => {
    expect(find('costs twelve euros', 'ﬁne ½ İ \u00ad𝟙 now Costs\u00ad twelve euros!')).toBe(
      'Costs\u00ad twelve euros',
    )
  })

  test('at any place of a text', () => {
    const char = fc.constantFrom('a', 'B', ' ', '—', '“', '…', 'ﬁ', '\u00ad', '\ud800', '😀', 'İ')
    const part = fc.array(char, { maxLength: 20 }).map((chars) => chars.join(''))
    fc.assert(
      fc.property(part, part, (before, after) => {
        const text = `${before} the harbour – gate 7 ${after}`
        expect(find('The harbour - gate 7', text)).toBe('the harbour – gate 7')
      }),
    )
  })
})

describe('a quote is not found', () => {
  test.each([
    ['fewer than 12 characters', 'the ferry', 'the ferry is here'],
    ['an end inside a number', 'the fee is just 1', 'the fee is just 1.50'],
    ['an end inside a longer number', 'the fee is just 15', 'the fee is just 150'],
    ['a beginning inside a number', '50 euros per night', 'it costs 1.50 euros per night'],
    ['an end inside a word', 'the ferry carries car', 'the ferry carries cargo'],
    ['white space alone', ' '.repeat(40), ' '.repeat(80)],
    ['another word', 'the big ferry is late', 'the big ferry was late'],
  ])('%s', (_name, quote, text) => {
    expect(find(quote, text)).toBeUndefined()
  })

  test('a repeated text is searched in bounded time', () => {
    const text = foldText('a'.repeat(1_000_000))
    const { cpu_ms } = measureCpu(() => {
      expect(matchQuote('a'.repeat(100_000), text)).toBeUndefined()
    })
    expect(cpu_ms).toBeLessThan(3_000)
  })
})
