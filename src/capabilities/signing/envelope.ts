import { type KeyObject, sign, verify } from 'node:crypto'
import { z } from 'zod'
import { parsedJson } from '../../kernel/json-values.ts'
import { type PublicKeys, readKeyId } from './public-keys.ts'
import { StatementFault } from './statement-fault.ts'

/** The largest envelope that is read, in bytes. */
const envelopeBytesMax = 1_048_576

/** A DSSE v1.0 envelope; `payload` and `sig` are padded standard base64. */
export type Envelope = z.infer<typeof envelopeSchema>

const envelopeSchema = z.object({
  payloadType: z.string(),
  payload: z.string(),
  signatures: z.array(z.object({ keyid: z.string(), sig: z.string() })).max(16),
})

/** Returns the bytes that are signed: the pre-authentication encoding of DSSE v1.0. */
export function encodeForSigning(type: string, body: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `
  return Buffer.concat([Buffer.from(head), body])
}

/** Signs a payload with an Ed25519 private key. */
export function signEnvelope(payloadType: string, body: Uint8Array, key: KeyObject): Envelope {
  const sig = sign(null, encodeForSigning(payloadType, body), key).toString('base64')
  const payload = Buffer.from(body).toString('base64')
  return { payloadType, payload, signatures: [{ keyid: readKeyId(key), sig }] }
}

/**
 * Returns the payload of an envelope if one of its signatures is valid under a known key with the
 * keyid of the signature. Throws a StatementFault otherwise.
 */
export function openEnvelope(
  text: string,
  payloadType: string,
  keys: PublicKeys,
): { payload: Buffer; keyid: string } {
  const envelope = readEnvelope(text)
  const payload = decodeBase64('payload', envelope.payload)
  const signatures = envelope.signatures.map(({ keyid, sig }) => ({
    key: keys.get(keyid),
    sig: decodeBase64('sig', sig),
    keyid,
  }))
  const signed = encodeForSigning(envelope.payloadType, payload)
  const valid = signatures.find(({ key, sig }) => key && verify(null, signed, key, sig))
  if (valid === undefined) throw noValidSignature(signatures)
  if (envelope.payloadType !== payloadType) {
    throw new StatementFault('unexpected_payload_type', `expected the payloadType ${payloadType}`)
  }
  return { payload, keyid: valid.keyid }
}

function readEnvelope(text: string): Envelope {
  if (Buffer.byteLength(text) > envelopeBytesMax) {
    throw new StatementFault('envelope_too_large', `expected at most ${envelopeBytesMax} bytes`)
  }
  const read = envelopeSchema.safeParse(parsedJson(text))
  if (read.success) return read.data
  const expected = 'expected JSON with payloadType, payload and 1–16 signatures {keyid, sig}'
  throw new StatementFault('not_an_envelope', expected)
}

/** Decodes base64 that has exactly one spelling: standard alphabet, padding, zero spare bits. */
function decodeBase64(field: string, text: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') === text) return bytes
  throw new StatementFault('bad_base64', `${field}: expected standard base64 with padding`)
}

function noValidSignature(signatures: readonly { key: KeyObject | undefined }[]): StatementFault {
  if (signatures.length === 0) {
    return new StatementFault('no_signature', 'expected at least one signature')
  }
  if (signatures.every(({ key }) => key === undefined)) {
    return new StatementFault('unknown_key', 'expected the keyid of one of the given keys')
  }
  return new StatementFault('bad_signature', 'expected a signature of this payload and payloadType')
}
