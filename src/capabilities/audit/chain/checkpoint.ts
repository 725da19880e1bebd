import { hash, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { parsedJson } from '../../../kernel/json-values.ts'
import {
  type Envelope,
  openEnvelope,
  type PublicKeys,
  StatementFault,
  signEnvelope,
} from '../../signing/index.ts'

/** The payloadType of checkpoints in DSSE envelopes. */
const payloadType = 'application/vnd.looptrace.audit-checkpoint+json'

const hex = z.string().regex(/^[0-9a-f]{64}$/)
const position = z.int().min(0)

const checkpoint = z.strictObject({
  /** `head`: the chain had this record. `pruned`: retention deleted the records up to this one. */
  kind: z.enum(['head', 'pruned']),
  chain_id: z.uuid(),
  /** Number of the last record. */
  seq: position,
  /** Records in the store: seq without the deleted prefix. */
  count: position,
  /** Hash of the record `seq`. */
  head: hex,
  time: z.iso.datetime(),
  /** Digest of the checkpoint of this chain before this one; null for the first one. */
  previous: hex.nullable(),
})

/** A signed statement that a chain had a head at a time. */
export type Checkpoint = z.infer<typeof checkpoint>

/** A checkpoint that was read from a signed envelope. */
export type SignedCheckpoint = Checkpoint & { digest: string; keyid: string }

/** Signs a checkpoint with an Ed25519 private key. */
export function signCheckpoint(value: Checkpoint, key: KeyObject): Envelope {
  return signEnvelope(payloadType, encodeCheckpoint(value), key)
}

/** Returns the digest by which the next checkpoint names this one: SHA-256 of the payload. */
export function digestCheckpoint(value: Checkpoint): string {
  return hash('sha256', encodeCheckpoint(value))
}

/** Reads an envelope with a valid signature. Throws a StatementFault otherwise. */
export function openCheckpoint(text: string, keys: PublicKeys): SignedCheckpoint {
  const { payload, keyid } = openEnvelope(text, payloadType, keys)
  const read = checkpoint.safeParse(parsedJson(payload.toString()))
  if (!read.success) {
    throw new StatementFault('not_a_statement', 'payload: expected a checkpoint of an audit chain')
  }
  return { ...read.data, digest: hash('sha256', payload), keyid }
}

function encodeCheckpoint(value: Checkpoint): Buffer {
  return Buffer.from(canonicalJson(value))
}
