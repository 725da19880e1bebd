import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { adviceFor, baseUrlOf, clients, clientsTable, linesOf } from './clients.ts'

test('the guide has the table of the clients', async () => {
  const guide = await readFile('docs/guides/ways-in.md', 'utf8')
  expect(guide).toContain(`\n${clientsTable('http://127.0.0.1:8080').join('\n')}\n`)
})

test('each client has a name of its own', () => {
  expect(new Set(clients.map(({ name }) => name)).size).toBe(clients.length)
})

const keys = fc.stringMatching(/^lt_[A-Za-z0-9_]{8,40}$/)

test.each(clients)('$name: the key is in the lines only if it is asked for', (client) => {
  const url = 'https://traces.example:8443'
  fc.assert(
    fc.property(keys, (key) => {
      const shown = linesOf(client, { url, key }).join('\n')
      const masked = linesOf(client, { url }).join('\n')
      expect(shown).toContain(key)
      expect(masked).not.toMatch(/\blt_/)
      for (const text of [shown, masked]) {
        expect(text).toContain(url)
        expect(text).not.toMatch(/<url>|<key>/)
      }
      expect(masked).toContain('LOOPTRACE_API_KEY')
      expect(shown).not.toContain('LOOPTRACE_API_KEY')
    }),
  )
})

const withBaseUrl = clients.filter(({ base }) => base !== null)

test.each(withBaseUrl)('$name: its lines set its base URL', (client) => {
  for (const at of [{ url: 'https://traces.example' }, { url: 'http://[::1]:1', key: 'lt_$&' }]) {
    const base_url = baseUrlOf(client, at)
    expect(base_url).not.toContain('<key>')
    expect(linesOf(client, at).join('\n')).toContain(base_url)
  }
})

test('a client that can only set a base URL has the key in it', () => {
  const client = clients.find(({ name }) => name === 'base-url') ?? expect.fail('no such client')
  const url = 'https://traces.example'
  expect(baseUrlOf(client, { url, key: 'lt_abc' })).toBe('https://traces.example/k/lt_abc')
  expect(adviceFor(client).join('\n')).toContain('must end in "/k/" and the project key')
})
