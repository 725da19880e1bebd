/** The result of one check of a statement. */
export type Check = { name: string; isFine: boolean; detail: string }

/** The parts of a signed statement that people read. */
type Statement = {
  subject: string
  project_id: string
  release: string
  environment: string | null
  verdict: string
  policy: string
  issued_at: string
  expires_at: string
}

/** The results of all checks, and the statement if its signature is valid. */
export type Verification = { checks: Check[]; statement: Statement | undefined }

/** The project, release and verdict that a statement must have. */
export type Expected = { project_id: string; now_ms: number; verdict?: string; release?: string }

type Envelope = {
  payloadType: string
  payload: string
  signatures: { keyid: string; sig: string }[]
}

const payloadType = 'application/vnd.in-toto+json'
const predicateType = 'https://looptrace.dev/release-certification/v1'
const envelope_max = 1_048_576
const signatures_max = 16
/** DER of an Ed25519 SubjectPublicKeyInfo before the 32 bytes of the key (RFC 8410). */
const spkiHead = '302a300506032b6570032100'

/**
 * Checks a DSSE envelope with an in-toto statement against a JSON Web Key Set, with the browser's
 * own cryptography: signature (Ed25519 over the DSSE v1.0 encoding), form, project, verdict, age.
 */
export async function verifyStatement(
  text: string,
  keysText: string,
  expected: Expected,
): Promise<Verification> {
  try {
    const envelope = readEnvelope(text)
    const payload = fromBase64(envelope.payload, 'payload')
    const keyid = await findSigner(envelope, payload, await readKeys(keysText))
    const signed = { name: 'Signature', isFine: true, detail: `valid, by key ${keyid}` }
    const value = readPayload(envelope.payloadType, payload)
    const statement = statementOf(value)
    return { checks: [signed, ...checksOf(statement, expected)], statement }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { checks: [{ name: 'Signature', isFine: false, detail }], statement: undefined }
  }
}

function readEnvelope(text: string): Envelope {
  if (text.length > envelope_max) throw new Error('The statement is larger than 1 MiB')
  const value = parse(text) as Partial<Envelope> | undefined
  const signatures = value?.signatures
  const isEnvelope =
    typeof value?.payloadType === 'string' &&
    typeof value.payload === 'string' &&
    Array.isArray(signatures) &&
    signatures.length > 0 &&
    signatures.length <= signatures_max &&
    signatures.every((each) => typeof each?.sig === 'string' && typeof each.keyid === 'string')
  if (!isEnvelope) throw new Error('The file is not a signed statement (a DSSE envelope)')
  return value as Envelope
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Decodes base64 that has exactly one spelling: standard alphabet, padding, zero spare bits. */
function fromBase64(text: string, field: string): Uint8Array<ArrayBuffer> {
  try {
    const binary = atob(text)
    if (btoa(binary) === text) return Uint8Array.from(binary, (each) => each.charCodeAt(0))
  } catch {
    // Reported below.
  }
  throw new Error(`${field} is not standard base64`)
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Reads the Ed25519 keys of a set, by their own key id: SHA-256 of the SPKI, in hex. */
async function readKeys(text: string): Promise<Map<string, CryptoKey>> {
  const { subtle } = globalThis.crypto
  if (subtle === undefined) throw new Error('This check needs a page by HTTPS, or on localhost')
  const { keys } = (parse(text) ?? {}) as { keys?: { kty?: string; crv?: string; x?: string }[] }
  const found = new Map<string, CryptoKey>()
  for (const { kty, crv, x } of Array.isArray(keys) ? keys : []) {
    if (kty !== 'OKP' || crv !== 'Ed25519' || x === undefined) continue
    const padded = x.replaceAll('-', '+').replaceAll('_', '/').padEnd(44, '=')
    const raw = fromBase64(padded, 'x of a key')
    if (raw.length !== 32) throw new Error('A key has not 32 bytes')
    const spki = new Uint8Array([...fromHex(spkiHead), ...raw])
    const keyid = toHex(new Uint8Array(await subtle.digest('SHA-256', spki)))
    found.set(keyid, await subtle.importKey('raw', raw, { name: 'Ed25519' }, false, ['verify']))
  }
  if (found.size === 0) throw new Error('The key set has no Ed25519 key')
  return found
}

function fromHex(text: string): number[] {
  return (text.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16))
}

async function findSigner(
  { payloadType: type, signatures }: Envelope,
  payload: Uint8Array,
  keys: Map<string, CryptoKey>,
): Promise<string> {
  const encoder = new TextEncoder()
  const head = `DSSEv1 ${encoder.encode(type).length} ${type} ${payload.length} `
  const signed = new Uint8Array([...encoder.encode(head), ...payload])
  const known = signatures.filter(({ keyid }) => keys.has(keyid))
  if (known.length === 0)
    throw new Error('The statement was signed by a key that is not in the set')
  for (const { keyid, sig } of known) {
    const key = keys.get(keyid)
    const bytes = fromBase64(sig, 'sig')
    if (key && (await crypto.subtle.verify({ name: 'Ed25519' }, key, bytes, signed))) return keyid
  }
  throw new Error('The signature is not valid: the statement or its signature was changed')
}

function readPayload(type: string, payload: Uint8Array): unknown {
  if (type !== payloadType) throw new Error(`The payload has the type ${type}`)
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload)
  const value = parse(text)
  // With a repeated name, two readers could see two verdicts.
  if (value === undefined || canonical(value) !== text) {
    throw new Error('The payload is not JSON in its canonical form')
  }
  return value
}

/** Returns JSON with sorted names (RFC 8785). */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  const parts = names.map(
    (name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`,
  )
  return `{${parts.join(',')}}`
}

type Payload = {
  predicateType?: string
  subject?: { digest?: { sha256?: string } }[]
  predicate?: {
    project_id?: string
    release?: { name?: string; version?: string }
    environment?: string | null
    verdict?: string
    policy?: { id?: string; version?: string }
    issued_at?: string
    expires_at?: string
  }
}

function statementOf(value: unknown): Statement {
  const { predicateType: type, subject, predicate } = value as Payload
  const { release, policy, project_id, verdict, issued_at, expires_at } = predicate ?? {}
  const digest = subject?.[0]?.digest?.sha256
  if (
    type !== predicateType ||
    digest === undefined ||
    release === undefined ||
    project_id === undefined ||
    verdict === undefined ||
    issued_at === undefined ||
    expires_at === undefined
  ) {
    throw new Error('The payload is not a release certification')
  }
  return {
    subject: `sha256:${digest}`,
    project_id,
    release: `${release.name}@${release.version}`,
    environment: predicate?.environment ?? null,
    verdict,
    policy: `${policy?.id}, version ${policy?.version}`,
    issued_at,
    expires_at,
  }
}

function checksOf(statement: Statement, expected: Expected): Check[] {
  const { project_id, verdict, expires_at, release } = statement
  const equals = (name: string, value: string, wanted: string | undefined): Check[] =>
    wanted === undefined
      ? []
      : [
          {
            name,
            isFine: value === wanted,
            detail: value === wanted ? value : `${value}, not ${wanted}`,
          },
        ]
  const isValid = Date.parse(expires_at) > expected.now_ms
  return [
    ...equals('Project', project_id, expected.project_id),
    ...equals('Release', release, expected.release),
    ...equals('Verdict on this page', verdict, expected.verdict),
    { name: 'Verdict', isFine: verdict === 'certified', detail: verdict },
    {
      name: 'Validity',
      isFine: isValid,
      detail: `${isValid ? 'until' : 'expired at'} ${expires_at}`,
    },
  ]
}
