import { expect, test } from 'vitest'
import { linkOf } from './invitation-link.ts'

test.each([
  [
    { accept_url: 'https://a.example/invitation#token=x', token: 'x' },
    'https://a.example/invitation#token=x',
  ],
  [{ accept_url: null, token: 'lti_x' }, 'http://here/invitation#token=lti_x'],
  [{ accept_url: null, token: null }, undefined],
  [{}, undefined],
])('the link of %j is %s', (reply, link) => {
  expect(linkOf(reply, 'http://here')).toBe(link)
})
