import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measureCpu } from '../../../../test/support/cpu-time.ts'
import type { SeenText } from '../values/index.ts'
import { checkAnswer } from './check-answer.ts'
import { indexSeen } from './seen/seen-index.ts'

const check = (answer: string, ...texts: string[]) =>
  checkAnswer(answer, indexSeen(texts.map((text, at) => ({ source: `tool ${at}`, text }))))

const verdicts = (answer: string, ...texts: string[]) =>
  check(answer, ...texts).map(({ verdict }) => verdict)

const orders = JSON.stringify([
  { id: 'PB-7731', total_cents: 4250, qty: 12, city: 'Lund', shipped: '2026-03-09T08:15:00Z' },
  { id: 'PB-7740', total_cents: 1775, qty: 30, city: 'Lund', shipped: '2026-03-11T16:40:00Z' },
  { id: 'PB-7752', total_cents: 9900, qty: 8, city: 'Turku', shipped: '2026-03-20T10:05:00Z' },
])

describe('seen values', () => {
  it.each([
    ['Order PB-7731 has 12 items.', orders],
    ['It cost €42.50.', orders],
    ['It was shipped on 9 March 2026 at 8:15 a.m.', orders],
    ['The lake has 1,200 visitors.', 'visitors: 1200'],
    ['The lake has 1.2k visitors.', 'visitors: 1200'],
    ['Der See hat 1.200 Besucher.', 'visitors: 1200'],
    ['The trail is 7.5 miles long.', 'length: 12.07 km'],
    ['It takes 2 hours and 30 minutes.', 'duration 150 min'],
    ['Call +46 8 555 7788.', 'phone: 08-5557788'],
    ['See https://lund.example/help.', 'https://lund.example/help/'],
    ['It says “the gate closes at noon”.', 'Note: The gate closes at noon.'],
    ['Use version 4.7.', 'latest: 4.7.2'],
  ])('%s', (answer, text) => {
    expect(verdicts(answer, text)).not.toContain('unsupported')
  })
})

describe('derivations', () => {
  it.each([
    ['The orders cost €159.25 in total.', orders, 'sum'],
    ['The two orders to Lund cost €60.25.', orders, 'sum'],
    ['The rooms have 17 seats more.', 'hall 58 seats, studio 41 seats', 'difference'],
    ['The deposit is €90.', 'Rent is €600, the deposit 15 %.', 'percentage'],
    ['Attendance is 75%.', '24 of 32 pupils came', 'percentage'],
    ['It ends on 24 March 2026.', 'starts 2026-03-10, lasts 14 days', 'date'],
    ['They scored 95.7 on average.', '[{"r":"W 98-91"},{"r":"L 84-88"},{"r":"W 105-99"}]', 'mean'],
    ['| Disk total | 69.58 |', 'disk: 2840 blocks at $0.0245', 'product'],
    ['It lasts 105 minutes.', 'from 10:15 to 12:00', 'difference'],
    ['That is £240 a year.', 'fee: £20 a month', 'period'],
  ])('%s', (answer, text, operation) => {
    const derived = check(answer, text).filter(({ verdict }) => verdict === 'derived')
    expect(derived.map(({ derivation }) => derivation?.operation)).toContain(operation)
    for (const { derivation } of derived) expect(derivation?.operands).not.toEqual([])
  })
})

describe('exempt values', () => {
  it.each([
    ['There are 3 ways.', 'small_integer'],
    ['7. Open the lid.\n', 'list_number'],
    ['We answer 24/7.', 'constant'],
    ['Edit /etc/lund/gate.conf first.', 'path'],
    ['```\nsleep 7731\n```', 'code'],
  ])('%s', (answer, exemption) => {
    const checked = check(answer, 'nothing')
    expect(checked.map((one) => one.exemption)).toContain(exemption)
    expect(checked.map(({ verdict }) => verdict)).not.toContain('unsupported')
  })
})

