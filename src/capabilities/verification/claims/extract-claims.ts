import { type Part, splitLines, splitSentences } from '../../provenance/text/index.ts'
import { type DropReason, findDropReason } from './non-claims.ts'

/** A statement of an answer. Offsets are UTF-16 units of the answer, as a browser slices. */
export type Claim = {
  text: string
  start: number
  end: number
  kind: 'sentence' | 'clause' | 'list_item' | 'table_row'
}

/** A part of an answer that makes no claim. */
type Dropped = { text: string; start: number; end: number; reason: DropReason }

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

const joint =
  /(?:;|,? (?:and|but|while|whereas|und|aber|während|et|mais|tandis que|y|pero|mientras)) (?=\S)/gu

/** Verbs of an independent clause. */
const verb =
  /(?<![\p{L}])(?:is|are|was|were|has|have|had|can|may|must|will|would|costs?|pays?|needs?|gets?|takes?|rose|fell|grew|ist|sind|war|waren|hat|haben|kann|muss|wird|werden|kostet|kosten|est|sont|était|a|ont|peut|doit|coûte|es|son|fue|era|tiene|tienen|puede|cuesta)(?![\p{L}])/iu

const subordinate =
  /(?<![\p{L}])(?:if|unless|since|because|although|provided|wenn|falls|weil|da|obwohl|si|puisque|parce|car|aunque|porque|ya que)(?![\p{L}])/iu

const figure =
  /\d|(?<![\p{L}])(?:two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|deux|trois|quatre|cinq|dos|tres|cuatro|cinco)(?![\p{L}])/iu

/** The first half of "between three and four hours". */
const range = /(?<!\p{L})(?:between|both|zwischen|entre) \S+(?: \S+)?$/iu

/** Maximum characters of a sentence that is split. */
const sentence_chars_max = 2000

/**
 * Splits a sentence into clauses, only where each side has its own verb and its own number or name.
 */
function splitClauses(text: string, sentence: Part): Part[] {
  if (sentence.end - sentence.start > sentence_chars_max) return [sentence]
  // A statement and its condition or reason are one claim.
  if (subordinate.test(text.slice(sentence.start, sentence.end))) return [sentence]
  const parts: Part[] = []
  let from = sentence.start
  for (const match of text.slice(sentence.start, sentence.end).matchAll(joint)) {
    const at = sentence.start + match.index
    const next = at + match[0].length
    if (range.test(text.slice(from, at))) continue
    if (!isClause(text.slice(from, at)) || !isClause(text.slice(next, sentence.end))) continue
    // The next clause must be complete before its next joint. Later clauses are checked in turn.
    if (!startsClause(text.slice(next, sentence.end))) continue
    parts.push({ start: from, end: at })
    from = next
  }
  parts.push({ start: from, end: sentence.end })
  return parts
}

function isClause(part: string): boolean {
  return verb.test(part) && (figure.test(part) || hasName(part)) && isBalanced(part)
}

/** Returns whether a subject and then a verb come first, before any other joint. */
function startsClause(rest: string): boolean {
  const first = rest.split(/[,;:]/, 1)[0] ?? ''
  const start = first.split(/\s+/).slice(0, 8).join(' ')
  return (
    verb.test(start) &&
    !verb.test(first.split(/\s+/, 1)[0] ?? '') &&
    (figure.test(first) || hasName(first))
  )
}

function hasName(part: string): boolean {
  return /(?<=\S\s)\p{Lu}[\p{L}\d]+|^\p{Lu}\p{L}+ \p{Lu}/u.test(part)
}

function isBalanced(part: string): boolean {
  const count = (sign: string) => part.split(sign).length
  return count('(') === count(')') && count('"') % 2 === 1 && count('“') === count('”')
}

/** A part of a text: code, a heading, a table's row, a list's item or a paragraph. */
type Block = {
  kind: 'code' | 'heading' | 'table_head' | 'table_row' | 'list_item' | 'paragraph'
  /** Offsets without the marks of Markdown at both ends. */
  start: number
  end: number
}

type Line = { text: string; start: number }

const fence = /^ {0,3}(```|~~~)/
const rule = /^[\s|:*_=-]{3,}$/
const marker = /^[\s>]{0,40}(?:[-*+•]|\(?\d{1,3}[.)])[ \t]+(?:\[[ xX]\] )?/

/** Splits Markdown or plain text into blocks. Marks of lists and quotations are left out. */
function readBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let codeFrom: number | undefined
  for (const [start, end] of splitLines(text)) {
    const line = { text: text.slice(start, end), start }
    if (fence.test(line.text)) {
      if (codeFrom !== undefined) blocks.push({ kind: 'code', start: codeFrom, end })
      codeFrom = codeFrom === undefined ? line.start : undefined
    } else if (codeFrom === undefined) {
      addLine(blocks, line)
    }
  }
  // A fence that never closes: the rest is code.
  if (codeFrom !== undefined) blocks.push({ kind: 'code', start: codeFrom, end: text.length })
  return blocks
}

function addLine(blocks: Block[], { text, start }: Line): void {
  if (text.trim() === '') return
  if (text.includes('|') && rule.test(text)) {
    markHead(blocks)
    return
  }
  if (rule.test(text)) return
  const kind = kindOf(text)
  const marks = markLength(kind, text)
  const end = start + text.trimEnd().length
  const last = blocks.at(-1)
  const isWrapped = kind === 'paragraph' && last !== undefined && continues(last, start, text)
  if (isWrapped) last.end = end
  else if (start + marks < end) blocks.push({ kind, start: start + marks, end })
}

/** The line above the rule of a table names its columns. */
function markHead(blocks: Block[]): void {
  const last = blocks.at(-1)
  if (last?.kind === 'table_row') last.kind = 'table_head'
}

function kindOf(text: string): Block['kind'] {
  if (/^[\s>]{0,40}#{1,6}\s/.test(text)) return 'heading'
  if (/^\s{0,40}\|.*\|/.test(text)) return 'table_row'
  if (/^\s{0,40}\*\*[^*\n]{1,100}\*\*:?\s*$/.test(text)) return 'heading'
  return marker.test(text) ? 'list_item' : 'paragraph'
}

function markLength(kind: Block['kind'], text: string): number {
  if (kind === 'list_item') return marker.exec(text)?.[0].length ?? 0
  return /^[\s>#]{0,40}/.exec(text)?.[0].length ?? 0
}

/** Returns whether a line goes on with the sentence of the block right before it. */
function continues(last: Block, start: number, text: string): boolean {
  const isNext = last.end + 3 >= start && (last.kind === 'paragraph' || last.kind === 'list_item')
  const isIndented = last.kind === 'list_item' && /^[ \t]{2,40}\S/.test(text)
  return isNext && (isIndented || /^[ \t]{0,40}\p{Ll}/u.test(text))
}
