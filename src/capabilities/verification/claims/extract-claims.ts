import { type Part, splitSentences } from '../../provenance/text/index.ts'
import { type Block, readBlocks } from './blocks.ts'
import { splitClauses } from './clauses.ts'
import { type DropReason, findDropReason } from './non-claims.ts'

/** A statement of an answer. Offsets are UTF-16 units of the answer, as a browser slices. */
export type Claim = {
  text: string
  start: number
  end: number
  kind: 'sentence' | 'clause' | 'list_item' | 'table_row'
}

/** A part of an answer that makes no claim. */
export type Dropped = { text: string; start: number; end: number; reason: DropReason }

export type Claims = { claims: Claim[]; dropped: Dropped[] }

/** Maximum characters read of an answer, and claims of it. */
const text_chars_max = 2_000_000
const claims_max = 20_000

/** Extracts the claims of an answer: plain text or Markdown, best in English. */
export function extractClaims(answer: string): Claims {
  const text = answer.slice(0, text_chars_max)
  const found: Claims = { claims: [], dropped: [] }
  for (const block of readBlocks(text)) {
    if (found.claims.length >= claims_max) break
    readBlock(text, block, found)
  }
  return found
}

function readBlock(text: string, block: Block, found: Claims): void {
  const { kind } = block
  if (kind === 'code' || kind === 'heading' || kind === 'table_head') {
    found.dropped.push({ ...slice(text, block), reason: kind })
    return
  }
  if (kind === 'table_row') {
    found.claims.push({ ...slice(text, block), kind })
    return
  }
  for (const sentence of splitSentences(text, block)) {
    const reason = findDropReason(text.slice(sentence.start, sentence.end))
    if (reason !== undefined) found.dropped.push({ ...slice(text, sentence), reason })
    else addClauses(text, sentence, { kind, found })
  }
}

type Target = { kind: 'list_item' | 'paragraph'; found: Claims }

function addClauses(text: string, sentence: Part, { kind, found }: Target): void {
  const clauses = splitClauses(text, sentence)
  const whole = kind === 'paragraph' ? 'sentence' : kind
  for (const clause of clauses) {
    found.claims.push({ ...slice(text, clause), kind: clauses.length > 1 ? 'clause' : whole })
  }
}

function slice(text: string, { start, end }: Part): { text: string; start: number; end: number } {
  return { text: text.slice(start, end), start, end }
}
