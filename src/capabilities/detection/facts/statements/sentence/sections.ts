import { conditionOf } from './mood.ts'

/**
 * Writes the header of a section before each of its lines if it says when, or of what, they hold:
 * "For complaints:", "## Product descriptions", "What the printer cannot show". Other headers stay
 * as they are. A header with marks of Markdown reaches to the next one, one with a colon to the end of its list.
 */
export function spellSections(text: string): string {
  if (!mayHaveSections.test(text)) return text
  const lines = text.replace(underlined, '## $1').split('\n')
  let before: { prefix: string | undefined; isList: boolean } = { prefix: '', isList: false }
  return lines
    .map((line) => {
      const header = headerOf(line)
      if (header !== undefined) {
        before = { prefix: prefixOf(header.title), isList: header.isList }
        return header.isList ? line : `${header.title}.`
      }
      const isPart = item.test(line) || line.trim() === '' || !before.isList
      if (!isPart) before = { prefix: '', isList: false }
      if (before.prefix === undefined) return ''
      return before.prefix === '' || line.trim() === '' ? line : withPrefix(line, before.prefix)
    })
    .join('\n')
}

const mayHaveSections = /^#{1,6} |^[-=]{3,}[ \t]*$|^\*\*[^*\n]+\*\*[ \t]*$|:[ \t]*$/m
const underlined = /^(?![-*•\s])([^\n]{3,80})\n[-=]{3,}[ \t]*$/gm
const item = /^\s*(?:[-*•]|\d{1,2}[.)])\s/

/** Returns the title of a header, and whether it is that of the list below it. */
function headerOf(line: string): { title: string; isList: boolean } | undefined {
  const marked = /^(?:#{1,6} +(.{2,80}?)[ #:]*|\*\*([^*]{2,80}?):?\*\*:?)\s*$/.exec(line)
  const title = marked?.[1] ?? marked?.[2]
  if (title !== undefined) return { title, isList: false }
  const list = /^(?![-*•\s])(.{2,100}?)[:：]\s*$/.exec(line)?.[1]
  return list === undefined ? undefined : { title: list, isList: true }
}

/** Returns the words before each line of a section; undefined if its lines are rules for others. */
function prefixOf(title: string): string | undefined {
  const plain = title.replace(/^\W*\d{1,2}[.)]\s*/, '').trim()
  if (forbids.test(plain)) return 'Never'
  if (isOfOtherTexts(plain)) return undefined
  return conditionOf(plain) === undefined ? '' : plain
}

/** Tells whether a header names texts or persons other than the answers: "Product descriptions", "Slides". */
export function isOfOtherTexts(title: string): boolean {
  return ofOtherTexts.test(title.trim())
}

/** "What the strip of paper cannot show", "Don'ts". */
const forbids =
  /(?<!\p{L})(?:(?:cannot|can't|can not|doesn't|does not|won't|will not|is unable to) (?:show|display|render|print|handle|read|take|support|reproduce)|(?:do|must|should)(?: not|n't)s?|don'?ts|no-gos|never|forbidden|banned|off-limits|to avoid|taboo)\W*$/iu
const ofOtherTexts =
  /^(?:(?:the|our|all|your|rules for|for|in) )*(?:[\p{L}-]+ ){0,2}(?:titles|headlines|descriptions|captions|articles|newsletters?|tickets|posts|minutes|reports|letters|e-?mails|invoices|slides|labels|tweets|speaker notes|subject lines|commit messages|meta descriptions|press releases?|field|column|guests|customers|members|visitors|tenants|students|pupils|players|employees|staff|authors|contributors)(?: \(.*\))?$|^(?:\p{L}+ )?messages to (?!us|the user|users)\p{L}+$|^(?:the )?(?:style|format|tone|layout) (?:of|for) (?!answers|repl|respon|your|this|the (?:chat|conversation|answers?)|messages|all|every)/iu

function withPrefix(line: string, prefix: string): string {
  const [mark = ''] = /^\s*(?:(?:[-*•]|\d{1,2}[.)])\s+)?/.exec(line) ?? []
  const sentences = line.slice(mark.length).split(/(?<=[.!?])\s+(?=\p{Lu})/u)
  return sentences.map((sentence) => `${mark}${prefix}: ${sentence}`).join('\n')
}
