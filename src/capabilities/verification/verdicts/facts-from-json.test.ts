import { expect, test } from 'vitest'
import { factsFromJson } from './facts-from-json.ts'
import { judgeByFacts } from './judge-by-facts.ts'

const json = JSON.stringify({
  total: 2,
  towns: [
    { name: 'Brenna', population: 7400, area_km2: 21.5, founded: '1147', mayor: { age: 50 } },
    { name: 'Kallvik', population: 9900, area_km2: 30, ticketPriceEur: 4 },
  ],
})

test('numbers of named objects are facts, with the unit of the key', () => {
  expect(factsFromJson('tool', json)).toEqual(
    expect.arrayContaining([
      { source: 'tool', subject: 'Brenna', attribute: 'area', unit: 'km2', value: 21.5 },
      { source: 'tool', subject: 'Brenna', attribute: 'population', unit: '', value: 7400 },
      { source: 'tool', subject: 'Kallvik', attribute: 'ticket price', unit: 'Eur', value: 4 },
    ]),
  )
  expect(factsFromJson('tool', json)).toHaveLength(5)
})

test.each([
  ['Brenna has a population of 7,400.', 'supported'],
  ['Brenna has a population of 9,900.', 'contradicted'],
  ['Kallvik has an area of 3,000 hectares.', 'supported'],
  ['In Kallvik the ticket price is €5.', 'contradicted'],
  ['In Kallvik the ticket price is $4.', 'unverifiable'],
  ['The population is 9,900.', 'unverifiable'],
  ['Brenna has a population of 7,400 and Kallvik one of 9,900.', 'unverifiable'],
  ['Brenna had a population of 6,100 in 1950.', 'unverifiable'],
])('%s → %s', (text, verdict) => {
  expect(judgeByFacts({ text }, factsFromJson('tool', json)).verdict).toBe(verdict)
})

test('hostile JSON has no facts, or few', () => {
  expect(factsFromJson('t', '{"name": "a", "b": ')).toEqual([])
  expect(factsFromJson('t', `${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toEqual([])
  expect(factsFromJson('t', '{"__proto__": {"name": "x", "size": 1}}')).toHaveLength(1)
  expect(factsFromJson('t', `{"name": "${'x'.repeat(100)}", "size": 1}`)).toEqual([])
  const many = JSON.stringify(Array.from({ length: 50_000 }, (_, at) => ({ name: 'a', size: at })))
  expect(factsFromJson('t', many)).toHaveLength(10_000)
})
