import { describe, expect, it } from 'vitest'
import { checkAnswer } from '../check-answer.ts'
import { indexSeen } from '../seen/seen-index.ts'

const find = (answer: string, ...texts: string[]) =>
  checkAnswer(answer, indexSeen(texts.map((text, at) => ({ source: `tool ${at}`, text }))))
const listed = (answer: string, ...texts: string[]) =>
  find(answer, ...texts).filter(({ verdict }) => verdict === 'unsupported')
const doubts = (answer: string, ...texts: string[]) =>
  listed(answer, ...texts).map(({ doubt }) => doubt)

describe('a value without a source is listed, whatever may explain it', () => {
  it.each([
    ['That is typically €4,817.33.', 'hypothetical'],
    ['I recommend a budget of €2,345.', 'hypothetical'],
    ['The console is on port 27017.', 'general'],
    ['Open http://127.0.0.1:8431/status.', 'general'],
    ['Open https://your-site.com/a/b12.', 'general'],
    ['We close on 25 December.', 'general'],
    ['As of 14 April 2025 it is open.', 'general'],
    ['It runs on RTX40.', 'general'],
    ['About 41,873 people came.', 'coarse'],
    ['### 4.2.1 Limits', 'coarse'],
    ['The total is €4,817.33.', 'calculable'],
    ['It takes 40 minutes.', undefined],
    ['It opens at 9:30.', undefined],
    ['It costs €4,817.33.', undefined],
  ])('%s', (answer, doubt) => {
    expect(doubts(answer, 'nothing of it')).toEqual([doubt])
  })

  it('also beside many other values, and if several steps may give it', () => {
    const many = Array.from({ length: 60 }, (_, at) => ((at * 7919) % 997) + 3)
    const texts = many.map((amount, at) => `Ticket ${at} of ${at + 2000}: €${amount}.`)
    expect(doubts('Together €873.', ...texts)).toEqual(['calculable'])
    expect(doubts('The mean is €48.13.', ...texts)).toEqual(['calculable'])
  })
})

/** Each was accepted as derived or seen once. */
describe('an operation needs one unit, a name in the sentence, and no two counts', () => {
  it.each([
    ['It is €1,000 more.', '{"from": 4112, "to": 4111}', '€1,000'],
    ['That is a share of 67 %.', 'In 2026 there were 6210 runs', '67 %'],
    ['Tighten it to 120 ft-lb.', 'Torque: 120 Nm', '120 ft-lb'],
    ['It leaves at 2:30 am.', '{"departs": "14:30"}', '2:30 am.'],
    ['It is on at 16:00 Berlin time (CEST).', '{"start": "2027-07-06T15:00:00Z"}', '16:00'],
    ['It needs 288 bottles.', '24 boxes, 12 bottles', '288'],
    ['Together 288 items.', '{"boxes": 24, "each": 12}', '288'],
    ['There are 115 left.', '{"seats": 180, "price_usd": 65}', '115'],
    ['There is a gap: 71.', 'hall 58 seats, entry €13', '71'],
    ['It ships on March 6, 2027.', '{"date": "2027-03-05"}', 'March 6, 2027'],
    ['It costs $290 a year.', '{"price_per_month": 29, "currency": "USD"}', '$290'],
    ['It costs $40.', '{"seats": 40}', '$40'],
    ['Pay €4.50.', '{"fees":[2,3,8.5]}', '€4.50'],
    ['Check-out after 4 nights is on 2 June.', 'check-in 28 May, 4 nights', '2 June.'],
  ])('%s of %s', (answer, text, value) => {
    expect(listed(answer, text).map((one) => one.value)).toEqual([value])
  })

  it.each([
    ['It leaves at 2:30 pm.', '{"departs": "14:30"}'],
    ['It is on at 17:00 Berlin time (CEST).', '{"start": "2027-07-06T15:00:00Z"}'],
    ['Together 2 × 45,50 € = 91,00 €.', 'zwei Karten zu je 45,50 €'],
    ['The next day, March 6, 2027, it ships.', '{"date": "2027-03-05"}'],
    ['Check-out after 4 nights is on 1 June.', 'check-in 28 May, 4 nights'],
    ['It ends on 28 February.', 'starts 31 January, one month'],
    ['Lamp $20.50, desk $130, chair $49.50: $200 in total.', '{"a":20.5,"b":130,"c":49.5}'],
  ])('but %s of %s', (answer, text) => {
    expect(listed(answer, text)).toEqual([])
  })

  it("an answer's own sums are operands", () => {
    const checked = find('Total: $60, with 10 % off it is $54.', 'a $20, b $40; discount 10 %')
    expect(checked.map(({ verdict }) => verdict)).toEqual(['derived', 'seen', 'derived'])
  })
})

