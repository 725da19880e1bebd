import { type JsonObject, objectFrom, parsedJson, textFrom } from '../../../kernel/json-values.ts'
import type { MappedText, Range } from '../../provenance/text/index.ts'

/** An item of a list of sources. Its range is one of the readable text of its source. */
export type ListedSource = {
  /** Number that the list gives it; undefined for the items of an array without numbers. */
  label: string | undefined
  title: string
  url: string | undefined
  range: Range
  /** Whether the list has the text of the source and not only an excerpt of a page. */
  isWhole: boolean
}

/** Maximum items of all lists of a text, depth of JSON, and parsed characters of JSON. */
const items_max = 1_000
const depth_max = 64
const parsed_chars_max = 2_000_000
/** Length from which an item with a URL is more than an excerpt. */
const whole_chars_min = 400
const title_chars_max = 300

/** Reads the lists of sources in a text, each as its items in order. */
export function readSourceLists(text: string, mapped: MappedText): ListedSource[][] {
  return [...readJsonLists(text, mapped), ...readNumberedLists(breakAtStrings(text, mapped))]
}

/** Returns the readable text with each string of JSON on a line of its own, at the same offsets. */
function breakAtStrings(source: string, { text, pieces }: MappedText): string {
  const starts = pieces.filter((piece) => source[piece.source - 1] === '"' && piece.at > 0)
  if (starts.length === 0) return text
  const parts: string[] = []
  let from = 0
  for (const { at } of starts) {
    parts.push(text.slice(from, at - 1), '\n')
    from = at
  }
  return [...parts, text.slice(from)].join('')
}

const urlKeys = ['url', 'link', 'href', 'uri', 'source_url']
const titleKeys = ['title', 'name', 'document', 'filename', 'file_name', 'source', 'heading']
const numberKeys = ['index', 'position', 'rank', 'number', 'citation', 'ref', 'n', 'id']
const wholeKeys = ['content', 'text', 'body', 'page_content', 'markdown', 'raw_content', 'passage']
const excerptKeys = ['snippet', 'description', 'summary', 'excerpt']

function readJsonLists(text: string, mapped: MappedText): ListedSource[][] {
  let chars = 0
  const lists: ListedSource[][] = []
  for (const ranges of findObjectLists(text)) {
    const items = ranges.flatMap((range) => {
      chars += range[1] - range[0]
      if (chars > parsed_chars_max) return []
      const object = objectFrom(parsedJson(text.slice(...range)))
      return object === undefined ? [] : itemFromJson(object, toReadable(mapped, range))
    })
    if (items.length > 0 && items.length === ranges.length) lists.push(withNumbers(items))
  }
  return lists
}

function itemFromJson(object: JsonObject, range: Range): ListedSource[] {
  const first = (keys: readonly string[]) =>
    keys.map((key) => textFrom(object[key])).find((value) => value !== '') ?? ''
  const url = /^https?:\/\//i.test(first(urlKeys)) ? first(urlKeys) : undefined
  const title = first(titleKeys).slice(0, title_chars_max)
  const content = first(wholeKeys)
  const isSource =
    url !== undefined || content !== '' || (title !== '' && first(excerptKeys) !== '')
  if (!isSource) return []
  const label = numberKeys.map((key) => numberOf(object[key])).find((value) => value !== undefined)
  return [{ label, title, url, range, isWhole: content !== '' && !isCut(content) }]
}

/** Keeps numbers that count from 0 or 1. Others may be ids of a database. */
function withNumbers(items: readonly ListedSource[]): ListedSource[] {
  const first = Number(items[0]?.label)
  const isCounted =
    first <= 1 &&
    items.every(({ label }, at) => label !== undefined && Number(label) === first + at)
  return items.map((item) => ({ ...item, label: isCounted ? item.label : undefined }))
}

function numberOf(value: unknown): string | undefined {
  const written = typeof value === 'number' ? String(value) : textFrom(value)
  return /^\d{1,3}$/.test(written) ? written : undefined
}

function isCut(text: string): boolean {
  return /(?:…|\.{3})\s*$/.test(text.slice(-20))
}

type Bracket = { isArray: boolean; start: number; items: Range[] }

