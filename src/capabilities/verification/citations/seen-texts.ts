import { normaliseUrl } from '../../provenance/values/index.ts'
import type { SeenSource } from '../contract.ts'
import { type CitedText, citedPart, readSource } from './cited-texts.ts'
import { type ListedSource, readSourceLists } from './listed-sources.ts'

/** Texts that the agent saw, arranged for references. */
export type SeenTexts = {
  /** All texts, each as a whole. */
  readonly all: readonly CitedText[]
  /** The highest number that a reference to a listed source can have; 0 without a list. */
  readonly highest: number
  /** Returns the sources with a number in a list. Several lists can have the number. */
  byNumber(label: string): readonly CitedText[]
  byUrl(url: string): readonly CitedText[]
  /** Returns the sources with a tool's name or a title, and texts that mention a named document. */
  byName(name: string, isNamed: boolean): readonly CitedText[]
}

/** Maximum characters read of the texts that the agent saw, and texts of a reference. */
const chars_max = 8_000_000
const found_max = 20
/** Minimum characters of a name that is found by its beginning: shorter names are too common. */
const name_chars_min = 6
const urls = /https?:\/\/[^\s<>"'`)\]}|\\]{3,2000}/gi

/** Reads the texts that an agent saw, their lists of sources and their URLs. */
export function readSeenTexts(seen: readonly SeenSource[]): SeenTexts {
  const index = new Index()
  let chars = 0
  for (const source of seen) {
    chars += source.text.length
    if (chars > chars_max) break
    index.add(source)
  }
  return index
}

class Index implements SeenTexts {
  readonly all: CitedText[] = []
  /** All texts as parts: a text that mentions a document is not the whole document. */
  readonly #mentions: CitedText[] = []
  readonly #numbered = new Map<string, CitedText[]>()
  /** Items of lists without numbers, by list. */
  readonly #counted: CitedText[][] = []
  readonly #urls = new Map<string, CitedText[]>()
  readonly #names = new Map<string, CitedText[]>()
  #number_max = 0
  #listed = 0

  get highest(): number {
    return Math.max(this.#number_max, this.#listed)
  }

  add(source: SeenSource): void {
    const read = readSource(source)
    const title = source.source
    const whole = citedPart(read, { title, isWhole: source.is_complete })
    const mention = citedPart(read, { title, isWhole: false })
    this.all.push(whole)
    this.#mentions.push(mention)
    if (source.role === 'tool') put(this.#names, nameKey(toolName(title)), whole)
    for (const items of readSourceLists(source.text, read.mapped)) {
      this.#addList(
        items,
        items.map((item) =>
          citedPart(read, { ...item, isWhole: item.isWhole && source.is_complete }),
        ),
      )
    }
    for (const [url] of read.mapped.text.matchAll(urls)) {
      const key = urlKey(url)
      if (!this.#urls.has(key)) put(this.#urls, key, mention)
    }
  }

  byNumber(label: string): readonly CitedText[] {
    const numbered = this.#numbered.get(label) ?? []
    const position = Number(label) - 1
    const counted = [...this.#counted, this.#counted.flat()].flatMap((list) => list[position] ?? [])
    return [...new Set([...numbered, ...counted])].slice(0, found_max)
  }

  byUrl(url: string): readonly CitedText[] {
    return this.#urls.get(urlKey(url)) ?? []
  }

  byName(name: string, isNamed: boolean): readonly CitedText[] {
    const key = nameKey(name)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const beginnings = [...this.#names.keys()]
      .filter((one) => one.length >= name_chars_min && key.startsWith(`${one} `))
      .sort((one, other) => other.length - one.length)
    const texts = this.#names.get(beginnings[0] ?? '')
    if (texts !== undefined) return texts
    if (!isNamed || key.length < name_chars_min) return []
    return this.#mentions.filter((text) => text.mentions(name)).slice(0, found_max)
  }

  #addList(items: readonly ListedSource[], texts: CitedText[]): void {
    const isNumbered = items.every(({ label }) => label !== undefined)
    this.#listed += items.length
    if (!isNumbered) this.#counted.push(texts)
    for (const [at, { label = '', url, title }] of items.entries()) {
      const text = texts[at]
      if (text === undefined) continue
      if (isNumbered) {
        put(this.#numbered, label, text)
        this.#number_max = Math.max(this.#number_max, Number(label))
      }
      if (url !== undefined) put(this.#urls, urlKey(url), text)
      if (title.length >= name_chars_min) put(this.#names, nameKey(title), text)
    }
  }
}

function put(map: Map<string, CitedText[]>, key: string, text: CitedText): void {
  const texts = map.get(key)
  if (texts === undefined) map.set(key, [text])
  else if (texts.length < found_max) texts.push(text)
}

/** Returns `get_invoice` of `tool get_invoice (2)`. */
function toolName(source: string): string {
  return source.replace(/^(?:tool|retriever)\s+/, '').replace(/\s+\(\d+\)$/, '')
}

function nameKey(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

function urlKey(url: string): string {
  return normaliseUrl(url.split('#', 1)[0] ?? url)
}
