import { expect, test } from 'vitest'
import { verifyStatement } from './statement.ts'

const type = 'application/vnd.in-toto+json'
const { subtle } = crypto
const bytesOf = (text: string) => new TextEncoder().encode(text)
const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))

type Pair = { privateKey: CryptoKey; publicKey: CryptoKey }
const newPair = async () => (await subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as Pair
const [own, stranger] = [await newPair(), await newPair()]

async function idOf({ publicKey }: Pair): Promise<string> {
  const digest = await subtle.digest('SHA-256', await subtle.exportKey('spki', publicKey))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function setOf(...pairs: Pair[]): Promise<string> {
  const keys = pairs.map(({ publicKey }) => subtle.exportKey('jwk', publicKey))
  return JSON.stringify({ keys: await Promise.all(keys) })
}

const predicate = {
  environment: 'prod',
  expires_at: '2026-12-29T00:00:00.000Z',
  issued_at: '2026-11-29T00:00:00.000Z',
  policy: { id: 'default', version: '1' },
  project_id: 'p1',
  release: { name: 'agent', version: '1.4.0' },
  verdict: 'certified',
}
const subject = [{ digest: { sha256: 'ab'.repeat(32) }, name: 'agent' }]
const payloadOf = (change: object = {}) =>
  JSON.stringify({
    _type: 'https://in-toto.io/Statement/v1',
    predicate: { ...predicate, ...change },
    predicateType: 'https://looptrace.dev/release-certification/v1',
    subject,
  })

async function signed(payload = payloadOf(), key = own, as = own, of = type) {
  const body = bytesOf(payload)
  const head = bytesOf(`DSSEv1 ${bytesOf(of).length} ${of} ${body.length} `)
  const sig = await subtle.sign('Ed25519', key.privateKey, new Uint8Array([...head, ...body]))
  const signatures = [{ keyid: await idOf(as), sig: base64(new Uint8Array(sig)) }]
  return { payloadType: of, payload: base64(body), signatures }
}

const expected = { project_id: 'p1', now_ms: Date.parse('2026-12-01T00:00:00Z') }
const verify = async (envelope: unknown, keys?: string, about: object = {}) =>
  verifyStatement(JSON.stringify(await envelope), keys ?? (await setOf(own)), {
    ...expected,
    ...about,
  })
const failed = async (...of: Parameters<typeof verify>) =>
  (await verify(...of)).checks.filter(({ isFine }) => !isFine).map(({ name }) => name)

test('a signed statement passes all checks', async () => {
  const { checks, statement } = await verify(signed(), await setOf(stranger, own), {
    verdict: 'certified',
    release: 'agent@1.4.0',
  })
  expect(checks.filter(({ isFine }) => !isFine)).toEqual([])
  expect(checks.map(({ name }) => name)).toContain('Signature')
  expect(statement).toMatchObject({ release: 'agent@1.4.0', verdict: 'certified' })
})

test('text outside ASCII is signed by its bytes', async () => {
  expect(await failed(signed(payloadOf({ environment: 'prüfung 測試' })))).toEqual([])
})

test('a changed, re-signed or repeated content has no valid signature', async () => {
  const good = await signed()
  const other = base64(bytesOf(payloadOf({ verdict: 'rejected' })))
  const [one = { keyid: '', sig: '' }] = good.signatures
  const twice = `{"predicate":{"verdict":"rejected"},${payloadOf().slice(1)}`
  const attacks: unknown[] = [
    { ...good, payload: other },
    { ...good, payloadType: 'text/plain' },
    { ...good, signatures: [] },
    { ...good, signatures: [{ ...one, sig: base64(new Uint8Array(64)) }] },
    { ...good, signatures: [{ ...one, sig: one.sig.replace('=', '') }] },
    { ...good, signatures: Array(17).fill(one) },
    signed(payloadOf(), stranger),
    signed(payloadOf(), stranger, stranger),
    signed(payloadOf(), own, own, 'text/plain'),
    signed(twice),
    signed('{"predicate":{}}'),
    null,
    'x',
  ]
  for (const attack of attacks) {
    const { checks, statement } = await verify(attack)
    expect(statement).toBeUndefined()
    expect(checks).toMatchObject([{ name: 'Signature', isFine: false }])
  }
})

test('a key set without the key, or without keys, proves nothing', async () => {
  for (const keys of [await setOf(stranger), '{"keys":[]}', '{}', 'x']) {
    expect(await failed(signed(), keys)).toEqual(['Signature'])
  }
})

test('a valid statement of another project, release or verdict, or an old one, is refused', async () => {
  expect(await failed(signed(payloadOf({ project_id: 'p2' })))).toEqual(['Project'])
  expect(await failed(signed(), undefined, { release: 'agent@1.5.0' })).toEqual(['Release'])
  expect(await failed(signed(payloadOf({ verdict: 'rejected' })))).toEqual(['Verdict'])
  expect(await failed(signed(), undefined, { verdict: 'rejected' })).toEqual([
    'Verdict on this page',
  ])
  const now_ms = Date.parse('2027-01-01T00:00:00Z')
  expect(await failed(signed(), undefined, { now_ms })).toEqual(['Validity'])
})
