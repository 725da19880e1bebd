import { expect, test } from 'vitest'
import { parseTraceparent } from './trace-context.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'
const expected = {
  trace_id: '4bf92f35-77b3-4da6-a3ce-929d0e0e4736',
  parent_observation_id: parent,
}

test.each([
  `00-${trace}-${parent}-01`,
  `00-${trace}-${parent}-00`,
  `cc-${trace}-${parent}-01`,
  `cc-${trace}-${parent}-01-what-the-future-brings`,
])('takes %s', (header) => {
  expect(parseTraceparent(header)).toEqual(expected)
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
