import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { measureCpu } from '../../../../test/support/cpu-time.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { splitLinesAndSentences, toSource } from '../../provenance/text/index.ts'
import { splitDocument } from './chunks.ts'
import { type DocumentFormat, documentFormats, readDocument } from './read-document.ts'

/** Returns the source behind the first place where some text occurs. */
function sourceOf(format: DocumentFormat, source: string, wanted: string): string {
  const mapped = readDocument(format, source)
  const at = mapped.text.indexOf(wanted)
  expect(at, `${wanted} in ${mapped.text}`).toBeGreaterThan(-1)
  return source.slice(...toSource(mapped, [at, at + wanted.length]))
}

describe('documents become plain text that knows its source', () => {
  test('HTML: tags, scripts, comments and entities', () => {
    const page =
      '<html><head><title>Ferry</title><style>p{}</style></head><body><!-- hidden --><p>Cars: ' +
      '<b>12&nbsp;&euro;</b> &amp; up</p><script>var price = "99 €"</script>' +
      '<table><tr><th>Day</th><th>Fee</th></tr><tr><td>Mon</td><td>5</td></tr></table></body>'
    const { text } = readDocument('html', page)
    expect(text).toBe('Ferry\nCars: 12 € & up\nDay | Fee\nMon | 5\n')
    expect(sourceOf('html', page, '12 € & up')).toBe('12&nbsp;&euro;</b> &amp; up')
  })

  test.each([
    ['html', 'fee <b>&minus;250&nbsp;EUR</b>', 'fee −250 EUR'],
    ['html', 'about 2&frac12; hours', 'about 2½ hours'],
    ['html', 'Geb&uuml;hr &Auml;nderung', 'Gebühr Änderung'],
    ['html', 'caf&eacute &copy 2024 &#8722;5 &#x20AC;7 &#128;8', 'café © 2024 −5 €7 €8'],
    ['html', 'R&D; AT&T, &amp;minus;', 'R&D; AT&T, &minus;'],
    ['markdown', 'fee &minus;250&nbsp;EUR, 2&frac12; h, Geb&uuml;hr', 'fee −250 EUR, 2½ h, Gebühr'],
    ['markdown', 'write `&minus;` for &minus;, and &copy 1', 'write &minus; for −, and &copy 1'],
    ['markdown', '```\n&lt;b&gt;\n```\n1 &lt; 2', '&lt;b&gt;\n1 < 2'],
    ['text', '&minus;', '&minus;'],
  ] as const)('entities of %s: %s', (format, source, expected) => {
    expect(readDocument(format, source).text.trim()).toBe(expected)
  })

  test('an entity keeps its place', () => {
    expect(sourceOf('html', 'fee &minus;250 EUR.', '−250 EUR')).toBe('&minus;250 EUR')
    expect(sourceOf('markdown', 'Die Geb&uuml;hr.', 'Gebühr')).toBe('Geb&uuml;hr')
  })

  test('HTML: quotes in attributes, and tags that never close', () => {
    expect(readDocument('html', '<a title="1 > 0">x</a>').text).toBe('x')
    expect(readDocument('html', 'a <b title="open>c</b> d').text).toBe('a c d')
    expect(readDocument('html', '1 < 2 <script>var a').text).toBe('1 < 2 ')
  })

  test('Markdown: markers go, tables and code stay', () => {
    const source =
      '# Fees\n\n| Who | Fee |\n|---|---:|\n| Adults | **4 EUR** |\n\n- see [the list](/l) and `run_all`\n'
    expect(readDocument('markdown', source).text).toBe(
      'Fees\nWho | Fee\nAdults | 4 EUR\nsee the list and run_all',
    )
    expect(sourceOf('markdown', source, '4 EUR')).toBe('4 EUR')
  })

  test('JSON: one line per object, keys in words', () => {
    const source =
      '{"lakes": [{"name": "Ina", "area_km2": 4.5}, {"name": "B\\u00e9", "deep": true}]}'
    expect(readDocument('json', source).text).toBe(
      'lakes \nname Ina; area km2 4.5\nname Bé; deep true\n',
    )
    expect(sourceOf('json', source, 'area km2 4.5')).toBe('area_km2": 4.5')
    expect(sourceOf('json', source, 'Bé')).toBe('B\\u00e9')
  })

  test('every range of the text maps into the source, also for broken input', () => {
    const markup = fc.constantFrom(
      '<p>',
      '</p',
      '<script>',
      '"',
      "'",
      '&amp;',
      '&#xD800;',
      '|',
      '**',
      '](',
      '{',
      '}',
      '[',
      '\\',
      '\n',
      '\ud800',
      'é',
      '12',
      ' word ',
      '<!--',
      '-->',
      ':',
      ',',
      '`',
      '# ',
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...documentFormats),
        fc.array(markup, { maxLength: 40 }),
        (format, parts) => {
          const source = parts.join('')
          const mapped = readDocument(format, source)
          let at = 0
          for (const piece of mapped.pieces) {
            expect(piece.at).toBe(at)
            at += piece.length
            if (piece.length !== piece.taken) continue
            const text = mapped.text.slice(piece.at, piece.at + piece.length)
            const [start, end] = toSource(mapped, [piece.at, piece.at + piece.length])
            if (text !== ' ' && text !== '\n')
              expect(source.slice(start, end)).toHaveLength(text.length)
          }
          expect(at).toBe(mapped.text.length)
          for (const {
            at: [from, to],
          } of splitDocument('d', '', mapped).chunks) {
            const [start, end] = toSource(mapped, [from, to])
            expect(start).toBeGreaterThanOrEqual(0)
            expect(end).toBeGreaterThanOrEqual(start)
            expect(end).toBeLessThanOrEqual(source.length)
          }
        },
      ),
      { numRuns: fuzzRuns(500) },
    )
  })

  test.each([
    ['html', '<div><b class="a">'.repeat(100_000)],
    ['html', '<a title="'.repeat(100_001)],
    ['html', '<script>'.repeat(100_000)],
    ['html', '&'.repeat(1_000_000)],
    ['json', '{"a":['.repeat(100_000)],
    ['json', '"\\'.repeat(300_000)],
    ['markdown', ']('.repeat(200_000)],
    ['markdown', `|${'*_'.repeat(300_000)}`],
    ['text', '.'.repeat(1_000_000)],
    ['text', 'a. '.repeat(300_000)],
    ['text', 'x'.repeat(2_000_000)],
  ] as const)('hostile %s is split in bounded time', (format, source) => {
    const { cpu_ms, result } = measureCpu(() =>
      splitDocument('d', 't', readDocument(format, source)),
    )
    expect(cpu_ms).toBeLessThan(5_000)
    for (const { text } of result.chunks) expect(text.length).toBeLessThanOrEqual(3 * 4_000 + 2)
  })

  test('a document of a million words', () => {
    const source = 'The ferry leaves at nine and costs twelve euros. '.repeat(111_112)
    const { cpu_ms, result } = measureCpu(() =>
      splitDocument('d', 't', readDocument('text', source)),
    )
    expect(cpu_ms).toBeLessThan(10_000)
    expect(result.chunks).toHaveLength(Math.ceil(111_112 / 3))
  })
})

