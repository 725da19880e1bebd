import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { proposeFilter, quoteValue, splitFilter } from '../../../ui/filter-language.ts'
import { parseTaskFilter, taskFields } from './task-filter.ts'

describe('a filter of tasks', () => {
  test.each([
    ['', {}],
    ['state:failed', { state: 'failed' }],
    ['STATE:Failed', { state: 'failed' }],
    ['severity:high kind:loop', { severity_min: 'high', finding_kind: 'loop' }],
    ['has:errors', { has_errors: true }],
    ['no:errors', { has_errors: false }],
    ['is:stalled not:implicit', { stalled: true, implicit: false }],
    ['user:"ada lovelace"', { user_id: 'ada lovelace' }],
    ['model:gpt-4.1 release:v1:2', { model: 'gpt-4.1', release: 'v1:2' }],
    ['cluster:eu-1', { cluster_name: 'eu-1' }],
    ['cost>0.1', { cost_usd_min: '0.1' }],
    ['cost>=$2', { cost_usd_min: '2' }],
    ['tokens>1.5k', { total_tokens_min: '1500' }],
    ['duration>2m', { duration_ms_min: '120000' }],
    ['duration>500ms', { duration_ms_min: '500' }],
    ['duration>10', { duration_ms_min: '10000' }],
    ['wasted>0.01 wasted_tokens>5', { wasted_cost_usd_min: '0.01', wasted_tokens_min: '5' }],
    ['trust>0.2 trust<=80%', { trust_min: 0.2, trust_max: 0.8 }],
    ['feedback:negative', { feedback: 'negative' }],
    ['  refund  of "an order" ', { q: 'refund of an order' }],
    ['refund state:running now', { q: 'refund now', state: 'running' }],
    ['"state:failed"', { q: 'state:failed' }],
  ])('%s', (text, query) => {
    expect(parseTaskFilter(text)).toEqual({ query, faults: [] })
  })

  test.each([
    ['colour:red', 'colour:red', 'not a field'],
    ['state:done', 'state:done', 'running, completed, failed'],
    ['cost:0.1', 'cost:0.1', 'cost>'],
    ['cost>cheap', 'cost>cheap', 'cost>0.1'],
    ['trust>7', 'trust>7', '0 to 1'],
    ['user:', 'user:', 'a value'],
    ['a state:failed b state:running', 'state:running', 'twice'],
  ])('%s is refused in part', (text, token, message) => {
    const { faults } = parseTaskFilter(text)
    expect(faults).toEqual([
      { at: text.lastIndexOf(token), token, message: expect.stringContaining(message) },
    ])
  })

  test('the other parts count beside a fault', () => {
    expect(parseTaskFilter('x colour:red state:failed').query).toEqual({ q: 'x', state: 'failed' })
  })

  test('no text makes it throw, and each part keeps its position', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        parseTaskFilter(text)
        for (const token of splitFilter(text)) {
          expect(text.slice(token.at, token.at + token.text.length)).toBe(token.text)
        }
      }),
    )
  })

  test('a quoted value is read back', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), (value) => {
        const plain = value.replaceAll('"', '')
        fc.pre(plain !== '')
        expect(parseTaskFilter(`user:${quoteValue(value)}`).query.user_id).toBe(plain)
      }),
    )
  })
})

describe('proposals', () => {
  const known = { model: ['gpt-4.1', 'claude 4'] }
  const textsOf = (text: string, cursor = text.length) =>
    proposeFilter(taskFields, { text, cursor, known }).proposals.map((each) => each.text)

  test('fields by their beginning; all of them for an empty part', () => {
    expect(textsOf('st')).toEqual(['state:'])
    expect(textsOf('cos')).toEqual(['cost>'])
    expect(textsOf('state:failed ')).toHaveLength(taskFields.length)
  })

  test('values of a field, and those that the rows have', () => {
    expect(textsOf('state:f')).toEqual(['state:failed'])
    expect(textsOf('x model:')).toEqual(['model:gpt-4.1', 'model:"claude 4"'])
    expect(textsOf('state:failed')).toEqual([])
  })

  test('replace the whole part at the cursor', () => {
    const { from, to } = proposeFilter(taskFields, { text: 'a state:com b', cursor: 9, known })
    expect([from, to]).toEqual([2, 11])
  })
})
