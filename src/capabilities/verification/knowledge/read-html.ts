import {
  decodeEntity,
  entityOrSpace,
  type MappedText,
  TextBuilder,
} from '../../provenance/text/index.ts'

/** Elements whose content is not text of the page. */
const unreadElements = new Set('script style noscript template svg iframe object'.split(' '))
const blockElements = new Set(
  (
    'address article aside blockquote body br caption dd details div dl dt fieldset figcaption ' +
    'figure footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol p pre section ' +
    'summary table tbody tfoot thead title tr ul'
  ).split(' '),
)
const cellElements = new Set(['td', 'th'])

/** Reads the text of an HTML page in one pass: tags open no recursion, so depth costs nothing. */
export function readHtml(source: string): MappedText {
  return new HtmlReader(source).read()
}

class HtmlReader {
  readonly #source: string
  readonly #builder: TextBuilder
  /** False after a tag whose quotes never close: from there on quotes are not interpreted. */
  #quotesClose = true

  constructor(source: string) {
    this.#source = source
    this.#builder = new TextBuilder(source)
  }

  read(): MappedText {
    let at = 0
    while (at < this.#source.length) {
      const open = this.#source.indexOf('<', at)
      const end = open === -1 ? this.#source.length : open
      this.#readText(at, end)
      at = open === -1 ? end : this.#readMarkup(open)
    }
    return this.#builder.finish()
  }

  /** Reads a tag or a comment and returns where the text goes on. */
  #readMarkup(open: number): number {
    const source = this.#source
    if (source.startsWith('<!--', open)) {
      const close = source.indexOf('-->', open + 4)
      return close === -1 ? source.length : close + 3
    }
    const name = tagName(source, open)
    if (name === undefined) {
      this.#builder.copy(open, open + 1)
      return open + 1
    }
    const end = this.#endOfTag(open)
    const isOpening = source[open + 1] !== '/'
    if (isOpening && unreadElements.has(name)) return endOfElement(source, name, end)
    if (blockElements.has(name)) this.#builder.line(open)
    else if (cellElements.has(name) && isOpening && this.#builder.last !== '\n') {
      this.#builder.write(' | ', open)
    }
    return end
  }

  #endOfTag(open: number): number {
    const source = this.#source
    const quoted = this.#quotesClose ? endOfQuotedTag(source, open) : undefined
    if (quoted !== undefined) return quoted
    this.#quotesClose = false
    const close = source.indexOf('>', open)
    return close === -1 ? source.length : close + 1
  }

  /** Copies text with its white space collapsed and its entities decoded. */
  #readText(start: number, end: number): void {
    const text = this.#source.slice(start, end)
    let at = 0
    for (const match of text.matchAll(entityOrSpace)) {
      const [written] = match
      const from = start + match.index
      this.#builder.copy(start + at, from)
      const read = written.startsWith('&') ? decodeEntity(written) : ' '
      if (read.trim() === '') this.#builder.space(from)
      else this.#builder.write(read, from, written.length)
      at = match.index + written.length
    }
    this.#builder.copy(start + at, end)
  }
}

/** Returns the end of a tag whose quoted values may contain `>`; undefined if none is found. */
function endOfQuotedTag(source: string, open: number): number | undefined {
  let quote = ''
  for (let at = open + 1; at < source.length; at++) {
    const char = source[at] ?? ''
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '>') return at + 1
    else if (char === '"' || char === "'") quote = char
  }
  return undefined
}

function tagName(source: string, open: number): string | undefined {
  const name = /<[/!?]?([a-z][a-z0-9-]{0,30})/iy
  name.lastIndex = open
  return name.exec(source)?.[1]?.toLowerCase()
}

function endOfElement(source: string, name: string, from: number): number {
  const close = new RegExp(`</${name}[^>]{0,20}>`, 'gi')
  close.lastIndex = from
  return close.exec(source) === null ? source.length : close.lastIndex
}
