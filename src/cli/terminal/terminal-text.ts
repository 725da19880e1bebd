import { printable } from '../../kernel/printable.ts'

/** Letters and symbols that take two columns: East Asian wide and full-width ones. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
const invisible = /^(?:\p{Mn}|\p{Me}|\u200c|\u200d|[\ufe00-\ufe0f])+$/u
const ascii = /^[ -~]*$/

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Returns the columns that printable text takes at a terminal. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment)
  return width
}

function widthOfGrapheme(grapheme: string): number {
  if (invisible.test(grapheme)) return 0
  return wide.test(grapheme) ? 2 : 1
}

/** Characters that are looked at for one column; combining marks beyond them are cut. */
const maxCharsOfColumn = 16

/** Cuts printable text to a number of columns; the last one then is `…`. */
export function cutTo(text: string, columns: number): string {
  if (text.length <= columns && ascii.test(text)) return text
  const candidate = text.slice(0, Math.max(columns, 1) * maxCharsOfColumn)
  if (candidate.length === text.length && widthOf(text) <= columns) return text
  let width = 0
  let kept = ''
  for (const { segment } of graphemes.segment(candidate)) {
    width += widthOfGrapheme(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return columns < 1 ? '' : `${kept.trimEnd()}…`
}

/** Fills text up to a number of columns with spaces. */
export function padTo(text: string, columns: number, side: 'left' | 'right'): string {
  const spaces = ' '.repeat(Math.max(0, columns - widthOf(text)))
  return side === 'right' ? `${spaces}${text}` : `${text}${spaces}`
}

/**
 * Makes content one line that is safe for a terminal: line ends are `⏎`, tabs are spaces, and other
 * control characters and those that change the direction of text are written as JSON escapes.
 */
export function oneLine(content: string): string {
  return printable(
    content
      .trim()
      .replaceAll(/\s*\r?\n\s*/g, ' ⏎ ')
      .replaceAll('\t', ' '),
  )
}

/** Breaks printable text at spaces into lines of at most `columns`; a longer word is broken. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((one) => piecesOf(one, columns))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && widthOf(longer) > columns) {
      lines.push(line)
      line = word
    } else {
      line = longer
    }
  }
  return [...lines, line]
}

function piecesOf(word: string, columns: number): string[] {
  if (widthOf(word) <= columns) return [word]
  const pieces = ['']
  let width = 0
  for (const { segment } of graphemes.segment(word)) {
    const more = widthOfGrapheme(segment)
    if (width + more > columns && width > 0) {
      pieces.push('')
      width = 0
    }
    pieces.push(`${pieces.pop()}${segment}`)
    width += more
  }
  return pieces
}
