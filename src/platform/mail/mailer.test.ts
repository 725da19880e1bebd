import { expect, test } from 'vitest'
import { parseSmtpUrl, SmtpUrlRefused } from './mailer.ts'

test.each([
  ['smtps://mail.example.com', { port: 465, tls: 'always' }],
  ['smtp://mail.example.com', { port: 587, tls: 'starttls' }],
  ['smtp://mail.example.com:25', { port: 25, tls: 'starttls' }],
  ['smtp://relay?tls=off', { host: 'relay', tls: 'optional' }],
  ['smtp://127.0.0.1:2525', { host: '127.0.0.1', port: 2525, tls: 'optional' }],
  ['smtp://[::1]:2525', { host: '::1', tls: 'optional' }],
  ['smtp://127.0.0.1.example.com', { tls: 'starttls' }],
  ['smtps://me%40x:p%3Aw@mail', { auth: { user: 'me@x', pass: 'p:w' } }],
])('%s', (url, expected) => {
  expect(parseSmtpUrl(url)).toMatchObject(expected)
})

test.each([
  'hunter2',
  'http://me:hunter2@mail',
  'smtp://me:hunter2@mail/path',
  'smtp://me:hunter2@mail?tls.rejectUnauthorized=false',
  'smtps://me:hunter2@mail?tls=off',
  'smtps://me:%zzhunter2@mail',
])('%s is refused, and not quoted', (url) => {
  expect(() => parseSmtpUrl(url)).toThrow(SmtpUrlRefused)
  expect(() => parseSmtpUrl(url)).not.toThrow('hunter2')
})