describe('rates', () => {
  const system = 'You help customers of a gym. All fees are billed per month.'

  it('a word such as per month does not switch the check of amounts off', () => {
    const bill = '{"member": "Ina", "fee": 61.37, "currency": "EUR"}'
    expect(verdicts('You still owe 437.25 EUR.', system, bill)).toEqual(['unsupported'])
    expect(verdicts('You still owe 437.25 EUR.', 'Interest and nights.', bill)).toEqual([
      'unsupported',
    ])
  })

  it.each([
    ['You pay 644.10 EUR a year.', 'The fee is 53.675 EUR a month.', 'period'],
    ['For three nights you pay $387.', 'The room is $129 per night, 3 nights.', 'product'],
  ])('a rate with its number gives %s', (answer, text, operation) => {
    const [value] = check(answer, text).filter(({ kind }) => kind === 'money')
    expect(value?.derivation?.operation).toBe(operation)
  })

  it('a late fee of some number of days is listed', () => {
    const [late] = check('It would be $8,426.35.', 'Due: $8,412.55. Late fee: $1.38 per day.')
    expect(late?.verdict).toBe('unsupported')
  })
})

describe('unsupported values', () => {
  it.each([
    ['Order PB-7713 is late.', orders, 'PB-7713'],
    ['It cost $42.50.', 'total: £42.50', '$42.50'],
    ['It costs $40.25.', 'The hall has 40 seats.', '$40.25'],
    ['The fee is €26.05.', 'energy €23.35, parking €1.70', '€26.05'],
    ['Pay to +46 8 555 8877.', 'phone: 08-5557788', '+46 8 555 8877'],
    ['Mail to desk@lund.example.', 'mail: help@lund.example', 'desk@lund.example'],
    ['It says “the gate never closes”.', 'The gate closes at noon.', 'the gate never closes'],
    ['The price is €108.', 'price: $108, and nothing about a rate', '€108'],
  ])('%s', (answer, text, value) => {
    const checked = check(answer, text).filter(({ verdict }) => verdict === 'unsupported')
    expect(checked.map((one) => one.value)).toEqual([value])
  })
})

describe('weekdays', () => {
  const shipped = 'shipped: 2026-03-10, billed on 3 April'
  const weekday = (answer: string, text: string) =>
    check(answer, text).find(({ kind }) => kind === 'weekday')?.verdict

  it.each([
    ['It left on Tuesday, 10 March 2026.', 'derived'],
    ['Es ging am Dienstag, den 10. März ab.', 'derived'],
    ['It left on 10 March 2026 (Tue).', 'derived'],
    ['It left on 10 March, a Tuesday.', 'derived'],
    ['It left on Wednesday, 10 March 2026.', 'unsupported'],
    ['Salió el miércoles 10 marzo 2026.', 'unsupported'],
    ['You were billed on Friday, 3 April.', 'derived'],
    ['It left on Wednesday, 11 May 2025.', undefined],
    ['It is open from 10 March, Monday to Friday.', undefined],
  ])('%s', (answer, verdict) => {
    expect(weekday(answer, shipped)).toBe(verdict)
  })

  it('that the source itself puts beside the date is fine, though the calendar differs', () => {
    expect(weekday('It left on Wed, 10 March 2026.', 'Left: Wed 10 March 2026')).toBe('derived')
  })

  it('is right in any year that was seen: a birthday in 1990, a party in 2025', () => {
    const text = 'born 1990-06-03, list of 2025'
    expect(weekday('The party is on Tuesday, 3 June.', text)).toBe('derived')
    expect(weekday('The party is on Thursday, 3 June.', text)).toBe('unsupported')
  })

  it('has no source if no year is known', () => {
    expect(weekday('It left on Sunday, 10 March.', 'left on 10 March')).toBe('unsupported')
  })
})

