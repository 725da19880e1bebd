import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'

/** A self-signed certificate with its key, in PEM. */
export type TestCertificate = { cert: string; key: string }

/** Makes a certificate for a DNS name. It expired a day ago if `isExpired`. */
export function makeCertificate(name: string, { isExpired = false } = {}): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const day_ms = 24 * 60 * 60 * 1000
  const [from, to] = isExpired ? [-2, -1] : [-1, 1]
  const validity = der(tags.sequence, time(from * day_ms), time(to * day_ms))
  const algorithm = der(tags.sequence, der(tags.oid, ecdsaWithSha256))
  const subject = der(
    tags.sequence,
    der(tags.set, der(tags.sequence, der(tags.oid, commonName), der(tags.utf8, Buffer.from(name)))),
  )
  const names = der(tags.sequence, der(tags.dnsName, Buffer.from(name)))
  const extension = der(tags.sequence, der(tags.oid, subjectAltName), der(tags.octets, names))
  const body = der(
    tags.sequence,
    der(tags.version, der(tags.integer, Buffer.from([2]))),
    der(tags.integer, Buffer.from([1])),
    ...[algorithm, subject, validity, subject, publicKey],
    der(tags.extensions, der(tags.sequence, extension)),
  )
  const signature = sign('sha256', body, createPrivateKey(privateKey))
  const bits = der(tags.bits, Buffer.from([0]), signature)
  const certificate = der(tags.sequence, body, algorithm, bits).toString('base64')
  const cert = `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`
  return { cert, key: privateKey }
}

/** Tags of DER (X.690) and of the context-specific fields of X.509. */
const tags = {
  ...{ integer: 0x02, bits: 0x03, octets: 0x04, oid: 0x06, utf8: 0x0c, utcTime: 0x17 },
  ...{ sequence: 0x30, set: 0x31, dnsName: 0x82, version: 0xa0, extensions: 0xa3 },
} as const

const ecdsaWithSha256 = Buffer.from('2a8648ce3d040302', 'hex')
const commonName = Buffer.from('550403', 'hex')
const subjectAltName = Buffer.from('551d11', 'hex')

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

/** A UTCTime, this many ms from now. */
function time(ahead_ms: number): Buffer {
  const digits = new Date(Date.now() + ahead_ms).toISOString().replace(/\D/g, '').slice(2, 14)
  return der(tags.utcTime, Buffer.from(`${digits}Z`))
}
