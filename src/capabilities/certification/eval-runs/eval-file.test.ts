import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { maxEvalFileChars, readEvalFile } from './eval-file.ts'
import { EvalFileFault } from './read-cases.ts'

/** Returns the faults of a file as texts. */
function faultsOf(format: 'junit' | 'jsonl', content: string): string[] {
  try {
    readEvalFile(format, content)
    return []
  } catch (error) {
    if (!(error instanceof EvalFileFault)) throw error
    return error.faults.map(({ line, detail }) => `${line}: ${detail}`)
  }
}

/** A case with the defaults of its fields. */
const caseOf = (fields: object) => ({
  ...{ repeat: 0, cluster: null, name: null, score: null, duration_ms: null, cost_usd: null },
  ...fields,
})

const suite = (inside: string) => `<testsuite>${inside}</testsuite>`

describe('JSON lines', () => {
  test('have a case a line, with defaults', () => {
    const content = [
      '\ufeff{"case_id": "refund-17", "passed": true}\r',
      '',
      '{"case_id": "refund-17", "repeat": 2, "passed": false, "score": 0.25, "cluster": "ada"}',
      '{"case_id": "later", "passed": null}',
    ].join('\n')
    expect(readEvalFile('jsonl', content)).toEqual([
      caseOf({ case_id: 'refund-17', passed: true }),
      caseOf({ case_id: 'refund-17', repeat: 2, passed: false, score: 0.25, cluster: 'ada' }),
      caseOf({ case_id: 'later', passed: null }),
    ])
  })

  test('are refused with every faulty line', () => {
    const content = [
      '{"case_id": "a", "passed": true}',
      '{"case_id": "a", "passed": false}',
      '{"case_id": "b", "passed": NaN}',
      '{"case_id": "b", "passed": true, "score": 1e999}',
      '{"case_id": "b", "passed": "yes"}',
      '{"case_id": "b", "passed": true, "repeat": 10000}',
      '{"case_id": "b", "pased": true, "passed": true}',
      '[1]',
      '{"case_id": "", "passed": true}',
      '{"case_id": "a\\u0000", "passed": true}',
      '{"case_id": "\\ud800", "passed": true}',
      `{"case_id": "${'x'.repeat(257)}", "passed": true}`,
      `${'['.repeat(10_000)}`,
    ].join('\n')
    const fields = 'case_id, repeat, cluster, name, passed, score, duration_ms, cost_usd'
    expect(faultsOf('jsonl', content)).toEqual([
      '2: case "a", repeat 0 is on line 1 too: number the repeats of a case with `repeat`',
      '3: not valid JSON: "{\\"case_id\\": \\"b\\", \\"passed\\": NaN}"',
      '4: score: Invalid input: expected number, received Infinity',
      '5: passed: Invalid input: expected boolean, received string',
      '6: repeat: Too big: expected number to be <=9999',
      `7: "pased" is not a field of a case: expected ${fields}`,
      `8: expected an object with ${fields}`,
      '9: case_id: Too small: expected string to have >=1 characters',
      '10: case_id: "a\\u0000" has control characters or half of a surrogate pair',
      '11: case_id: "\\ud800" has control characters or half of a surrogate pair',
      '12: case_id: Too big: expected string to have <=256 characters',
      '13: the line is too long: got 10000 characters, expected at most 8192',
    ])
  })

  test('read back as written', () => {
    const outcome = fc.record({ passed: fc.boolean(), score: fc.double({ min: 0, max: 1 }) })
    const id = fc.string({ minLength: 1, maxLength: 256, unit: 'grapheme-ascii' })
    fc.assert(
      fc.property(fc.dictionary(id, fc.array(outcome, { maxLength: 5 })), (byCase) => {
        const cases = Object.entries(byCase).flatMap(([case_id, runs]) =>
          runs.map((run, i) => caseOf({ case_id, repeat: i, ...run })),
        )
        fc.pre(cases.length > 0)
        const content = cases.map((one) => JSON.stringify(one)).join('\n')
        expect(readEvalFile('jsonl', content)).toEqual(
          JSON.parse(`[${content.replaceAll('\n', ',')}]`),
        )
      }),
    )
  })
})