describe('not checked', () => {
  const verdictsOf = (answer: string, ...seen: SeenText[]) =>
    checkAnswer(answer, indexSeen(seen)).map(({ verdict }) => verdict)

  it('what may be in contents that are cut, images or off', () => {
    const cut = { source: 'tool', text: 'total: 4250, and mo', complete: false }
    expect(verdictsOf('It is 4250, not 7731.', cut)).toEqual(['seen', 'not_checked'])
    const whole = { source: 'user', text: 'my number is 7731' }
    expect(verdictsOf('It is 4250, not 7731.', cut, whole)).toEqual(['seen', 'seen'])
  })

  it('but what only the arguments of a call name is listed: they are words of the agent', () => {
    const call = { source: 'call', text: '{"course":"SEC-4711","amount":8250}', isOwn: true }
    const result = { source: 'tool', text: 'done' }
    const [id] = checkAnswer('SEC-4711 is done.', indexSeen([call, result]))
    expect(id).toMatchObject({ verdict: 'unsupported', doubt: 'own_call' })
    expect(verdictsOf('SEC-4712 is done.', call, result)).toEqual(['unsupported'])
    expect(verdictsOf('Paid 82,513 now!', { ...call, text: '{"amount":82513}' }, result)).toEqual([
      'unsupported',
    ])
  })

  it('values beyond the number of derivations', () => {
    const ids = Array.from({ length: 320 }, (_, at) => `KX-${1000 + at}`)
    const verdicts = verdictsOf(ids.join(', '), { source: 'tool', text: 'nothing' })
    expect(verdicts.filter((verdict) => verdict === 'unsupported')).toHaveLength(300)
    expect(verdicts.slice(300)).toEqual(Array(20).fill('not_checked'))
  })
})

describe('chance', () => {
  // 60 amounts in different sources: two of them give almost any small number.
  const amounts = Array.from({ length: 60 }, (_, at) => ((at * 7919) % 997) + 3)
  const sources = amounts.map((amount, at) => `Ticket ${at} of ${at + 2000}: €${amount}.`)

  it.each([
    ['two amounts of different sources have some sum', 'Together €873.', sources],
    ['seats and euros', 'There are 71 seats more.', ['hall 58 seats', 'entry €13']],
    ['a number times itself', 'It needs 49 kg.', ['bag of 7 kg']],
    ['kilograms that were seen as litres', 'It weighs 24 kg.', ['1 l, 2 l and 38 l']],
    ['a capacity beside small bare numbers', 'It has 750 GB.', ['{"disks":1,"hosts":2}']],
    ['the mean of a list that is not a mean', 'Pay €4.50.', ['{"fees":[2,3,8.5]}']],
  ])('%s', (_name, answer, texts) => {
    const [value] = check(answer, ...texts).filter(({ kind }) => kind !== 'id')
    expect(value?.verdict).toBe('unsupported')
  })

  it.each([
    ['in one object', 'You save €31.', ['{"before":"€120","after":"€89"}', ...sources]],
    ['that the answer names', 'It was €120, now €89: €31 less.', ['€120', '€89', ...sources]],
  ])('two amounts %s are combined', (_name, answer, texts) => {
    expect(check(answer, ...texts).map(({ verdict }) => verdict)).not.toContain('unsupported')
  })
})

it('shows quotations and ids exactly where they are, after any folded characters', () => {
  const odd = fc.array(fc.constantFrom('ﬁ', 'İ', '½', '😀', '…', '\u00ad', 'Ω', 'a', '\n', '—'), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(odd, odd, (before, after) => {
      const text = `${before.join('')} The “gate” — closes\u00a0at noon; case 47/11-KX9 ${after.join('')}`
      const found = check(
        'It says "the "gate" - closes at noon" and “closes at noon; case”, 4711kx9.',
        text,
      )
      for (const { evidence } of found) {
        for (const { at, quote } of evidence) expect(text.slice(...at)).toBe(quote)
      }
      const quotes = found.flatMap(({ evidence }) => evidence.map(({ quote }) => quote))
      expect(quotes).toContain('closes\u00a0at noon; case')
      expect(quotes).toContain('47/11-KX9')
    }),
  )
})

it('gives offsets on both sides that slice the texts', () => {
  const text = `${orders}\n`
  for (const { at, value, evidence } of check('PB-7731 costs €42.50, 12 items.', text)) {
    expect('PB-7731 costs €42.50, 12 items.'.slice(...at)).toBe(value)
    for (const one of evidence) expect(text.slice(...one.at)).toBe(one.quote)
  }
})

