import { expect, test } from 'vitest'
import { childTraceparent, parseTraceparent } from './trace-context.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'
const expected = {
  trace_id: '4bf92f35-77b3-4da6-a3ce-929d0e0e4736',
  parent_observation_id: parent,
}

test.each([
  [`00-${trace}-${parent}-01`, '01'],
  [`00-${trace}-${parent}-00`, '00'],
  [`cc-${trace}-${parent}-01`, '01'],
  [`cc-${trace}-${parent}-03-what-the-future-brings`, '03'],
])('takes %s', (header, flags) => {
  expect(parseTraceparent(header)).toEqual({ ...expected, flags })
})

test('the provider gets our span as the parent of its own', () => {
  const call = { trace_id: expected.trace_id, observation_id: 'aaaaaaaaaaaaaaaa' }
  const child = `00-${trace}-aaaaaaaaaaaaaaaa`
  expect(childTraceparent(call, undefined)).toBe(`${child}-01`)
  expect(childTraceparent(call, { flags: '00' })).toBe(`${child}-00`)
})

test.each([
  '',
  trace,
  `ff-${trace}-${parent}-01`,
  `00-${trace}-${parent}-01-more`,
  `00-${trace}-${parent}-1`,
  `00-${trace}-${parent}`,
  `cc-${trace}-${parent}-01more`,
  `00-${trace.toUpperCase()}-${parent}-01`,
  `00-${'0'.repeat(32)}-${parent}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  ` 00-${trace}-${parent}-01`,
  `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
])('refuses %s', (header) => {
  expect(parseTraceparent(header)).toBeUndefined()
})
