import { expect, test } from 'vitest'
import { behind, readKey, splitExpressions, upTo } from './sorting-key.ts'

const key = [
  { expression: 'project_id', type: 'UUID' },
  { expression: 'name', type: 'LowCardinality(String)' },
]

test.each([
  ['a', ['a']],
  ['a, b', ['a', 'b']],
  ["p, toDate(t, 'UTC'), if(a, f(b, c), d)", ['p', "toDate(t, 'UTC')", 'if(a, f(b, c), d)']],
  ['', []],
])('splits %j at its outer commas', (list, parts) => {
  expect(splitExpressions(list)).toEqual(parts)
})

test('selects texts as hex digits, which survive JSON', () => {
  expect(readKey(key)).toBe('toString(project_id) AS key_0, hex(name) AS key_1')
})

test('compares column by column, in the form that an index can use', () => {
  expect(behind(key, ['u', '6E'])).toEqual({
    sql: '((project_id > {after_0:UUID}) OR (project_id = {after_0:UUID} AND name > unhex({after_1:String})))',
    params: { after_0: 'u', after_1: '6E' },
  })
  expect(upTo(key, ['u', '6E']).sql).toBe(
    '((project_id < {until_0:UUID}) OR (project_id = {until_0:UUID} AND name < unhex({until_1:String})) OR (project_id = {until_0:UUID} AND name = unhex({until_1:String})))',
  )
})
