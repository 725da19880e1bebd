import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf } from '../../../../../test/support/failure-findings.ts'
import { fuzzRuns } from '../../../../../test/support/suite/budget.ts'
import { runDetectors } from '../../analyse/run-detectors.ts'
import { reconstruct } from '../../reconstruction/index.ts'
import { unsupportedValue } from './unsupported-value.ts'

const order = '{"id":"PB-7731","total_cents":4250,"items":3,"eta":"2026-03-12"}'
const asked = (name: string) =>
  agentRun(name)
    .user('Where is my order?')
    .tool({ name: 'get_order', args: { latest: true } }, order)

/** A result of 5,000 numbers. */
const numbers = (call: number) =>
  Array.from({ length: 5_000 }, (_, at) => (at + call) % 97).join(' ')

type Value = {
  value: string
  kind: string
  at: [number, number]
  note: string
  reason: string | null
}

const valuesIn = (run: AgentRun): Value[] =>
  findingsOf(unsupportedValue, run).flatMap(({ evidence }) => evidence['values'] as Value[])

test('an invented value is marked at its offsets, and the right one is not', () => {
  const answer = '👍 Order PB-7731 costs €42.50, delivery is €6.80.'
  const run = asked('invented').assistant(answer)
  expect(findingsOf(unsupportedValue, run)).toMatchObject([
    {
      kind: 'claim',
      type: 'unsupported_value',
      severity: 'medium',
      start_step: 1,
      confidence: 0.7,
    },
  ])
  const [value, ...others] = valuesIn(run)
  expect(others).toEqual([])
  expect(value).toMatchObject({ value: '€6.80', note: 'not found in what the agent saw' })
  expect(answer.slice(...(value?.at ?? []))).toBe('€6.80')
})

test('another currency than the one that was seen', () => {
  const run = agentRun('currency')
    .user('The fee?')
    .tool({ name: 'fee' }, '{"fee":84.15,"currency":"GBP"}')
    .assistant('The fee is $84.15.')
  expect(valuesIn(run).map(({ value }) => value)).toEqual(['$84.15'])
})

test.each([
  ['It was packed 20481 times.', 'low'],
  ['Your order is PB-7713.', 'medium'],
  ['It was packed 20481 times, moved 31795 times and seen 48213 times.', 'low'],
])('%s: %s', (answer, severity) => {
  const run = asked('severity').assistant(answer)
  expect(findingsOf(unsupportedValue, run).map((one) => one.severity)).toEqual([severity])
})

test.each([
  'It has 3 items and arrives at 14:35.',
  'It arrives within eight days.',
  'Only 12 % do.',
])('what an answer may work out is listed, as low: %s', (answer) => {
  const found = findingsOf(unsupportedValue, asked('weak').assistant(answer))
  expect(found.map(({ severity, repeats }) => [severity, repeats])).toEqual([['low', 1]])
})

test('says how many values have a source, and which one has none', () => {
  const run = asked('counts').assistant(
    'Order PB-7731 costs €42.50 and arrives on 2026-03-12, ref 4242.',
  )
  expect(
    findingsOf(unsupportedValue, run).map(({ summary, evidence }) => [
      summary,
      evidence['values_found'],
    ]),
  ).toEqual([
    ['3 of 4 values of the answer were found in what the agent saw; not found: “4242”.', 3],
  ])
})

test('a value of another row is of another subject', () => {
  const run = agentRun('rows')
    .user('What does SKU-A cost?')
    .tool({ name: 'prices' }, '[{"sku":"SKU-A","price":39},{"sku":"SKU-B","price":49}]')
    .assistant('SKU-A costs $49.')
  const [finding] = findingsOf(unsupportedValue, run)
  expect(finding?.severity).toBe('medium')
  expect(valuesIn(run)).toMatchObject([
    { value: '$49', note: 'seen, but not of “SKU-A”: “39” was seen' },
  ])
})

describe('the agent itself is not a source', () => {
  test('its earlier answers', () => {
    const run = asked('twice')
      .assistant('It costs €61.37.')
      .user('Really?')
      .assistant('Yes: €61.37.')
    expect(findingsOf(unsupportedValue, run).map((one) => one.start_step)).toEqual([1, 2])
  })

  test('what it tells a sub-agent', () => {
    const run = asked('delegate')
      .assistant({ calls: [{ name: 'find_note', args: { about: 'the fee of €61.37' } }] })
      .parallel((one) =>
        one.user('Find a note about the fee of €61.37.').assistant('No such note.'),
      )
      .results(['No such note.'])
      .assistant('There is a fee of €61.37.')
    expect(valuesIn(run).map(({ value }) => value)).toEqual(['€61.37'])
  })

  test('what it sees only afterwards', () => {
    const run = asked('early')
      .assistant('It is in Lund 48291.')
      .user('Check that.')
      .tool({ name: 'track' }, 'Lund 48291')
      .assistant('Yes, Lund 48291.')
    expect(valuesIn(run).map(({ value }) => value)).toEqual(['48291'])
  })
})

test('an id that only the agent named in a call is listed, as low', () => {
  const run = asked('id')
    .tool({ name: 'track', args: { id: 'TR-5512' } }, 'in Lund')
    .assistant('TR-5512 is in Lund.')
  expect(findingsOf(unsupportedValue, run).map(({ severity }) => severity)).toEqual(['low'])
  expect(valuesIn(run)).toMatchObject([{ value: 'TR-5512', reason: 'own_call' }])
})