describe('sentences', () => {
  const sentences = (text: string) =>
    splitLinesAndSentences(text).map(([from, to]) => text.slice(from, to))

  test('end after a mark, not after abbreviations, initials, decimals and list numbers', () => {
    expect(sentences('Dr. Wu paid 5.5 EUR. J. Ito paid none! Why? E.g. no.\n1. Wait.')).toEqual([
      'Dr. Wu paid 5.5 EUR.',
      'J. Ito paid none!',
      'Why?',
      'E.g. no.',
      '1. Wait.',
    ])
  })

  test('cover all characters but white space, in order, with ≤ 120 words', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'Bc', '. ', '! ', '\n', ' ', '1.', '…')),
        (parts) => {
          const text = parts.join('').repeat(20)
          expect(sentences(text).join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
          for (const one of sentences(text))
            expect(one.split(/\s+/).length).toBeLessThanOrEqual(121)
        },
      ),
    )
  })
})

test('a chunk has ≤ 3 sentences and a digest of its text', () => {
  const text = 'One is. Two is. Three is. Four is.'
  const { chunks } = splitDocument('d', 'Title', readDocument('text', text))
  expect(chunks.map((chunk) => chunk.text)).toEqual(['One is. Two is. Three is.', 'Four is.'])
  expect(chunks[0]?.digest).toMatch(/^[0-9a-f]{64}$/)
  expect(chunks[0]?.digest).not.toBe(chunks[1]?.digest)
})
