import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitDocument } from '../knowledge/chunks.ts'
import { buildLibrary, findPassages } from '../knowledge/library.ts'
import { readDocument } from '../knowledge/read-document.ts'
import { decideByWords, judgeByWords } from './judge-by-words.ts'
import { likely_min } from './support-weights.ts'

const filler = [
  'The harbour office opens at eight. Parking is free for buses. Dogs stay on a lead.',
  'Tickets are sold on board by the crew. The kiosk has ice cream. Cash is welcome.',
  'The museum shows old nets. School classes book by phone. Lifts reach every floor.',
]

function judge(claim: string, sources: readonly string[], context?: string) {
  const documents = [...sources, ...filler].map((text, at) =>
    splitDocument(`d${at}`, '', readDocument('text', text)),
  )
  const question = { text: claim, context }
  const passages = findPassages(buildLibrary(documents), question)
  const judged = judgeByWords(question, passages)
  const { support, ...decided } = judged
  expect(decideByWords(question, passages)).toEqual(decided)
  return judged
}

const ferry = 'The night ferry to Ulva Island costs 42 euros for each car. It leaves at nine.'

describe('supported or likely without a model', () => {
  test('by a verbatim quote, with the place in the source', () => {
    const claim = 'the night ferry to Ulva Island costs 42 euros for each car'
    const { verdict, method, evidence } = judge(claim, [ferry])
    expect({ verdict, method }).toEqual({ verdict: 'supported', method: 'quote' })
    expect(evidence[0]?.source).toBe('d0')
    expect(ferry.slice(...(evidence[0]?.at ?? [0, 0]))).toBe(evidence[0]?.quote)
  })

  test.each(['🧾 ', '• ', '- ', '**'])('by a verbatim quote after %j', (mark) => {
    const claim = `${mark}The night ferry to Ulva Island costs 42 euros for each car.`
    expect(judge(claim, [ferry])).toMatchObject({ verdict: 'supported', method: 'quote' })
  })

  test('by nearly all words with every number and name', () => {
    const { verdict, method } = judge('A car on the night ferry to Ulva Island costs €42.', [ferry])
    expect({ verdict, method }).toEqual({ verdict: 'likely', method: 'words' })
  })
})

describe('neither supported nor likely', () => {
  test.each([
    ['another number', 'The night ferry to Ulva Island costs 43 euros for each car.', [ferry]],
    [
      'a further number',
      'The ferry to Ulva costs 42 euros for each car and 12 euros for each bike with a 7 % fee.',
      ['The ferry to Ulva costs 42 euros for each car and 12 euros for each bike with a fee.'],
    ],
    [
      'too few words to compare',
      'Anna Holm was the pilot.',
      ['The boat was steered by Anna Holm and the pilot Tom Brin.'],
    ],
    [
      'a sibling of its code in the sentence',
      'Code E-4 of the night ferry pump shows a weak battery.',
      ['Codes of the night ferry pump: E-4 heat outside the range, E-6 shows a weak battery.'],
    ],
    [
      'what another sentence names',
      'That is the night ferry to Ulva Island for each car at 42 euros.',
      [ferry],
    ],
    [
      'two negations',
      'Dogs on the night ferry to Ulva Island may not sit in cars, no car costs 42 euros.',
      ['Cars on the night ferry to Ulva Island cost 42 euros, dogs may sit in cars.'],
    ],
    ['another name', 'The night ferry to Skor Island costs 42 euros for each car.', [ferry]],
    ['a negation', 'The night ferry to Ulva Island does not cost 42 euros for each car.', [ferry]],
    [
      'a quote whose sentence denies it',
      'the ferry carries cars on Sundays',
      ['It is wrong that the ferry carries cars on Sundays.'],
    ],
    [
      'a quote whose sentence limits it',
      'heavy bags are carried free of charge',
      ['Heavy bags are carried free of charge only for gold members.'],
    ],
    [
      'a number that goes on',
      'The pier levies a mooring fee of 1',
      ['The pier levies a mooring fee of 1.50 euros.'],
    ],
    [
      'numbers swapped between names',
      'Arno owns 25 % of the mill and Bela owns 15 % of the mill.',
      ['Arno owns 15 % of the mill and Bela owns 25 % of the mill.'],
    ],
    [
      'a claim that another source disputes',
      'The night ferry to Ulva Island costs 42 euros for each car.',
      [ferry, 'The night ferry to Ulva Island costs 51 euros for each car. It leaves at ten.'],
    ],
    ['another unit', 'The night ferry to Ulva Island costs 42 dollars for each car.', [ferry]],
  ])('%s', (_name, claim, sources) => {
    expect(judge(claim, sources).verdict).not.toMatch(/supported|likely/)
  })

  test('a sentence about another subject than the question names', () => {
    const text = 'The mooring licence of Brenna costs 300 euros a year.'
    const claim = 'The mooring licence costs 300 euros a year.'
    expect(judge(claim, [text], 'And in Kallvik?').verdict).not.toMatch(/supported|likely/)
    expect(judge(claim, [text], 'And in Brenna?').verdict).toBe('likely')
  })
})