describe('healthy twins', () => {
  test.each<[string, AgentRun]>([
    [
      'the user gave it',
      asked('user').assistant('Ok?').user('I pay €61.37.').assistant('€61.37, fine.'),
    ],
    [
      'a tool wrote it',
      asked('wrote')
        .tool({ name: 'set_fee', args: { eur: 61.37 } }, 'ok')
        .assistant('The fee is 61.37.'),
    ],
    [
      'calls are counted',
      agentRun('count')
        .user('Clean up.')
        .times(8, (run, at) => run.tool({ name: 'delete', args: { at } }, 'ok'))
        .assistant('Eight files are gone.'),
    ],
    [
      'pages are summed up',
      agentRun('pages')
        .user('How many?')
        .tool({ name: 'page', args: { n: 1 } }, '{"hits":100}')
        .tool({ name: 'page', args: { n: 2 } }, '{"hits":31}')
        .assistant('There are 131.'),
    ],
    [
      'a rate without a unit',
      agentRun('rate')
        .user('What is the euro in yen?')
        .tool({ name: 'fx' }, '{"rate":163.2}')
        .assistant('One euro is 163.2 yen.'),
    ],
    [
      'general knowledge',
      agentRun('known').user('Tell me of Lund.').assistant('Lund has 94,703 inhabitants.'),
    ],
    ['a score in JSON', asked('score').assistant('{"order":"PB-7731","confidence":0.87}')],
    [
      'the client brought the answer',
      agentRun('brought')
        .user('Fee?')
        .edit((all) => [
          ...all,
          { role: 'assistant', content: 'It is €61.37.' },
          { role: 'user', content: 'Sure?' },
        ])
        .tool({ name: 'look' }, 'nothing new')
        .assistant('Yes, €61.37.'),
    ],
  ])('%s', (_, run) => {
    expect(valuesIn(run)).toEqual([])
  })
})

describe('not checked', () => {
  const invented = 'It costs €61.37.'
  const reasonsOf = (run: AgentRun) => {
    const only = { only: ['unsupported_value'] }
    const { findings, not_checked } = runDetectors(reconstruct(run.observations()), {}, only)
    expect(findings).toEqual([])
    return not_checked.map(({ reason }) => reason)
  }

  test.each<[string, string, string]>([
    ['long', `${'a word '.repeat(3_000)}€61.37`, 'contents longer than 16,384 characters'],
    ['masked', '{"total":"[masked:money]"}', 'contents that are masked'],
  ])('%s contents', (name, result, reason) => {
    const run = agentRun(name).user('Fee?').tool({ name: 'look' }, result).assistant(invented)
    expect(reasonsOf(run)).toEqual([`some answers were not compared: ${reason}`])
  })

  test('tables with very many values', () => {
    const run = agentRun('many').user('Fee?')
    for (let call = 0; call < 6; call += 1)
      run.tool({ name: 'look', args: { call } }, numbers(call))
    expect(reasonsOf(run.assistant(invented))).toEqual([
      'some answers were not compared: more than 25,000 values',
    ])
  })

  test('general knowledge has nothing to compare with', () => {
    const run = agentRun('talk').user('How many?').assistant('About 94,703.')
    const only = { only: ['unsupported_value'] }
    const { findings, values, not_checked } = runDetectors(
      reconstruct(run.observations()),
      {},
      only,
    )
    expect([findings, values]).toEqual([[], { checked: 0, not_checked: 1 }])
    expect(not_checked.map(({ reason }) => reason)).toEqual([
      '1 of 1 values of the answers was not checked',
    ])
  })

  test('without tools, values without a source are at most low', () => {
    const run = agentRun('document')
      .system('Docs: https://docs.shop.example/returns')
      .user('Where?')
      .assistant('See https://docs.shop.example/refund-form.')
    expect(findingsOf(unsupportedValue, run).map(({ severity }) => severity)).toEqual(['low'])
  })

  test('a word such as per month in the system message hides no amount', () => {
    const run = agentRun('rate')
      .system('Fees are billed per month.')
      .user('What do I owe?')
      .tool({ name: 'bill' }, '{"fee": 61.37, "currency": "EUR"}')
      .assistant('You owe 437.25 EUR.')
    expect(valuesIn(run).map(({ value }) => value)).toEqual(['437.25 EUR'])
  })

  test('contents that are off', () => {
    const run = agentRun('off', { source: 'otlp_no_content' }).user('Fee?')
    expect(reasonsOf(run.tool({ name: 'look' }, 'none').assistant(invented))).toEqual([
      'the run has no texts of messages',
    ])
  })

  test('tools of the provider', () => {
    const run = agentRun('own', { tools: ['web_search', 'look'] }).user('Fee?')
    expect(reasonsOf(run.tool({ name: 'look' }, 'none').assistant(invented))).toEqual([
      'some answers were not compared: results of tools that the provider ran itself',
    ])
  })
})

test('what a tool returned is never marked, in any format', () => {
  const locale = fc.constantFrom('en-US', 'de-DE', 'de-CH')
  fc.assert(
    fc.property(fc.integer({ min: 1_000, max: 9_999_999 }), locale, (n, format) => {
      const run = agentRun('any').user('How many?').tool({ name: 'count' }, `{"n":${n}}`)
      const written = new Intl.NumberFormat(format).format(n)
      expect(valuesIn(run.assistant(`There are ${written}!`))).toEqual([])
      // Zeros at the end would make it a rounded figure.
      const other = n * 10 + 7_777_771
      // 20890101 reads as a date.
      fc.pre(!/^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/.test(String(other)))
      expect(valuesIn(run.user('And now?').assistant(`There are ${other}!`))).toHaveLength(1)
    }),
    { numRuns: fuzzRuns(40) },
  )
})