it('finds each number that was seen, in any format', () => {
  const format = fc.constantFrom('en-US', 'de-DE', 'de-CH')
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 99_999_999 }), format, (n, locale) => {
      const written = new Intl.NumberFormat(locale).format(n)
      expect(verdicts(`It is ${written}!`, `{"n":${n}}`)).toEqual(['seen'])
    }),
  )
})

it('reads a day without separators as a number too', () => {
  expect(verdicts('It is 20,030,531!', '{"n":20030531}')).toEqual(['seen'])
  expect(verdicts('It is 31 May 2003.', '{"n":20030531}')).toEqual(['seen'])
  expect(verdicts('It is 20,030,532!', '{"n":20030531}')).toEqual(['unsupported'])
})

it('never accepts an id with another digit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100_000, max: 999_999 }), fc.nat(5), (n, place) => {
      const id = String(n)
      const other = (Number(id[place]) + 1) % 10
      const wrong = `KX-${id.slice(0, place)}${other}${id.slice(place + 1)}`
      expect(verdicts(`It is ${wrong}.`, `{"id":"KX-${id}"}`)).toEqual(['unsupported'])
    }),
  )
})

describe('hostile texts', () => {
  it('one line of a megabyte is indexed in time that grows with its length', () => {
    const text = JSON.stringify(Array.from({ length: 40_000 }, (_, at) => ({ id: at, n: at * 7 })))
    const { cpu_ms } = measureCpu(() => {
      indexSeen([{ source: 'tool', text }])
    })
    expect(cpu_ms).toBeLessThan(5000)
  })

  it.each(['1', '1 ', '1,', 'a1-', '{', '["', '"', '1:', '/a', '1|', '1h', 'a@', '+1 ', '12 / '])(
    '%j repeated is read in bounded time',
    (unit) => {
      const text = unit.repeat(100_000 / unit.length)
      const { cpu_ms } = measureCpu(() => {
        checkAnswer(text.slice(0, 5000), indexSeen([{ source: 'tool', text }]))
      })
      expect(cpu_ms).toBeLessThan(2000)
    },
  )

  it.each(['', '\\'])('JSON cut in a string full of quotes, and then %j, is read once', (end) => {
    const text = `["${'\\"'.repeat(200_000)}${end}`
    const { cpu_ms } = measureCpu(() => {
      indexSeen([{ source: 'tool', text }])
    })
    expect(cpu_ms).toBeLessThan(2000)
  })

  const numbers = (n: number) => Array.from({ length: n }, (_, at) => `${at * 7919} `).join('')

  it('a text with more values than a call has arguments is read', () => {
    const index = indexSeen([{ source: 'tool', text: numbers(150_000) }])
    expect(checkAnswer('It is 7919.', index).map(({ verdict }) => verdict)).toEqual(['seen'])
  })

  it.each(['7 ', 'twelve ', '/a/b '])(
    'of 2 MB of %j a bounded number of values is read, and nothing is called unsupported then',
    (unit) => {
      const text = unit.repeat(2_000_000 / unit.length)
      const { cpu_ms } = measureCpu(() => {
        const index = indexSeen([{ source: 'tool', text }])
        expect(index.values.length).toBeLessThanOrEqual(100_000)
        expect(index.isComplete).toBe(false)
        const [value] = checkAnswer('It costs $4,711.23.', index)
        expect(value?.verdict).toBe('not_checked')
      })
      expect(cpu_ms).toBeLessThan(5000)
    },
  )

  it.each(['-1', '1 '])(
    'an answer of 100,000 characters of %j is checked in bounded time',
    (unit) => {
      const answer = `${unit.repeat(100_000 / unit.length)} and $47,110.23.`
      const { cpu_ms } = measureCpu(() => {
        checkAnswer(answer, indexSeen([{ source: 'tool', text: '12 items, 30 boxes' }]))
      })
      expect(cpu_ms).toBeLessThan(2500)
    },
  )

  it('values after the first 2,000 of an answer are not checked', () => {
    const checked = check(`${numbers(3_000)}`, 'nothing')
    expect(checked).toHaveLength(3_000)
    expect(new Set(checked.slice(2_000).map(({ verdict }) => verdict))).toEqual(
      new Set(['not_checked']),
    )
  })
})