describe('a JUnit report', () => {
  test('has cases in nested suites; failures and errors fail, skipped ones are counted', () => {
    const content = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="agents"><properties><property name="repeat" value="9"/></properties>
  <testcase classname="refunds" name="asks for the order" time="1.5"/>
  <testcase classname="refunds" name="R&amp;D &lt;b&gt;"><failure message="x">at &lt;anon&gt;</failure></testcase>
  <testsuite><testcase name="alone"><error/><system-out><![CDATA[<testcase name="no"/>]]></system-out></testcase></testsuite>
  <testcase name="later"><skipped/></testcase>
  <testcase name="both"><skipped/><failure/></testcase>
  <testcase name="alone"><properties><property name="repeat" value="1"/><property name="cluster" value="ada"/>
    <property name="score" value="0.5"/><property name="cost_usd" value="0.01"/><property name="x" value="y"/></properties></testcase>
</testsuite></testsuites>`
    expect(readEvalFile('junit', content)).toEqual([
      caseOf({
        ...{ case_id: 'refunds.asks for the order', name: 'refunds', passed: true },
        duration_ms: 1_500,
      }),
      caseOf({ case_id: 'refunds.R&D <b>', name: 'refunds', passed: false }),
      caseOf({ case_id: 'alone', passed: false }),
      caseOf({ case_id: 'later', passed: null }),
      caseOf({ case_id: 'both', passed: false }),
      caseOf({
        ...{ case_id: 'alone', repeat: 1, passed: true, cluster: 'ada' },
        ...{ score: 0.5, cost_usd: 0.01 },
      }),
    ])
  })

  test.each<[string, string, string]>([
    [
      'a declared entity',
      '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<testsuite/>',
      '1: a document type (<!DOCTYPE>) is not allowed: remove it',
    ],
    [
      'a large document type',
      `<!DOCTYPE a [${'<!ENTITY a "b">'.repeat(10_000)}]><testsuite/>`,
      '1: a document type (<!DOCTYPE>) is not allowed: remove it',
    ],
    ['an unknown entity', suite('&lol;'), '1: not valid XML: Invalid character entity'],
    ['an unclosed element', '<testsuite>\n\n', '3: not valid XML: Unclosed root tag'],
    ['another root', '\n<html/>', '2: expected <testsuites> or <testsuite>, got <html>'],
    ['two roots', '<testsuite/><testsuite/>', '1: expected one root element, got <testsuite> too'],
    ['JSON', '{"a": 1}', '1: not valid XML: Non-whitespace before first tag.'],
    ['nothing', '', '1: expected a JUnit report, got no element'],
    ['no cases', suite(''), '1: expected at least one case, got none'],
    [
      'skipped cases only',
      suite('<testcase name="a"><skipped/></testcase>'),
      '1: expected at least one case that ran, got only skipped ones (1)',
    ],
    [
      'a repeated case',
      suite('<testcase name="a"/>\n<testcase name="a"/>'),
      '2: case "a", repeat 0 is on line 1 too: number the repeats of a case with `repeat`',
    ],
    [
      'more than 100 attributes of an element',
      suite(`<testcase name="a" ${Array.from({ length: 100 }, (_, i) => `a${i}=""`).join(' ')}/>`),
      '1: expected at most 100 attributes of an element',
    ],
    [
      'an attribute that is named as a method of objects',
      suite('<testcase name="a" hasOwnProperty="x" time="1"/>'),
      '1: the attribute hasOwnProperty is not allowed',
    ],
    [
      'a test case in another one',
      suite('<testcase name="a"><testcase name="b"/></testcase>'),
      '1: a <testcase> is inside another one',
    ],
    [
      'a case without a name',
      suite('<testcase/>'),
      '1: case_id: Too small: expected string to have >=1 characters',
    ],
    [
      'a wrong repeat',
      suite(
        '<testcase name="a"><properties><property name="repeat" value="NaN"/></properties></testcase>',
      ),
      '1: repeat: Invalid input: expected number, received string',
    ],
  ])('with %s is refused', (_name, content, fault) => {
    expect(faultsOf('junit', content)).toEqual([fault])
  })
})

describe('hostile files', () => {
  test('end at the limits before they take memory or time', () => {
    const start = performance.now()
    const laughs = ['<!DOCTYPE lolz [<!ENTITY l0 "lol">']
    for (let i = 1; i < 10; i += 1) laughs.push(`<!ENTITY l${i} "${`&l${i - 1};`.repeat(10)}">`)
    laughs.push(']><testsuite><testcase name="&l9;"/></testsuite>')
    expect(faultsOf('junit', laughs.join(''))[0]).toMatch(/document type/)
    const nested = '<testsuite>'.repeat(Math.floor(maxEvalFileChars / 11))
    expect(faultsOf('junit', nested)).toEqual(['1: expected at most 32 levels'])
    expect(faultsOf('junit', '<testsuite>'.repeat(10_000_000))[0]).toMatch(/^1: expected at most/)
    expect(faultsOf('jsonl', '['.repeat(10_000_000))[0]).toMatch(/^1: expected at most/)
    const cases = Array.from({ length: 20_001 }, (_, i) => `<testcase name="${i}"/>`).join('')
    expect(faultsOf('junit', suite(cases))).toEqual([
      '1: expected at most 20000 cases with repeats',
    ])
    expect(faultsOf('jsonl', 'x\n'.repeat(1_000_000))).toHaveLength(20)
    expect(performance.now() - start).toBeLessThan(5_000)
  })

  test('of any content are read or refused, with nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (content) => {
        for (const format of ['junit', 'jsonl'] as const) faultsOf(format, content)
        faultsOf('junit', suite(content))
        faultsOf('junit', suite(`<testcase name="a">${content}</testcase>`))
      }),
      { numRuns: fuzzRuns(200) },
    )
  })
})
