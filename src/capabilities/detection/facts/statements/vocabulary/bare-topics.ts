import { findBanBehind } from '../sentence/pointing.ts'
import type { Topic } from './topics.ts'

const slots = new Set([
  'numbers',
  'digits',
  'bullets',
  'question',
  'heading',
  'code',
  'links',
  'table',
  'letter',
])

/** Topics by their English words; those of other languages are read as they are. */
const english =
  /^(?:the )?(?:follow|counter|closing|rhetorical|asking|ask|questions?|numbers?|digits?|numerals?|figures|lists?|listicles?|(?:markdown |section |sub)?-?head(?:ing|er|line)s?|sub-?titles?|code|links?|hyper|urls?|web|(?:markdown |html )?tables?|letters?)/i
const otherLanguage =
  /(?<!\p{L})(?:pas|sans|aucun\p{L}*|jamais|ne|ni|keine?\p{L}*|ohne|nicht|nie|niemals|vermeide?|sin|ningun\p{L}*|nada|nunca|évite\p{L}*|utilis\p{L}*|uses|usar)(?!\p{L})|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/iu

/**
 * Tells whether a rule against a form is about every answer: its topic has no restricting word
 * beside it ("numbers that are not verified", "mailing lists"), and its verb is one of writing.
 */
export function isBareTopic(
  { topic, said }: { topic: Topic; said: string },
  left: string,
  right: string,
): boolean {
  if (!slots.has(topic.slot) || !english.test(said) || otherLanguage.test(`${left}${right}`))
    return true
  if (findBanBehind(right, 0) !== undefined) return !ofSome.test(right)
  const isOwnVerb = topic.slot === 'letter' || /^ask/i.test(said)
  return isFreeAfter(right) && (isOwnVerb || (isFreeBefore(left) && isOfWriting(left)))
}

/** "Tables with more than three columns break, so avoid them." */
const ofSome =
  /^(?:s)? (?:that|which|who|whose|than|without|about|to|of|with|between|regarding|over|under|per|more|not)(?!\p{L})/iu

const answers =
  '(?:answers?|repl(?:y|ies)|responses?|messages?|posts?|e?-?mails?|texts?|outputs?|prose|body|chats?|conversations?|sessions?|threads?|writing|sentences?)'
/** Complements that mean the answer itself, or any thing. */
const ofAnswers = new RegExp(
  `^(?:(?:in|within|inside|for|to|from|on|of|at|with|as|throughout|during|across|anywhere in|at the (?:very )?(?:end|start|beginning|top|bottom)(?: of|(?=$))) (?:(?:all|any|each|every|your|the|this|our|my|of|these|those|single|whole|entire|rest|future|following|next|remainder) )*(?:${answers}|kinds?|sorts?|types?|forms?|all|me|us|you|any|everything|everyone|anything|anyone|now|here|way|point|time|today|case|circumstances|it|them|what (?:you|i))|in (?:the )?future|as (?:of|from)|from (?:your|the) (?:side|end)|from start to finish|what(?:so)?ever|(?:that|which) (?:you|i) (?:write|send|give))(?!\\p{L})`,
  'iu',
)
/** Words after a topic that do not restrict it. */
const neutral =
  /^(?:please|pls|plz|yourself|back|too|as well|ok|okay|thanks?|thank|or|and|nor|but|ever|any|any ?more|anywhere|here|either|neither|whatsoever|whatever|now|again|only|just|at all|is|are|be|was|were|isn't|aren't|am|must|should|may|can|cannot|can't|shall|will|won't|have|has|do|does|don't|never|always|allowed|forbidden|banned|prohibited|off|out|today|instead|since|because|so|even|no|from|going|until|till|i|every|each|in general|period|full stop|full-stop|ends?|unless|when|if|rather|like|such|including|e\.g\.|it|they|this|these|those|there|then|though|use|keep|write|as i|as they|break)(?![\p{L}'])/iu
