import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { encodeForSigning, openEnvelope, signEnvelope } from './envelope.ts'
import { readKeyId, readPublicKeys, toJwks } from './public-keys.ts'

const type = 'application/vnd.in-toto+json'
/** The Ed25519 private key of RFC 8032, 7.1, test 1, in PKCS #8. */
const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'
const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex')
const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
const stranger = generateKeyPairSync('ed25519').privateKey
const keys = readPublicKeys(JSON.stringify(toJwks([key])))
const body = Buffer.from('{"ok":true}')
const envelope = signEnvelope(type, body, key)
const [signature = { keyid: '', sig: '' }] = envelope.signatures

const open = (value: unknown) => openEnvelope(JSON.stringify(value), type, keys)

describe('DSSE envelope', () => {
  test('encodes as the DSSE v1.0 specification, with lengths in bytes', () => {
    const encoded = encodeForSigning('http://example.com/HelloWorld', Buffer.from('hello world'))
    const wanted = 'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
    expect(encoded.toString()).toBe(wanted)
    expect(encodeForSigning('é', Buffer.from('ü')).toString()).toBe('DSSEv1 2 é 2 ü')
  })

  test('opens what was signed, also beside signatures of strangers', () => {
    expect(open(envelope)).toEqual({ payload: body, keyid: readKeyId(key) })
    const [other] = signEnvelope(type, body, stranger).signatures
    expect(open({ ...envelope, signatures: [other, signature] }).payload).toEqual(body)
  })

  const resigned = signEnvelope(type, body, stranger).signatures[0]?.sig
  const zeros = Buffer.alloc(64).toString('base64')
  const attacks: [string, unknown, string][] = [
    ['no signature', { ...envelope, signatures: [] }, 'no_signature'],
    ['an unknown key', signEnvelope(type, body, stranger), 'unknown_key'],
    ['a changed payload', { ...envelope, payload: 'e30=' }, 'bad_signature'],
    ['a changed payloadType', { ...envelope, payloadType: 'text/plain' }, 'bad_signature'],
    ['a signed other type', signEnvelope('text/plain', body, key), 'unexpected_payload_type'],
    ['bad base64', { ...envelope, payload: '!!' }, 'bad_base64'],
    ['base64url', { ...envelope, payload: '_-8=' }, 'bad_base64'],
    ['no padding', { ...envelope, payload: 'e30' }, 'bad_base64'],
    ['spare bits', { ...envelope, payload: 'e31=' }, 'bad_base64'],
    ['a stranger under our keyid', signedBy(resigned, zeros), 'bad_signature'],
    ['an empty signature', signedBy(''), 'bad_signature'],
    ['many signatures', signedBy(...Array<string>(17).fill(zeros)), 'not_an_envelope'],
    ['null', null, 'not_an_envelope'],
    ['more than 1 MiB', { ...envelope, x: 'x'.repeat(1_048_576) }, 'envelope_too_large'],
  ]
  test.each(attacks)('refuses %s', (_name, value, code) => {
    expect(() => open(value)).toThrow(expect.objectContaining({ code }))
  })

  function signedBy(...sigs: readonly (string | undefined)[]) {
    return { ...envelope, signatures: sigs.map((sig) => ({ keyid: readKeyId(key), sig })) }
  }
})

describe('public keys', () => {
  const [jwk] = toJwks([key]).keys

  test('are published with the x of RFC 8032 and without the private part', () => {
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'
    expect(jwk).toEqual({ kty: 'OKP', crv: 'Ed25519', x, kid: readKeyId(key), use: 'sig' })
  })

  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey
  const refused: [string, string][] = [
    ['a private PEM', key.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['an RSA key', rsa.export({ type: 'spki', format: 'pem' }).toString()],
    ['a private JWK', JSON.stringify({ keys: [{ ...jwk, d: jwk?.x }] })],
    ['a kid of another key', JSON.stringify({ keys: [{ ...jwk, kid: readKeyId(stranger) }] })],
    ['no keys', '{"keys":[]}'],
    ['text', 'key'],
  ]
  test.each(refused)('refuse %s', (_name, text) => {
    expect(() => readPublicKeys(text)).toThrow(expect.objectContaining({ code: 'bad_keys' }))
  })
})
