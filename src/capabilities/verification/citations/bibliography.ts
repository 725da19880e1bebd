import type { Range } from '../../provenance/text/index.ts'

/** A source that the answer lists: `[1]: https://…`, `[^1]: Fees 2026`, `1. Fees` below `Sources`. */
export type Entry = { label: string; url: string | undefined; title: string; at: Range }

/** Lines of an answer that are read, and entries. */
const lines_max = 20_000
const entries_max = 500

const heading =
  /^[\s#*_]{0,8}(?:sources?|references?|bibliography|citations?|links?|quellen(?:angaben)?|literatur|références|fuentes|referencias)[\s*_:]{0,6}$/iu
const footnote = /^\s{0,3}[-*]?\s{0,3}\[\^?([\p{L}\p{N}_-]{1,30})\]:\s{0,9}(.*)$/u
const bracketed = /^\s{0,3}[-*]?\s{0,3}[[【]\^?(\d{1,3})[\]】]\s{1,9}(.*)$/u
const numbered = /^\s{0,3}(\d{1,3})[.)]\s{1,9}(.*)$/u
const url = /https?:\/\/[^\s<>"'`)\]}|]{3,2000}/i

/** Reads the sources that an answer lists, in order. */
export function readBibliography(answer: string): Entry[] {
  const entries: Entry[] = []
  let isBelowHeading = false
  let start = 0
  for (const line of answer.split('\n', lines_max)) {
    const at: Range = [start, start + line.length]
    start += line.length + 1
    if (heading.test(line)) isBelowHeading = true
    else if (line.trim() !== '') {
      const entry = entryFrom(line, at, isBelowHeading)
      if (entry !== undefined && entries.length < entries_max) entries.push(entry)
      isBelowHeading &&= entry !== undefined
    }
  }
  return entries
}

function entryFrom(line: string, at: Range, isBelowHeading: boolean): Entry | undefined {
  const match =
    footnote.exec(line) ?? bracketed.exec(line) ?? (isBelowHeading ? numbered.exec(line) : null)
  const [, label, text = ''] = match ?? []
  if (label === undefined) return undefined
  const found = url.exec(text)?.[0].replace(/[.,;:!?]+$/, '')
  const title = text
    .replace(/\[([^\]]{0,300})\]\([^)]{0,2000}\)/g, '$1')
    .replace(url, '')
    .replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, '')
  // A sentence may begin with its reference: `[1] says that …`.
  const isEntry =
    isBelowHeading || footnote.test(line) || (found !== undefined && title.length < 120)
  return isEntry ? { label, url: found, title: title.slice(0, 300), at } : undefined
}