const restricting =
  /^(?:(?:that|which|who|whose|than|without|about|to|of|for|in|on|at|with|by|as|from|into|where|while|before|after|during|more|not|over|under|per|between|against|regarding|concerning|related|unless|if|when)(?!\p{L})|(?:you|i|we|they)(?:'ve)? (?:have|can|did|do|cannot|could|are|were|know)(?!\p{L}))/iu

function isFreeAfter(right: string): boolean {
  const rest = right.replace(/^[\s"'’”)*_⟧]+/, '')
  if (rest === '' || !/^\p{L}/u.test(rest) || ofAnswers.test(rest)) return true
  if (/^(?:from|as) (?:now|today|here|this|of|the (?:next|start))/i.test(rest)) return true
  return !restricting.test(rest) && neutral.test(rest)
}

/** Words directly before a topic that do not restrict it. */
const freeBefore =
  /(?:^|[^\p{L}'-])(?:no|not|nor|neither|zero|without|w\/o|spell|never|ever|so|but|because|then|also|plus|none|of|any|a|an|the|your|single|more|further|extra|additional|or|and|as|in|into|with|using|via|through|than|is|are|me|us|you|back|people|customers?|clients?|readers?|guests?|user|users|unnecessary|raw|plain|all|from|these|those|such|long|short|simple|at|minus|avoid(?:ing)?|strike|purge|scrap|eschew\p{L}*|shun|banish|feature\p{L}*|furnish\p{L}*|employ\p{L}*|bear\p{L}*|incorporate\p{L}*|display\p{L}*|carr\p{L}*|source|program|skip|omit|drop|ditch|exclude|stop|quit|hate|dislike|lose|kill|forbid|ban|out|off|on|up|even|just|only|either|hyper|markdown|html|inline|ascii|external|internal|clickable|fenced|bulleted|bullet|nested|ordered|unordered|dash|hyphen|verbatim|to|like|love|too|many|much|by|use|used|be|do|contain\p{L}*|writ\p{L}*|us(?:e|ing)|includ\p{L}*|add\p{L}*|put\p{L}*|giv\p{L}*|send\p{L}*|ask\p{L}*|insert\p{L}*|show\p{L}*|hav\p{L}*|output\p{L}*|format\p{L}*|make|making|produc\p{L}*|say|mention|paste|print|post|return|provide|offer|creat\p{L}*|end|start|type|want|need|see|set|generat\p{L}*)$/iu

function isFreeBefore(left: string): boolean {
  const near = left.replace(/[\s"'‘“(*_/+&]+$/, '')
  if (/(?:^|\s)(?:the|those|these) same$/i.test(near)) return false
  return !/[\p{L}'-]$/u.test(near) || freeBefore.test(near)
}

const forbidding =
  /(?<!\p{L})(?:(?:do|does|did|must|should|may|can|will|shall|would) not|don'?t|doesn't|mustn't|shouldn't|cannot|can't|won't|never|refrain from|avoid|stop|quit)(?: (?:ever|you|(?!reply|apply|only)\p{L}+ly))* ([^,;.]*)$/iu
const writingVerbs =
  /^(?:use|using|used|write|writing|include|including|add|adding|put|putting|contain|containing|have|having|output|outputting|format|formatting|give|giving|send|sending|ask|asking|insert|inserting|show|showing|make|making|produce|producing|say|saying|mention|mentioning|paste|print|post|return|provide|offer|create|creating|end|ending|start|starting|begin|beginning|open|close|finish|type|typing|want|need|see|like|be|set|do|generate|employ|rely|resort|sprinkle|throw|wrap|render|break|chop|split|turn|structure|present|any|a|an|the|more|in|with|as|of|even|and|or|list|bullet|spell|itself|waste|bother|respond (?:with|in|using|by)|repl(?:y|ying) (?:with|in|using|by)|answer(?:ing)? (?:with|in|using|by|me with)|speak in|turn|switch|go)(?!\p{L})/iu
/** A preposition that makes the topic a detail of another thing: "promises about numbers". */
const aside = /(?<!\p{L})(?:about|regarding|concerning|related to)(?!\p{L})/iu

function isOfWriting(left: string): boolean {
  const [, said = ''] = forbidding.exec(left) ?? []
  return said.trim() === '' || (!aside.test(said) && (writingVerbs.test(said) || isList(said)))
}

/** Tells whether words name a topic and go on: "never emojis or lists". */
function isList(said: string): boolean {
  return /^(?:emojis?|numbers?|digits?|lists?|questions?|head\p{L}+|code|links?|urls?|tables?|bullets?|bold|italics?|markdown|exclamation|emoticons?)(?!\p{L})/iu.test(
    said,
  )
}
