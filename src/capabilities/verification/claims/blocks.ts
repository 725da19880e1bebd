import { splitLines } from '../../provenance/text/index.ts'

/** A part of a text: code, a heading, a table's row, a list's item or a paragraph. */
export type Block = {
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
export function readBlocks(text: string): Block[] {
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
