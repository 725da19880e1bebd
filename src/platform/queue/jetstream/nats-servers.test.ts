import { expect, test } from 'vitest'
import { natsServers } from './nats-servers.ts'

test('parses addresses with or without scheme and user', () => {
  expect(natsServers(['nats://one:4222', 'two:4223', 'nats://[::1]:4224', 'three'])).toEqual({
    addresses: ['one:4222', 'two:4223', '[::1]:4224', 'three'],
    credentials: undefined,
    tls: false,
  })
})

test('parses a user with a password, percent-decoded, or a token', () => {
  expect(natsServers(['nats://me:p%40ss@one:4222', 'nats://two:4222'])).toEqual({
    addresses: ['one:4222', 'two:4222'],
    credentials: { kind: 'password', user: 'me', password: 'p@ss' },
    tls: false,
  })
  expect(natsServers(['tls://to%2Fken@one:4222'])).toEqual({
    addresses: ['one:4222'],
    credentials: { kind: 'token', token: 'to/ken' },
    tls: true,
  })
})

test.each(['', 'http://one:4222', 'nats://', 'nats://user:pass word@'])(
  'refuses "%s"',
  (address) => {
    expect(() => natsServers(['nats://one:4222', address])).toThrow(
      'NATS server 2: expected nats://host:port or tls://host:port',
    )
  },
)
