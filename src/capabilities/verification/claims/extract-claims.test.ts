import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measureCpu } from '../../../../test/support/cpu-time.ts'
import { extractClaims } from './extract-claims.ts'

const textsOf = (answer: string) => extractClaims(answer).claims.map(({ text }) => text)

describe('sentences', () => {
  it.each([
    ['Dr. Vale joined Orbit Inc. in 2019. She leads sales.', 2],
    ['The rate is 5.5 percent. It rises in May.', 2],
    ['The desk opens at 8 a.m. on Mondays. It closes at noon.', 2],
    ['The desk opens at 8 a.m. It closes at noon.', 2],
    ['Parcels cost 4 euros [1]. Letters are free. [2]', 2],
    ['Die Frist endet am 10. Juli 2025. Danach kostet es z. B. 5 Euro.', 2],
    ['J. Rowe signed the lease. M. Lind paid it.', 2],
    ['The flat has class B. It was built in 1970.', 2],
    ['v2 stops in May. v3 starts in June.', 2],
    ['Leaks shall fall by 13%. £240 million is set aside.', 2],
    ['The app is frozen. macOS users keep it.', 2],
    ['The fee is approx. €5 per day.', 1],
    ['La garantie dure 2 ans. Elle couvre les pièces.', 2],
    ['El tren sale a las 8. Llega a las 9.', 2],
    ['The fee is listed in No. 7 of the terms. It is 5 euros.', 2],
  ])('splits %j into %i', (answer, count) => {
    expect(textsOf(answer)).toHaveLength(count)
  })
})

describe('clauses', () => {
  it('splits clauses that each have a verb and a number', () => {
    expect(textsOf('The basic plan costs 9 euros, and the large plan costs 19 euros.')).toEqual([
      'The basic plan costs 9 euros',
      'the large plan costs 19 euros.',
    ])
  })

  it.each([
    'Adults pay 9 euros and get a towel.',
    'If a delay is between three and four hours the fee is €300.',
    'A delay is between three and four hours when the fee is €300.',
    'Tea, coffee, and juice cost 3 euros.',
    'If you order 3 books, and each is new, the parcel costs 5 euros.',
    'The park (which has 2 lakes, and was opened in 1910) is closed.',
  ])('keeps %j', (answer) => {
    expect(textsOf(answer)).toEqual([answer])
  })
})

describe('Markdown', () => {
  const answer = [
    '## Prices',
    '',
    'Here are the prices:',
    '1. The small room costs 50 euros.',
    '2. The large room costs',
    '   80 euros.',
    '',
    '| Room | Price |',
    '|---|---|',
    '| Small | 50 |',
    '',
    '```sh',
    'book --room 7',
    '```',
  ].join('\n')

  it('reads items and rows, and drops headings, introductions and code', () => {
    const { claims, dropped } = extractClaims(answer)
    expect(claims.map(({ kind, text }) => [kind, text])).toEqual([
      ['list_item', 'The small room costs 50 euros.'],
      ['list_item', 'The large room costs\n   80 euros.'],
      ['table_row', '| Small | 50 |'],
    ])
    expect(dropped.map(({ reason }) => reason)).toEqual([
      'heading',
      'introduction',
      'table_head',
      'code',
    ])
  })

  it('takes the rest of an answer as code when a fence never closes', () => {
    expect(textsOf('```\nThe fee is 5 euros.')).toEqual([])
  })
})

describe('parts without a claim', () => {
  it.each([
    ['Would you like me to book it?', 'question'],
    ['Hello and thanks for your message!', 'greeting'],
    ['Guten Morgen, Frau Lind!', 'greeting'],
    ['Let me know if you need the form.', 'offer'],
    ["N'hésitez pas à nous écrire.", 'offer'],
    ["As far as I can see, the manual doesn't mention it.", 'hedge'],
    ['Ich glaube, das hängt vom Tarif ab.', 'hedge'],
    ['Creo que depende del plan.', 'hedge'],
    ['🙂', 'fragment'],
  ])('drops %j as %s', (answer, reason) => {
    expect(extractClaims(answer)).toMatchObject({ claims: [], dropped: [{ reason }] })
  })

  it('keeps a statement after a greeting word', () => {
    expect(textsOf('Sure, the fee is 20 euros.')).toHaveLength(1)
    expect(textsOf('It may be raised by 2 percent.')).toHaveLength(1)
  })
})