describe('another form of a seen name is the same name', () => {
  it.each([
    ['Your trip is TR-918.', 'trip TR-0918'],
    ['It is in commit 7f3c91ab.', 'commit 7f3c91ab55d0e2f4'],
    ['The account ends in 0309.', 'IBAN DE025001051701375050309'],
    ['See FY2025.', 'the year'],
    ['El vuelo sale a las 21.35 h.', 'salida 21:35'],
    ['Call +1 415-555-0134.', '(415) 555-0134'],
    ['IBAN NL02 ABNA 0123 4567 89.', '{"iban":"NL02ABNA0123456789"}'],
  ])('%s', (answer, text) => {
    expect(listed(answer, text)).toEqual([])
  })
})

describe('ids, addresses and quotations are exact, or nothing doubts that they are wrong', () => {
  it.each([
    ['Track it with 774899127137.', 'number 774899172137', '774899127137'],
    ['Your ticket is B-2025-0471.', 'ticket B-2025-0417', 'B-2025-0471'],
    ['Order ORD-2027-00123 is late.', '{"id": "ORD-2027-001234"}', 'ORD-2027-00123'],
    ['The card ending in 2223 was charged.', '{"number": "4111122223334242"}', '2223'],
    ['IBAN DE89 3704 0044 0523 0130 00', 'DE89370400440532013000', 'DE89 3704 0044 0523 0130 00'],
    ['Mail to desk@lund.example.', 'mail: help@lund.example', 'desk@lund.example'],
    [
      'See https://shop.example/refund.',
      'https://shop.example/returns',
      'https://shop.example/refund',
    ],
    [
      'See https://shop.example.bad.test/a.',
      'https://shop.example/a',
      'https://shop.example.bad.test/a',
    ],
    ['Call +47 815 11 884.', 'phone: none', '+47 815 11 884'],
    ['Leave from gate C43.', 'gate C34', 'C43'],
    ['Error QB-141 came.', 'QB-114 is for the size', 'QB-141'],
    ['It is commit 44ea9c8.', 'commit 44ae9c8', '44ea9c8'],
    ['T-9001 is open, and T-9010 waits.', 'T-9001, T-9007', 'T-9010'],
    ['21,847 fans came.', 'fans: 21487', '21,847'],
    [
      'The lease says “subletting is free for two months”.',
      'Subletting is forbidden.',
      'subletting is free for two months',
    ],
    [
      'The page says "Final sale items can be returned."',
      'Final sale items cannot be returned.',
      'Final sale items can be returned.',
    ],
  ])('%s', (answer, text, value) => {
    const [one, ...others] = listed(answer, text)
    expect([one?.value, one?.doubt, others]).toEqual([value, undefined, []])
  })

  it('quotations of public people may be known', () => {
    const answer = 'The physicist Ada Moresby said: “we never measure what we cannot name”.'
    expect(doubts(answer, 'Rent: 900')).toEqual(['general'])
  })

  it('labels and drafts are words of the agent', () => {
    const [quote] = find('The button is called “send the form now”.', 'nothing')
    expect(quote).toMatchObject({ verdict: 'exempt', exemption: 'own_words' })
  })
})

describe('a slip names what was seen instead', () => {
  const seen = 'Fares: €23.35 and €1.70. Deposits: 498.40 EUR, 12.50 EUR.'
  it.each([
    ['a digit that is wrong by one', '€23.35 + €1.70 makes €26.05.'],
    ['neighbouring digits that are swapped', '€23.35 less €1.70 is €21.56.'],
  ])('%s', (_, answer) => {
    expect(listed(answer, seen).map(({ instead }) => instead?.source)).toEqual(['answer'])
  })

  it('a result that is right is derived', () => {
    expect(listed('€23.35 + €1.70 makes €25.05.', seen)).toEqual([])
  })
})
