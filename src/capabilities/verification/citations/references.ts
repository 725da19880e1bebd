import type { Range } from '../../provenance/text/index.ts'
import { readCodes, readQuotes } from '../../provenance/values/index.ts'

/** A reference of an answer to a source. Offsets are those of the text that was read. */
export type Reference =
  /** `isList`: the mark has several numbers, such as `[1, 2]`. */
  | { kind: 'number'; label: string; isList: boolean; at: Range }
  | { kind: 'url'; url: string; at: Range }
  /** `isNamed`: the text can only be the name of a source, such as `get_invoice` or `fees.pdf`. */
  | { kind: 'name'; name: string; isNamed: boolean; at: Range }

export type Quotation = { text: string; at: Range }

/** Maximum characters read of a claim, and references found in it. */
const read_chars_max = 20_000
const references_max = 50
/** Numbers that a range such as `[1–3]` can have. */
const range_max = 20

/**
 * `[1]`, `[1, 2]`, `[1–3]`, `[^1]`, `[doc 1]`, `【1】`; not `[1](url)`, and no year such as `[2024]`.
 */
const numbers =
  /[[【](?:\^|(?:doc|document|source|quelle)[ _#-]{0,2})?(\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3}){0,19})(?:†[^\]】\n]{0,40})?[\]】](?!\()/gi
/** `【4:0†fees.pdf】`, as the file search of OpenAI writes. */
const files = /【\d{1,4}:\d{1,4}†([^】\n]{1,100})】/g
const footnotes = /\[\^([\p{L}_-][\p{L}\p{N}_-]{0,30})\]/gu
const sourceWords = 'sources?|quellen?|fuentes?|references?|refs?'
const bracketed = new RegExp(
  `[([](?:${sourceWords})\\s{0,3}:\\s{0,3}([^()[\\]\\n]{2,200})[)\\]]`,
  'giu',
)
const according =
  /(?<!\p{L})(?:according to|as (?:stated|reported|shown|noted|described) (?:in|by)|laut|gemäß|selon|d[’']après|según)\s{1,3}(?:(?:the|our|your|der|dem|die|das|le|la|les|el)\s{1,3})?(`[^`\n]{2,100}`|["“„«][^"“”„«»\n]{2,100}["”“»]|[\p{L}\p{N}][^\n,;:()[\]]{1,100})/giu
const namePattern =
  /^[\p{L}\p{N}]+(?:[_-][\p{L}\p{N}]+){0,9}_[\p{L}\p{N}]+|^[\p{L}\p{N}_-]{1,80}\.(?:pdf|md|txt|html?|json|csv|docx?|xlsx?)(?![\p{L}\p{N}])/iu

/** Reads the references of a text: numbers, footnotes, URLs, `(Source: …)`, `according to …`. */
export function readReferences(text: string): Reference[] {
  const read = text.slice(0, read_chars_max)
  const withoutCode = read.replace(/`[^`\n]{0,200}`/g, (code) => ' '.repeat(code.length))
  const urls = readCodes(read).filter(({ kind }) => kind === 'url')
  const found: Reference[] = [
    ...[...withoutCode.matchAll(numbers)].flatMap(readNumbers),
    ...[...withoutCode.matchAll(files)].map(
      (match): Reference => ({
        kind: 'name',
        name: match[1] ?? '',
        isNamed: false,
        at: rangeOf(match),
      }),
    ),
    ...[...withoutCode.matchAll(footnotes)].map((match) => numberFrom(match, match[1] ?? '')),
    ...urls.map((url): Reference => ({ kind: 'url', url: url.text, at: url.at })),
    ...[...read.matchAll(bracketed)].flatMap(readSources),
    ...[...read.matchAll(according)].flatMap(readName),
  ]
  return found.slice(0, references_max)
}

/** Returns the quotations of a text that are not the name of one of its sources. */
export function readQuotations(text: string, references: readonly Reference[]): Quotation[] {
  const names = references.filter(({ kind }) => kind === 'name')
  return readQuotes(text.slice(0, read_chars_max))
    .filter(({ at }) => !names.some((name) => name.at[0] < at[1] && at[0] < name.at[1]))
    .map((quote) => ({ text: quote.text, at: quote.at }))
}

/** Replaces the marks of references by spaces: they are not words or numbers of the statement. */
export function withoutReferences(text: string, references = readReferences(text)): string {
  const chars = text.split('')
  for (const { at } of references) chars.fill(' ', at[0], at[1])
  return chars
    .join('')
    .replace(/\[([^\]\n]{0,200})\]\(\s{0,999}\)/g, '$1')
    .replace(/\s{2,}(?=[.,;!?]|$)/g, '')
}

function rangeOf({ index, 0: { length } }: RegExpExecArray): Range {
  return [index, index + length]
}

function numberFrom(match: RegExpExecArray, label: string, isList = false): Reference {
  return { kind: 'number', label, isList, at: rangeOf(match) }
}

function readNumbers(match: RegExpExecArray): Reference[] {
  const labels = (match[1] ?? '').split(/[,;]/).flatMap(labelsOf)
  return labels.map((label) => numberFrom(match, label, labels.length > 1))
}

function labelsOf(part: string): string[] {
  const [first = 0, last = first] = (part.match(/\d+/g) ?? []).map(Number)
  const count = last - first + 1
  if (count < 1 || count > range_max) return [String(first), String(last)]
  return Array.from({ length: count }, (_, at) => String(first + at))
}

/** Reads the sources of `(Source: a; b)`. URLs and numbers among them are read elsewhere. */
function readSources(match: RegExpExecArray): Reference[] {
  const at = rangeOf(match)
  return (match[1] ?? '').split(';').flatMap((part): Reference[] => {
    const name = part.trim().replace(/^[`"“”„«»']+|[`"“”„«»'.]+$/g, '')
    if (name === '' || /https?:\/\//i.test(name)) return []
    if (/^\d{1,3}$/.test(name)) return [{ kind: 'number', label: name, isList: false, at }]
    return [{ kind: 'name', name, isNamed: true, at }]
  })
}

function readName(match: RegExpExecArray): Reference[] {
  const written = match[1] ?? ''
  const quoted = /^[`"“„«](.+)[`"”“»]$/u.exec(written)?.[1]
  const shaped = namePattern.exec(written)?.[0]
  const name = quoted ?? shaped ?? written
  if (/^https?:/i.test(name)) return []
  const isNamed = quoted !== undefined || shaped !== undefined
  const start = match.index + match[0].lastIndexOf(written)
  const end = start + (quoted === undefined ? name.length : written.length)
  // Words such as `according to the rules` are a part of the statement.
  return [{ kind: 'name', name, isNamed, at: [match.index, isNamed ? end : match.index] }]
}