it('gives offsets that slice the answer, and never two parts of one place', () => {
  const word = fc.constantFrom(
    'The',
    'fee',
    'is',
    '5.5',
    'Dr.',
    '🙂',
    '\n',
    '- ',
    '| a | b |',
    '```',
    '[1]',
    'and',
    '.',
    '?',
    ';',
    'ä',
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), (words) => {
      const answer = words.join(' ')
      const { claims, dropped } = extractClaims(answer)
      const parts = [...claims, ...dropped].sort((a, b) => a.start - b.start)
      for (const [at, part] of parts.entries()) {
        expect(answer.slice(part.start, part.end)).toBe(part.text)
        expect(part.start).toBeGreaterThanOrEqual(parts[at - 1]?.end ?? 0)
      }
    }),
  )
})

describe('1 MB', () => {
  const size = 1_000_000
  it.each([
    ['prose', 'The fee of Plan B is 5.5 euros, and Plan C costs 7 euros. '],
    ['one word', 'a'],
    ['points', '.'],
    ['spaces', ' '],
    ['bars', '|'],
    ['lists', '- 1. '],
    ['quotes', '"('],
    ['footnotes', '[1] '],
    ['joints', 'is 5, and '],
    ['emoji', '🙂'],
    ['lines', 'a b\n'],
    ['quotation marks of Markdown', '> '],
    ['stars', '*'],
  ])('of %s is read within a second', (_name, unit) => {
    const text = unit.repeat(Math.ceil(size / unit.length))
    const { cpu_ms } = measureCpu(() => {
      extractClaims(text)
    })
    expect(cpu_ms).toBeLessThan(1000)
  })
})

describe('what no claim is, and its neighbours that are claims', () => {
  it.each([
    'Enjoy your stay!',
    'Congratulations on the new job!',
    'Have a nice trip!',
    'Viel Erfolg mit dem Umzug!',
    'Bonne journée à vous deux.',
    'Tell me if the plan suits you.',
    'Gerne schicke ich Ihnen die Liste.',
    'You might want to ask the desk about this.',
    'I am not entirely sure about the islands.',
    'I have no data about the winter.',
    'Please note that I cannot promise a seat.',
    'No tengo datos de ese día.',
    "I'm no lawyer, so this is only how I read the lease.",
    "I don't have the live timetable, so check the board at the pier.",
    'To be honest, I cannot say which of your ships this affects.',
    'This is no tax advice.',
    'Alle Preise ohne Gewähr.',
    'Whether it pays off depends on how often you sail.',
    "If you mostly read at night, I'd go for the K7.",
    "Let's go through the list.",
    'You asked about two boats, so one after the other.',
    'Oh no, poor you.',
    'Ouch, a lost key is annoying.',
    'That sounds wonderful!',
    'Keep warm out there!',
    'Nice that you plan ahead!',
    "Don't forget a warm jacket for the crossing.",
    'Tip: bring a torch for the cellar.',
    'If you feel unwell, call a neighbour or a doctor.',
    "N'oubliez pas de garder le reçu.",
    'Correct me if I read the map wrongly.',
  ])('drops %s', (answer) => {
    expect(textsOf(answer)).toEqual([])
  })

  it.each([
    'Please register the boat at least 48 hours before departure.',
    'Please report a loss within a week.',
    'Enjoyment of the pool is free for guests.',
    'Good Harbour is the oldest port of the island.',
    "Don't forget that a deposit is due for the key.",
    'Remember to cancel at least a day before arrival.',
    'If you are ill, call the desk before noon.',
    'The price depends on the season.',
    'I have cancelled order PB-20 for you.',
    'Dogs are welcome on board!',
    'Make sure to pay the 20 euros in cash.',
    'It is free!',
    'The lawyers gave medical advice to the crew.',
    'Ohio has no guarantee scheme for boats.',
  ])('keeps %s', (answer) => {
    expect(textsOf(answer)).toEqual([answer])
  })
})
