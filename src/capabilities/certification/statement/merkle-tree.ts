import { hash } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'

/** A proof that a leaf is in a tree: sibling hashes from the leaf up (RFC 6962, 2.1.1). */
export type InclusionProof = { index: number; leaves: number; path: readonly Buffer[] }

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

/** Returns the proof for the leaf at an index. Throws a RangeError for an index without a leaf. */
export function proveInclusion(leaves: readonly Uint8Array[], index: number): InclusionProof {
  if (!isIndex(index, leaves.length)) throw new RangeError(`no leaf ${index}`)
  return { index, leaves: leaves.length, path: auditPath(leaves, index) }
}

/** Returns whether the proof leads from the leaf to the root (RFC 9162, 2.1.3.2). */
export function isIncluded(leaf: Uint8Array, proof: InclusionProof, root: Uint8Array): boolean {
  if (!isIndex(proof.index, proof.leaves)) return false
  const computed = rootFrom(leafHash(leaf), proof)
  return computed?.equals(root) ?? false
}

function auditPath(leaves: readonly Uint8Array[], index: number): Buffer[] {
  if (leaves.length === 1) return []
  const at = splitAt(leaves.length)
  const [left, right] = [leaves.slice(0, at), leaves.slice(at)]
  if (index < at) return [...auditPath(left, index), merkleRoot(right)]
  return [...auditPath(right, index - at), merkleRoot(left)]
}

/** Returns undefined when the path has too few or too many hashes for the size of the tree. */
function rootFrom(leaf: Buffer, { index, leaves, path }: InclusionProof): Buffer | undefined {
  if (leaves === 1) return path.length === 0 ? leaf : undefined
  const sibling = path.at(-1)
  if (sibling?.length !== 32) return undefined
  const at = splitAt(leaves)
  const rest = path.slice(0, -1)
  if (index < at) {
    const left = rootFrom(leaf, { index, leaves: at, path: rest })
    return left && nodeHash(left, sibling)
  }
  const right = rootFrom(leaf, { index: index - at, leaves: leaves - at, path: rest })
  return right && nodeHash(sibling, right)
}

function isIndex(index: number, leaves: number): boolean {
  return Number.isSafeInteger(leaves) && Number.isInteger(index) && index >= 0 && index < leaves
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
