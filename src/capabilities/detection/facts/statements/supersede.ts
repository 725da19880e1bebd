import { mentions } from '../../../provenance/text/index.ts'
import type { Statement } from '../../contract.ts'
import { findTopics } from './reading/find-topics.ts'
import { isLanguageName, withoutKept } from './releases.ts'

/** Tells whether two statements can not hold at once, so that the later one replaces the other. */
export function conflicts(earlier: Statement, later: Statement): boolean {
  if (earlier.slot === later.slot) return earlier.value !== later.value
  if (earlier.kind === 'length' && later.kind === 'length')
    return isSameMeasure(earlier.slot, later.slot)
  if (isShape(earlier) && isShape(later)) return true
  // A word that is required now was forbidden before, or the other way round.
  return wordOf(earlier) !== undefined && wordOf(earlier) === wordOf(later)
}

function isSameMeasure(one: string, other: string): boolean {
  return one !== 'length:bullets' && other !== 'length:bullets'
}

/** Statements that ask for one of several shapes: JSON, a table, a list, plain text, only code. */
function isShape({ kind, slot, value }: Statement): boolean {
  return kind === 'format' && shapes.has(`${slot} ${value}`)
}

const shapes = new Set([
  'shape json',
  'shape json_only',
  'shape csv',
  'shape yes_no',
  'bullets bullets',
  'bullets numbered',
  'table table',
  'code only',
])

function wordOf({ kind, slot }: Statement): string | undefined {
  return kind === 'forbidden' || slot.startsWith('uses:')
    ? slot.slice(slot.indexOf(':') + 1)
    : undefined
}

/** Tells whether a text is about the topic of a statement, so that it may ask for an exception. */
export function isAbout(
  { kind, slot, value, role }: Statement & { role?: 'system' | 'user' },
  text: string,
): boolean {
  switch (kind) {
    case 'language':
      return (
        /(?<!\p{L})(?:language|translat|übersetz|tradu)|翻译|訳/iu.test(text) ||
        (text.match(/\p{L}+/gu) ?? []).some(isLanguageName)
      )
    case 'forbidden':
      return mentions(text, value) && aboutWords.test(text)
    case 'required':
      return mentions(text, slot.startsWith('uses:') ? slot.slice(5) : value)
    case 'tool':
      return mentions(text, value)
    case 'fact':
      return mentions(text, slot.slice('fact:'.length))
    case 'topic':
      // Who asks about a topic may lift an own limit, not that of the system.
      return role === 'user' && mentions(text, slot.slice('topic:'.length))
    case 'persona':
      return /\b(?:role|persona|character|pretend|real name|really)\b/i.test(text)
    case 'length':
      return longer.test(text)
    default:
      return isAboutForm(slot, text)
  }
}

const aboutWords =
  /["“'‘`«]|\b(?:words?|terms?|phrases?|means?|meaning|define|definition|spell|say|use|called|mention|synonyms?|quote|why|banned|forbidden|allowed)\b/i
const longer =
  /\b(?:longer|write more|more (?:words|space|sentences|detail)|at length|as long as you|no limit|exceed|full (?:story|version|text|recipe|letter)|in (?:more )?detail|detailed|more details|long(?:er)? (?:answer|version|text|one)|make it longer|elaborate|expand|in full|essay|thorough(?:ly)?|in[- ]depth|comprehensive|explain more|list (?:all|every))\b|详细|详しく|ausführlich|en detalle|en détail/i

function isAboutForm(slot: string, text: string): boolean {
  if (slot === 'bullets')
    return /\b(?:bullets?|bullet points|as a list|(?:in|as) (?:prose|paragraphs|a table|json)|formatted)\b/i.test(
      text,
    )
  if (slot === 'shape')
    return /\b(?:json|markdown|plain text|format(?:ted|ting)?|table|prose|yaml|xml|csv)\b/i.test(
      text,
    )
  if (slot === 'emoji') return /\bemojis?\b|\p{Emoji_Presentation}/iu.test(text)
  if (slot === 'units')
    return /\b(?:imperial|miles?|feet|foot|inch(?:es)?|pounds?|fahrenheit|units?|yards?|ounces?)\b/i.test(
      text,
    )
  if (slot === 'dates') return /\b(?:date|format|iso|american|us style|british)\b/i.test(text)
  if (slot === 'question' || slot === 'ending' || slot === 'heading') return false
  return findTopics(withoutKept(text)).some(({ topic }) => topic.slot === slot)
}