/** Finds the arrays whose items are objects, in one pass that ignores whether the JSON is valid. */
function findObjectLists(text: string): Range[][] {
  const lists: Range[][] = []
  const open: Bracket[] = []
  let count = 0
  for (const at of brackets(text)) {
    const token = text[at]
    if (token === '[' || token === '{') open.push({ isArray: token === '[', start: at, items: [] })
    else count += close(open, at, lists)
    if (open.length > depth_max || count > items_max) break
  }
  return lists
}

/** Closes a bracket. Returns 1 when it was that of an object in an array. */
function close(open: Bracket[], at: number, lists: Range[][]): number {
  const closed = open.pop()
  const parent = open.at(-1)
  if (closed?.isArray === true && closed.items.length > 0) lists.push(closed.items)
  if (closed?.isArray !== false || parent?.isArray !== true) return 0
  parent.items.push([closed.start, at + 1])
  return 1
}

/** Yields the positions of the brackets outside of strings, in one pass. */
function* brackets(text: string): Generator<number> {
  const next = /["[\]{}]/g
  const inString = /["\\]/g
  for (let match = next.exec(text); match !== null; match = next.exec(text)) {
    if (match[0] !== '"') yield match.index
    else {
      inString.lastIndex = match.index + 1
      for (let end = inString.exec(text); end?.[0] === '\\'; end = inString.exec(text)) {
        inString.lastIndex += 1
      }
      // An open string is the rest of the text.
      if (inString.lastIndex === 0) return
      next.lastIndex = inString.lastIndex
    }
  }
}

/** Returns the range of the readable text that was read from a range of the source. */
function toReadable({ pieces, text }: MappedText, [start, end]: Range): Range {
  const position = (at: number) => {
    let low = 0
    let high = pieces.length
    while (low < high) {
      const middle = (low + high) >> 1
      const { source = 0, taken = 0 } = pieces[middle] ?? {}
      if (source + taken > at) high = middle
      else low = middle + 1
    }
    const piece = pieces[low]
    if (piece === undefined) return text.length
    return piece.at + Math.min(piece.length, Math.max(0, at - piece.source))
  }
  return [position(start), position(end)]
}

/** Beginnings of the items of a list of sources. */
const markers: readonly RegExp[] = [
  /^[ \t>*-]{0,4}[[【]\^?(\d{1,3})[\]】][:.)]?(?=\s)/gm,
  /^[ \t#>*[-]{0,6}(?:source|document|doc|result|passage|reference|quelle|dokument|fuente)[ \t]{0,2}#?(\d{1,3})(?![\p{L}\p{N}])/gimu,
  /<(?:document|source|doc|result|passage)[ \t]{1,3}(?:index|id|number|n)[ \t]?=[ \t]?["']?(\d{1,3})(?!\d)/gi,
]
const plainMarker = /^[ \t]{0,4}(\d{1,3})[.)](?=[ \t])/gm
const url = /https?:\/\/[^\s<>"'`)\]}|]{3,2000}/i

function readNumberedLists(text: string): ListedSource[][] {
  const marked = markers.flatMap((marker) => runsOf(text, marker))
  const plain = runsOf(text, plainMarker).filter(
    (items) => items.length > 1 && items.every((item) => item.url !== undefined),
  )
  return [...marked, ...plain]
}

/** Returns the runs of items whose numbers follow each other. */
function runsOf(text: string, marker: RegExp): ListedSource[][] {
  const starts = [...text.matchAll(marker)].slice(0, items_max)
  const runs: ListedSource[][] = []
  let last = Number.NaN
  for (const [at, match] of starts.entries()) {
    const number = Number(match[1])
    const end = starts[at + 1]?.index ?? text.length
    const item = itemFromText(text, [match.index, end], {
      label: String(number),
      marked: match[0].length,
    })
    if (number === last + 1) runs.at(-1)?.push(item)
    else runs.push([item])
    last = number
  }
  return runs
}

function itemFromText(
  text: string,
  range: Range,
  { label, marked }: { label: string; marked: number },
): ListedSource {
  const written = text.slice(...range).trimEnd()
  const body = written.slice(marked)
  const found = url.exec(body)?.[0].replace(/[.,;:!?]+$/, '')
  const [line = ''] = body.trim().split('\n', 1)
  const title = line.replace(url, '').replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, '')
  const isLong = found === undefined ? body.trim() !== line : body.length >= whole_chars_min
  return {
    label,
    url: found,
    title: title.slice(0, title_chars_max),
    range: [range[0], range[0] + written.length],
    isWhole: isLong && !isCut(body),
  }
}
