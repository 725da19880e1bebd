import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf, serious } from '../../../../../test/support/failure-findings.ts'
import { toolArguments } from './tool-arguments.ts'

const book = {
  name: 'book_table',
  parameters: {
    type: 'object',
    properties: {
      guests: { type: 'integer', minimum: 1 },
      area: { type: 'string', enum: ['inside', 'terrace'] },
    },
    required: ['guests'],
    additionalProperties: false,
  },
}
const booked = (args: unknown, result = 'Error: not booked') =>
  agentRun('book', { tools: [book] })
    .user('A table, please.')
    .tool({ name: 'book_table', args }, result)
    .assistant('It did not work.')

test.each([
  ['a missing field', {}, 'guests'],
  ['a word for a number', { guests: 'four' }, 'integer'],
  ['a value outside the list', { guests: 2, area: 'roof' }, 'terrace'],
  ['an undeclared field', { guests: 2, why: 'x' }, 'why'],
])('%s violates the schema', (_what, args, expected) => {
  const [finding] = findingsOf(toolArguments, booked(args))
  expect(finding).toMatchObject({
    type: 'arguments_invalid',
    severity: 'medium',
    start_step: 0,
    recovered: false,
  })
  expect(JSON.stringify(finding?.evidence['violation'])).toContain(expected)
})

test.each(['{"guests":', "{'guests': 2}", 'Sure! {"guests": 2}'])('%s is not JSON', (args) => {
  expect(findingsOf(toolArguments, booked(args))).toMatchObject([
    { type: 'arguments_not_json', severity: 'medium' },
  ])
})

describe('healthy twins', () => {
  test('valid arguments, and empty ones', () => {
    expect(findingsOf(toolArguments, booked({ guests: 2, area: 'inside' }))).toEqual([])
    const bare = agentRun('bare', { tools: ['now'] })
      .user('x')
      .tool({ name: 'now', args: '' }, '12:00')
    expect(findingsOf(toolArguments, bare.assistant('Noon.'))).toEqual([])
  })

  test('the model corrects them', () => {
    const run = agentRun('corrected', { tools: [book] })
      .user('A table, please.')
      .tool({ name: 'book_table', args: { guests: 'four' } }, 'Error: guests must be an integer')
      .tool({ name: 'book_table', args: { guests: 4 } }, 'booked')
      .assistant('Booked.')
    expect(findingsOf(toolArguments, run)).toMatchObject([{ recovered: true, severity: 'low' }])
  })

  test('the tool accepts them anyway', () => {
    expect(serious(findingsOf(toolArguments, booked({ guests: '4' }, 'booked')))).toEqual([])
  })

  test('a tool with free text', () => {
    const run = agentRun('patch', { tools: ['apply_patch'] })
      .user('x')
      .tool({ name: 'apply_patch', args: '*** Begin Patch\n+ x' }, 'Error: no such file')
      .assistant('y')
    expect(findingsOf(toolArguments, run)).toEqual([])
  })

  test('schema checks can be switched off', () => {
    const settings = { check_schemas: false }
    expect(findingsOf(toolArguments, booked({}), { settings })).toEqual([])
  })
})