describe('traps: the first claim of a sentence is supported or likely, its sibling is not', () => {
  const pier = 'The north pier of Ulva harbour is at least 6 metres deep for cargo boats.'
  const herd = 'The elephant herd of Ulva park has five cows and two bulls on its meadow.'
  const parking = 'Parking beside the harbour office costs 6 euros per day for visitors.'
  const table = 'Ferry fare | Sula | Tern\nAdult fare one way | 14 euros | 21 euros'
  const bag = 'Heavy bags are carried free of charge after 10 June for members of the harbour club.'
  test.each([
    ['bound', pier, 'The north pier of Ulva harbour is at least 6 metres deep for cargo boats.'],
    ['counted', herd, 'The elephant herd of Ulva park has five cows and two bulls on a meadow.'],
    ['unit', parking, 'Visitors pay 6 euros per day for parking beside the harbour office.'],
    [
      'date',
      bag,
      'After 10 June members of the harbour club have heavy bags carried free of charge.',
    ],
  ])('%s: the truth', (_trap, source, claim) => {
    expect(judge(claim, [source]).verdict).toMatch(/supported|likely/)
  })

  test.each([
    ['bound', pier, 'The north pier of Ulva harbour is at most 6 metres deep for cargo boats.'],
    [
      'weaker bound',
      pier,
      'The north pier of Ulva harbour is at least 4 metres deep for cargo boats.',
    ],
    ['counted', herd, 'The elephant herd of Ulva park has five bulls and two cows on a meadow.'],
    ['unit', parking, 'Visitors pay 6 dollars per day for parking beside the harbour office.'],
    [
      'opposite',
      bag,
      'Before 10 June members of the harbour club have heavy bags carried free of charge.',
    ],
    ['column', table, 'The adult fare one way on the Sula ferry is 21 euros.'],
    [
      'date',
      bag,
      'After 11 June members of the harbour club have heavy bags carried free of charge.',
    ],
    [
      'negation',
      parking,
      'Visitors never pay 6 euros per day for parking beside the harbour office.',
    ],
    [
      'all',
      parking,
      'All visitors always pay 6 euros per day for parking beside the harbour office.',
    ],
    [
      'usual',
      parking,
      'Most visitors usually pay 6 euros per day for parking beside the harbour office.',
    ],
    [
      'ordinal',
      herd,
      'The third elephant herd of Ulva park has five cows and two bulls on a meadow.',
    ],
    ['sum', parking, 'Visitors pay 12 euros per day for parking beside the harbour office.'],
    [
      'two negations',
      parking,
      'No visitors do not pay 6 euros per day for parking beside the harbour office.',
    ],
    [
      'also',
      parking,
      'Guests as well as visitors pay 6 euros per day for parking beside the harbour office.',
    ],
    [
      'month',
      bag,
      'After 10 July members of the harbour club have heavy bags carried free of charge.',
    ],
    [
      'exact bound',
      parking,
      'Visitors pay at least 6 euros per day for parking beside the harbour office.',
    ],
  ])('%s: the trap', (_trap, source, claim) => {
    expect(judge(claim, [source]).verdict).not.toMatch(/supported|likely/)
  })

  const prices =
    '| | Classic ferry card | Gold ferry card |\n|---|---|---|\n' +
    '| Cash withdrawal on the island | 3.75 % | 2.5 % |\n' +
    '| Cash withdrawal at sea | 4 % | 3 % |\n| Month pass for cash | 8 % | 3 % |'
  const judgeTable = (claim: string, context: string) => {
    const documents = [
      splitDocument('t', 'Card prices', readDocument('markdown', prices)),
      ...filler.map((each, at) => splitDocument(`f${at}`, '', readDocument('text', each))),
    ]
    const question = { text: claim, context }
    return judgeByWords(question, findPassages(buildLibrary(documents), question)).verdict
  }
  const gold = 'What does cash cost with the Gold ferry card?'

  test('a column, below a header whose first cell is empty', () => {
    const claim = (share: string) => `A cash withdrawal on the island by card costs ${share} %.`
    expect(judgeTable(claim('2.5'), gold)).toBe('likely')
    expect(judgeTable(claim('3.75'), gold)).not.toMatch(/supported|likely/)
  })

  test('a row, when the question names another one', () => {
    const claim = 'The gold card pays a fee of 3 % for a cash withdrawal.'
    const question = 'What does a month pass for cash cost with the Gold ferry card?'
    expect(judgeTable(claim, question)).not.toMatch(/supported|likely/)
  })

  test('a document whose title fits the question better wins', () => {
    const text = (fee: number) => `Mooring beside the harbour office costs ${fee} euros per night.`
    const documents = [
      splitDocument('old', 'Prices of Ulva harbour 2023', readDocument('text', text(9))),
      splitDocument('new', 'Prices of Ulva harbour 2025', readDocument('text', text(12))),
      ...filler.map((each, at) => splitDocument(`f${at}`, '', readDocument('text', each))),
    ]
    const verdictOf = (claim: string, context: string) => {
      const question = { text: claim, context }
      return judgeByWords(question, findPassages(buildLibrary(documents), question)).verdict
    }
    const claim = 'Mooring beside the harbour office costs 9 euros each night.'
    expect(verdictOf(claim, 'What does mooring cost in 2025?')).not.toMatch(/supported|likely/)
  })
})

