import { hash } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'

/** Returns the leaves of evidence: canonical JSON of the items, sorted by id (UTF-16). */
export function evidenceLeaves(items: readonly { id: string }[]): Buffer[] {
  const sorted = items.toSorted((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)))
  return sorted.map((item) => Buffer.from(canonicalJson(item)))
}

/** Returns the Merkle tree hash of leaves: RFC 6962, 2.1. */
export function merkleRoot(leaves: readonly Uint8Array[]): Buffer {
  const [first] = leaves
  if (first === undefined) return hash('sha256', '', 'buffer')
  if (leaves.length === 1) return leafHash(first)
  const at = splitAt(leaves.length)
  return nodeHash(merkleRoot(leaves.slice(0, at)), merkleRoot(leaves.slice(at)))
}

/** Returns the largest power of two below a count of at least 2. */
function splitAt(leaves: number): number {
  let at = 1
  while (at * 2 < leaves) at *= 2
  return at
}

function leafHash(data: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([Uint8Array.of(0), data]), 'buffer')
}

function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([Uint8Array.of(1), left, right]), 'buffer')
}
