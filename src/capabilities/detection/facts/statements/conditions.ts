import { findLanguageCode } from './vocabulary/language-names.ts'

/**
 * Reads the questions for which a rule holds, if their words show it: `has newsl`,
 * `start Q:`, `end short`; undefined for other conditions, whose rules are not checked.
 */
export function readWhen(condition: string, phrases: readonly string[]): string | undefined {
  for (const [place, pattern] of quotedPatterns) {
    const at = pattern
      .exec(condition)
      ?.slice(1)
      .find((group) => group !== undefined)
    const phrase = at === undefined ? undefined : phrases[Number(at)]
    if (phrase !== undefined && phrase !== '') return `${place} ${phrase}`
  }
  const tag = tagged.exec(condition)?.[1]
  if (tag !== undefined) return `has ${tag}`
  for (const pattern of topicPatterns) {
    const stem = stemOf(pattern.exec(condition)?.[1] ?? '')
    if (stem !== undefined) return `has ${stem}`
  }
  return undefined
}

const quotedPatterns: readonly (readonly [place: string, pattern: RegExp])[] = [
  [
    'start',
    /(?:questions?|messages?|texts?|lines?|it|i|fragen|preguntas?)(?: \p{L}+){0,4}? (?:begins?|begin|starts?|beginning|starting|open|prefixed|beginn\p{L}*|empie\p{L}*|commenc\p{L}*) (?:with|by|mit|con|por|par)(?: the word)? ⟦(\d+)⟧/iu,
  ],
  [
    'end',
    /(?:questions?|messages?|texts?|lines?|it|i)(?: \p{L}+){0,3}? (?:ends?|ending|finish\p{L}*) (?:with|in|on)(?: the word)? ⟦(\d+)⟧|(?:say|write|put|add|type) ⟦(\d+)⟧ at the end/iu,
  ],
  [
    'has',
    /(?:say|says|write|writes|type|types|mention|mentions|use|uses|ask for|put|add|schreibe?|sage?|digo|diga|escrib\p{L}*|dis|dise|écris)(?: the word)? ⟦(\d+)⟧/iu,
  ],
]

