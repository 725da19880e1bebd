import { describe, expect, it } from 'vitest'
import { checkAnswer } from '../check-answer.ts'
import { indexSeen } from '../seen/seen-index.ts'

const prices = '[{"sku":"SKU-A","price":39,"stock":120},{"sku":"SKU-B","price":49,"stock":75}]'
const table = '| item | price |\n|---|---|\n| lamp | 39 |\n| desk | 49 |'
const orders =
  '{"orders":[{"id":"W-1","ships":"2027-03-05","items":[{"name":"mug","price":12.5}]},{"id":"W-2","ships":"2027-04-09","items":[{"name":"jug","price":19.5}]}]}'

const check = (answer: string, ...texts: string[]) =>
  checkAnswer(answer, indexSeen(texts.map((text, at) => ({ source: `tool ${at}`, text })))).filter(
    ({ verdict }) => verdict === 'other_subject',
  )

describe('a value of another row or object', () => {
  it.each([
    ['SKU-A costs $49.', prices, '$49', '39', 'SKU-A'],
    ['- SKU-B: 120 in stock', prices, '120', '75', 'SKU-B'],
    ['The lamp costs $49.', table, '$49', '39', 'lamp'],
    ['W-1 ships on 9 April 2027.', orders, '9 April 2027', '2027-03-05', 'W-1'],
    ['The mug is $19.50.', orders, '$19.50', '12.5', 'mug'],
    ['Your SKU-A is in stock. It costs $49.', prices, '$49', '39', 'SKU-A'],
    ['SKU-A ist da. Es kostet 49 $.', prices, '49 $', '39', 'SKU-A'],
  ])('%s', (answer, text, ...wanted) => {
    const found = check(answer, text).map((one) => [one.value, one.instead?.quote, one.subject])
    expect(found).toEqual([wanted])
  })
})

describe('healthy twins', () => {
  it.each([
    ['SKU-B costs $49.', [prices]],
    ['SKU-B is $49, ten more than SKU-A at $39.', [prices]],
    // A row above or below belongs to it.
    ['W-1: the mug, $12.50, ships on 5 March 2027.', [orders]],
    ['The mug ships on 5 March 2027.', [orders]],
    // Another text says it without a name.
    ['SKU-A costs $49.', [prices, 'From May on it costs $49.']],
    // Nothing of the subject is known in that column.
    ['SKU-C costs $49.', [prices]],
    ['SKU-A costs about $49.', [prices]],
    ['SKU-A is cheaper than the one for $49.', [prices]],
    ['SKU-A is in stock, and so is SKU-B. It costs $49.', [prices]],
    ['SKU-A is in stock. The other one costs $49.', [prices]],
    ['SKU-A is in stock. Delivery costs $49.', [prices]],
    ['SKU-A está en stock. La entrega cuesta $49.', [prices]],
    ['SKU-A is sold out.\nIt costs $49.', [prices]],
    ['Unlike SKU-A, it costs $49.', [prices]],
    ['Instead of SKU-A take the one at $49.', [prices]],
    ['The next one after SKU-A costs $49.', [prices]],
    ['Nach SKU-A kommt der Artikel für 49 $.', [prices]],
  ] as const)('%s', (answer, texts) => {
    expect(check(answer, ...texts)).toEqual([])
  })
})

it('finds the names among many with one first word', () => {
  const rows = Array.from({ length: 3000 }, (_one, n) => `{"name":"lamp ${n}","price":${1000 + n}}`)
  const answer = Array.from({ length: 400 }, (_one, n) => `The lamp ${n} is there.`).join(' ')
  const index = indexSeen([{ source: 'tool', text: `[${rows.join(',')}]` }])
  const { subjects } = index
  const found = subjects.mentionsIn(answer, [0, answer.length])
  expect(found.map(({ label }) => label)).toEqual(
    Array.from({ length: 400 }, (_one, n) => `lamp ${n}`),
  )
})
