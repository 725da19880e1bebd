import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleMessage } from '../channels/sample-message.ts'
import { actionLinks, type IncidentLink, linkActions, readLink, signLink } from './link-token.ts'

const secret_key = 'a secret of at least 32 characters'
const links: fc.Arbitrary<IncidentLink> = fc.record({
  action: fc.constantFrom(...linkActions),
  project_id: fc.uuid(),
  message_id: fc.uuid(),
  expires_s: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
})

describe('a token', () => {
  test('says what was signed until its end, and is the same each time', () => {
    fc.assert(
      fc.property(links, (link) => {
        const token = signLink(link, secret_key)
        expect(signLink(link, secret_key)).toBe(token)
        const before = { secret_key, now_ms: link.expires_s * 1000 - 1 }
        expect(readLink(token, before)).toEqual(link)
        expect(readLink(token, { secret_key, now_ms: link.expires_s * 1000 })).toBeUndefined()
        expect(readLink(token, { ...before, secret_key: `${secret_key}!` })).toBeUndefined()
      }),
    )
  })

  test('is refused with any other character, shorter, longer, or made up', () => {
    const other = fc.constantFrom(...'ABCabc019-_')
    fc.assert(
      fc.property(links, fc.nat(97), other, (link, at, character) => {
        const token = signLink(link, secret_key)
        const changed = `${token.slice(0, at)}${character}${token.slice(at + 1)}`
        const read = readLink(changed, { secret_key, now_ms: 0 })
        if (changed === token) expect(read).toEqual(link)
        else expect(read).toBeUndefined()
      }),
      { numRuns: 400 },
    )
    fc.assert(
      fc.property(links, fc.string({ unit: 'binary' }), (link, text) => {
        const token = signLink(link, secret_key)
        for (const one of [text, `lta_${text}`, `${token}${text || 'A'}`, token.slice(0, -1)]) {
          expect(readLink(one, { secret_key, now_ms: 0 })).toBeUndefined()
        }
      }),
    )
  })
})

describe('links of a message', () => {
  const linksOf = (reason: Parameters<typeof sampleMessage>[0], state: 'open' | 'acknowledged') => {
    const [project_id, incident_id] = [crypto.randomUUID(), crypto.randomUUID()]
    const sample = sampleMessage(reason, {
      project_id,
      incident_id,
      now_ms: Date.UTC(2026, 10, 29),
    })
    const message = { ...sample, incident: { ...sample.incident, state } }
    const given = { public_url: 'https://looptrace.example/', secret_key }
    return actionLinks({ id: crypto.randomUUID(), message }, given)
  }

  test('acknowledge, resolve and snooze an open incident, with the token in the fragment', () => {
    const found = linksOf('opened', 'open')
    expect(Object.keys(found)).toEqual(['ack', 'resolve', 'snooze'])
    for (const url of Object.values(found)) {
      expect(url).toMatch(/^https:\/\/looptrace\.example\/incident#token=lta_[A-Za-z0-9_-]{94}$/)
    }
  })

  test('do not acknowledge twice, and end nothing that has ended', () => {
    expect(Object.keys(linksOf('raised', 'acknowledged'))).toEqual(['resolve', 'snooze'])
    expect(linksOf('resolved', 'open')).toEqual({})
    expect(linksOf('opened_and_resolved', 'open')).toEqual({})
  })
})