test('support does not grow with the length of a claim or the numbers that it shares', () => {
  const long = [
    'It leaves at nine, runs on 5 days, has 80 berths and 3 decks and a view of the sea.',
  ]
  const short = judge('The lighthouse of Ulva was painted red.', long).support
  const wordy =
    'The lighthouse of Ulva has 80 berths and 3 decks on 5 days, which its owner painted red.'
  expect(judge(wordy, ['80 berths, 3 decks, 5 days.']).support).toBeLessThan(likely_min)
  expect(Math.abs(short - judge('It was red.', long).support)).toBeLessThan(0.2)
})

test('support falls with each sign against a claim', () => {
  const claim = 'Visitors pay 6 euros per day for parking beside the harbour office.'
  const source = 'Parking beside the harbour office costs 6 euros per day for visitors.'
  const whole = judge(claim, [source]).support
  const worse = [
    claim.replace('6 euros', '7 euros'),
    claim.replace('parking', 'towing'),
    claim.replace('Visitors', 'All visitors'),
    claim.replace('the harbour', 'the Skor harbour'),
  ]
  for (const each of worse) expect(judge(each, [source]).support).toBeLessThan(whole)
})

test('words never contradict, and results are bounded', () => {
  const part = fc.constantFrom(
    'ferry',
    'not',
    '42',
    'euros',
    'Ulva',
    '.',
    '\n',
    'only',
    '\ud800',
    '%',
  )
  const text = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(' '))
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 4 }), text, (claim, sources, context) => {
      const result = judge(claim, sources, context)
      expect(['supported', 'likely', 'unverifiable', 'not_found']).toContain(result.verdict)
      expect(result.support).toBeGreaterThanOrEqual(0)
      expect(result.support).toBeLessThanOrEqual(1)
      expect(result.evidence.length === 0).toBe(result.verdict === 'not_found')
    }),
  )
})

test('a claim without any shared word is not found', () => {
  expect(judge('Quartz melts slowly.', [ferry]).verdict).toBe('not_found')
})