/** "If my message carries the tag #formal". */
const tagged =
  /(?:carries|has|contains|bears|includes|shows|is marked with) (?:the |a )?(?:tag|hashtag|label|mark|code) (#?[\p{L}\p{N}_-]{2,30})/iu

const noun = '((?:\\p{L}+[ -]){0,2}?\\p{L}+)'
const asking = '(?:questions?|topics?|requests?|matters?|issues?|tasks?|messages?|answers?|texts?)'
const stop =
  '(?=[,:;.]|$| (?:should|must|always|need|has|have|get|please|use|end|answer|reply|write|put|keep|add|every|they|it|you|i)(?!\\p{L}))'
const topicPatterns: readonly RegExp[] = [
  new RegExp(
    `^(?:only |just |always )?for (?:(?:all|any|every|each|my|the) )*${noun} ${asking}`,
    'iu',
  ),
  new RegExp(
    `^(?:only |just |always )?for ${asking} (?:about|on|regarding) (?:the |my |a )?${noun}${stop}`,
    'iu',
  ),
  new RegExp(`^${noun} (?:questions|topics|requests|stuff|matters|fragen)$`, 'iu'),
  new RegExp(
    `^(?:requests|rules?|stipulations?|provisions?|requirements?|questions|messages|complaints|orders|mails|bookings|enquiries|inquiries|queries) (?:for|about|on|with|from|regarding|concerning) (?:the |my |a )?${noun}(?:$|${stop})`,
    'iu',
  ),
  new RegExp(
    `^(?:if|when|whenever) ${noun} (?:comes? up|is (?:mentioned|asked about|discussed|raised)|arises)`,
    'iu',
  ),
  new RegExp(`^questions (?:about|on|regarding) (?:the |my |a )?${noun}${stop}`, 'iu'),
  new RegExp(
    `^(?:(?:only|just) for|things for) (?:the |my |our |a |an |all )?${noun}${stop}`,
    'iu',
  ),
  new RegExp(
    `^(?:if|when|whenever) (?:i|we|the user|a user|the customer|someone|anyone|they|users|customers) (?:ask|asks|want|wants|request|requests|mention|mentions|inquire|inquires)(?: (?:you|me))?(?: (?:for|about|to see|to))? (?:the |my |our |a |an |some )?${noun}${stop}`,
    'iu',
  ),
  new RegExp(
    `^(?:if|when|whenever) (?:(?:a|an|the|any|some|my|our|your) )?\\p{L}+ (?:asks?|writes?|enquires?|inquires?|talks?|speaks?|complains?|mentions?|wants?|comes?)(?: (?:you|us|to you))?(?: (?:for|about|to see|to|up|with|on))* (?:the |my |our |a |an |some |his |her |their )?${noun}${stop}`,
    'iu',
  ),
  new RegExp(
    `^(?:if|when|whenever) (?:the|a|any|my) (?:${asking}) (?:is|are|concerns?|deals? with|touch(?:es)?)(?: (?:about|on|with|of))? (?:the |my |our |a |an |some )?${noun}${stop}`,
    'iu',
  ),
  new RegExp(
    `^(?:quand|lorsque|si|dès que) (?:(?:le|la|un|une|on|il|elle|je|l') ?)(?:\\p{L}+ )?(?:demande|veut|cherche|parle de|mentionne|interroge sur|écrit sur)s? (?:une? |le |la |les |des |du |de |l')?${noun}${stop}`,
    'iu',
  ),
  new RegExp(
    `^(?:wenn|falls|sobald) (?:(?:der|die|das|ein|eine|ich|man|jemand) ?)(?:\\p{L}+ )?(?:nach |über |um |von )?(?:eine?[nrm]? |der |die |das |dem |den )?${noun} (?:fragt?|bittet?|will|möchte|sucht?|spricht|schreibt)`,
    'iu',
  ),
  new RegExp(
    `^(?:si|cuando) (?:(?:el|la|un|una|alguien) ?)(?:\\p{L}+ )?(?:pide|pregunta|quiere|busca|habla|escribe)(?: (?:por|sobre|de|acerca de))? (?:una? |el |la |los |las )?${noun}${stop}`,
    'iu',
  ),
  new RegExp(
    `^bei (?:meinen |allen )?(?:fragen (?:zu|zum|zur|nach|über) )?(?:der |dem |den )?${noun}(?:fragen)?${stop}`,
    'iu',
  ),
  new RegExp(
    `^para (?:las |mis |tus )?preguntas (?:de|sobre) (?:la |el |los |las )?${noun}${stop}`,
    'iu',
  ),
  new RegExp(
    `^pour (?:les|mes|tes|vos|des) questions (?:de|d'|sur) ?(?:la |le |les |l')?${noun}${stop}`,
    'iu',
  ),
]

const endings = /(?:ations?|ions?|ings?|ed|es|s|e)$/

/** Returns the beginning of the last word, without its ending. */
function stemOf(words: string): string | undefined {
  const word = words.toLowerCase().split(/[ -]/).at(-1) ?? ''
  const stem = word.replace(endings, '')
  return word.length < 4 || general.has(word) || findLanguageCode(word) !== undefined
    ? undefined
    : stem.length >= stem_chars_min
      ? stem
      : word
}

/** "Vot" of "voting". */
const stem_chars_min = 3

const general = new Set(
  'other others simple complex short long general specific certain these those this that your more such which questions answers messages everything anything something them him her'.split(
    ' ',
  ),
)

/** Tells whether a rule with such a condition holds for a user's message. */
export function holdsFor(when: string, text: string): boolean {
  const at = when.indexOf(' ')
  const phrase = when.slice(at + 1).toLowerCase()
  const low = text.toLowerCase().trim()
  switch (when.slice(0, at)) {
    case 'start':
      return low.startsWith(phrase)
    case 'end':
      return low.replace(/[\s.!?]+$/, '').endsWith(phrase)
    default:
      return new RegExp(`(?<![\\p{L}])${phrase.replace(/[^\p{L}\p{N} ]/gu, '.')}`, 'iu').test(low)
  }
}
