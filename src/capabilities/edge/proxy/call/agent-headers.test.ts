import { expect, test } from 'vitest'
import { readAgentHeaders } from './agent-headers.ts'

test('a header that came twice names no session, also if its first value is not valid', () => {
  const name = 'x-session-id'
  expect(readAgentHeaders([name, 'a'])).toEqual({ [name]: 'a' })
  for (const first of ['a', '', 'x'.repeat(257), 'a\u0007']) {
    expect(readAgentHeaders([name, first, name, 'b'])).toBeUndefined()
    expect(readAgentHeaders([name, first, name, 'b', name, 'c'])).toBeUndefined()
  }
  expect(readAgentHeaders([name, 'a', name, 'b', 'x-session-affinity', 'c'])).toEqual({
    'x-session-affinity': 'c',
  })
})
