import type { Statement } from '../../../contract.ts'
import type { Segment } from '../sentence/segments.ts'
import { findLanguageCode, isLanguageCode, languageSource } from '../vocabulary/language-names.ts'

const name = new RegExp(
  `(?<![\\p{Script=Latin}])(?:${languageSource})(?![\\p{Script=Latin}])`,
  'giu',
)

const speaks =
  '(?:answer|reply|replies|respond|response|write|writing|speak|talk|chat|communicate|converse|conversation|say|explain|tell me|stick|stay|switch|change|continue|keep|go back|return|use|message|output|text|everything|anything|antwort|schreib|sprich|sprech|rede|erklär|bleib|wechsl|verwend|benutz|nutz|formulier|réponds|répond|réponse|écri|parl|expliqu|continu|passe|reste|utilis|responde|responda|rispond|scriv|contest|respuesta|escrib|habl|explic|sigue|continú|cambia|usa|mantén|quédate)\\p{L}*'
const asked = new RegExp(
  `(?<![\\p{L}])${speaks}(?![\\p{L}])[^;]{0,60}?(?<![\\p{L}])(?:in|en|auf|to|into|with|only|nur|solo|sólo|uniquement|seulement|el|le|bei|zu|a|à|au|use|speak|talk|write|hablar?|parle)\\s(?:(?:only|plain|simple|formal|informal|british|american|standard|pure|proper|easy|nothing but|einfachem|gutem|the|un|el|le)\\s)*$`,
  'iu',
)
const onlyBefore =
  /(?<![\p{L}])(?:nur noch|anything (?:but|except)|(?:the )?(?:only )?language (?:of your \p{L}+ |you (?:write|speak|use|answer in|know) )?is|(?:language|sprache|langue|idioma|lang)\s?[:=]|yours (?:is|are|stays?)|only|just|nothing but|exclusively|nur|ausschließlich|solo|sólo|únicamente|solamente|uniquement|seulement|que|strictly|use|speak|verwende|utilise|usa)(?: in| en| auf)?\s(?:(?:simple|plain|in|en)\s)?$/iu
const onlyAfter =
  /^[\s,]*(?:only|please|pls|from (?:now|here|this|you|your)|exclusively|instead|throughout|all the way|from your side|for (?:the rest|everything|all)|nur|bitte|solamente|uniquement|por favor|svp|à partir|a partir|dorénavant|désormais|de ahora|ab (?:jetzt|sofort))/iu

/** Reads the language of answers: "always answer in French", "用中文回答", "nur Deutsch". */
export function readLanguages(segment: Segment): Statement[] {
  const { head, holds, sentence, text } = segment
  const code = /^([a-z]{2})(?:-[a-z]{2})?$/i.exec(text.trim())?.[1]?.toLowerCase()
  if (code !== undefined && isLanguageCode(code) && ofLanguage.test(head))
    return [{ kind: 'language', slot: 'language', value: code, holds, quote: sentence }]
  const found: Statement[] = []
  for (const match of segment.text.matchAll(name)) {
    const statement = segment.isAskedAt(match.index) ? statementFrom(segment, match) : undefined
    if (statement === undefined) continue
    found.push(statement)
    if (statement.slot === 'language') break
  }
  return found
}

/** "Language: fr". */
const ofLanguage =
  /^(?:(?:answer|output|response|reply|chat)s?[ -]?)?(?:language|lang|locale|sprache|idioma|langue)\s*$/iu

function statementFrom(
  { text, holds, sentence }: Segment,
  { 0: said, index }: RegExpExecArray,
): Statement | undefined {
  const value = findLanguageCode(said)
  const left = text.slice(0, index)
  const right = text.slice(index + said.length)
  if (value === undefined) return undefined
  const statement = { kind: 'language' as const, holds, quote: sentence }
  if (forbids.test(left)) {
    return { ...statement, slot: `language:not:${value}`, value: `not ${value}` }
  }
  if (isChoice(left, right) || /\b(?:use|using|with) (?:plain|simple) $/i.test(left))
    return undefined
  const isRule = isLatin(said) ? isLatinRule(left, right, holds) : isCjkRule(left, right)
  if (!isRule) return undefined
  const lasts = lastingVerb.test(text) || onlyBefore.test(left) || /^[\s,]*only/i.test(right)
  return { ...statement, slot: 'language', value, holds: lasts ? 'always' : holds }
}

/** One of several languages: "in German or English". */
function isChoice(left: string, right: string): boolean {
  return otherAfter.test(right) || theirLanguageAfter.test(right) || otherBefore.test(left)
}

const or = '(?:\\/|or|and|oder|und|ou|et|o|y)'
const otherAfter = new RegExp(
  `^\\s*${or}\\s*(?:in |auf |en )?(?:${languageSource})(?!\\p{L})`,
  'iu',
)
const theirLanguageAfter =
  /^\s*(?:or|oder|ou|o|and)\s(?:(?:in|auf|en|with)\s)?(?:\p{L}+(?:['’]\p{L}*)?\s){1,3}(?:language|sprache|idioma|langue|lengua)(?!\p{L})/iu
const otherBefore = new RegExp(
  `(?<!\\p{L})(?:${languageSource})\\s*${or}\\s*(?:in |auf |en )?$`,
  'iu',
)

const forbids =
  /(?<![\p{L}])(?:not|no|no more|never|don't|do not|stop|quit|avoid|without|kein|nicht|nie|ohne|nada de|sin|nunca|pas de|pas|jamais|sans)(?: (?:answering|replying|responding|writing|speaking|using|talking|answer|reply|respond|write|speak|use|talk|switch(?:ing)?|go(?:ing)?|any|mehr|más|plus)(?: to me| back)?)?(?: (?:in|into|to|auf|en|with))?\s$/iu

const lastingVerb =
  /(?:^|let's |please |can we |could we |[,.] ?)(?:\p{L}+,? )?(?:talk|speak|chat|converse|communicate|hablar|hablamos|parlons|sprechen|reden|switch|change|stick|stay|continue|keep to|go back|back to|wechs|bleib|cambia|sigue|passe|reste|continue)\b|换回|换成|改用|切换|に(?:戻|切り替)/iu

function isLatin(word: string): boolean {
  return /^[\p{Script=Latin}]/u.test(word)
}

function isLatinRule(left: string, right: string, holds: 'always' | 'turn'): boolean {
  if (/\b(?:translat\w*|traduis|traduce|traduc\w*|übersetz\w*)\b[^;]{0,80}$/i.test(left))
    return false
  if (
    /^[- ](?:speaking|learner|class|teacher|course|words?|version|grammar|exam|market|law|wine|food|restaurant|translation|literature|history|people|terms?|terminology|names?|spelling|units|labels?|keywords?|titles?|abbreviations?|vocabulary|idioms?|identifiers?)/i.test(
      right,
    )
  )
    return false
  if (/(?<!\p{L})(?:mejor|better|rather|lieber|plutôt) (?:en|in|auf) $/iu.test(left)) return false
  if (ofOthers.test(left) || ofProducts.test(left) || withOthers.test(right)) return false
  if (asked.test(left) || onlyBefore.test(left)) return true
  const isStart =
    /^(?:\W|please|pls|ok|now|and|then|bitte|in|auf|en|from now on|no|not|nothing in|keine?|pas d|sin|nada de)*\s*$/iu.test(
      left.slice(left.lastIndexOf(',') + 1),
    )
  if (isStart)
    return (
      onlyAfter.test(right) ||
      (holds === 'always' && /(?:^|\s)(?:in|auf|en|no|keine?)\s+$/i.test(left)) ||
      /^[\s]*[.!]?$/.test(right)
    )
  return (
    holds === 'always' &&
    /(?:^|\s)(?:in|auf|en)\s(?:\p{L}+ )?$/iu.test(left) &&
    /(?:answers?|repl|respon|messages?|antwort|réponse|respuesta|this|that|it|everything|all|us|me|chat|conversation|together)/i.test(
      left + right,
    )
  )
}

/** "Write a card in Italian", "answer the phone in English": the language of something else. */
const ofProducts =
  /(?<!\p{L})(?:(?:an?|the|my|our|un|una|el|la|eine?n?|den|das|une|le|mon|ma) (?:[\p{L}-]+ ){0,2}(?:cards?|signs?|e-?mails?|letters?|notes?|posters?|invitations?|captions?|slogans?|tweets?|notices?|labels?|cvs?|phone|carteles?|cartel|correo|carta|nota|karte|brief|schild|lettre|carte|affiche|annonce)|(?:switch|change|set) (?:my|the|our) (?!language|answers?|conversation|chat)\p{L}+)(?!\p{L})[^,;]*$/iu
/** "We speak German at home", "reply in French to this mail". */
const withOthers =
  /^ (?:at|with|to|con|mit|avec|zu|an?) (?:the|my|our|his|her|their|this|that|home|work|school|him|them|el|la|mi|mis|un|dem|der|meine?[nmr]?|le|mon|mes|customers?|kids)(?!\p{L})|^ (?:an?|un|una|une|eine?n?) (?:\p{L}+ )?(?:card|sign|mail|letter|note|poster|cartel|carta|correo|nota|lettre|affiche|brief|schild)/iu
/** A clause whose subject is not the answer: "the users write in French". */
const ofOthers =
  /(?:^|[,;] ?|\b(?:and|while|but) )(?:(?:the|our|my|most|many|all|these|some|and) )*(?:\p{L}+ )?(?:users?|customers?|clients?|people|visitors?|callers?|employees|students?|documents?|files|articles|sources|data|records|manuals|tickets)(?: (?!you\b)\p{L}+){0,2}? (?:writes?|speaks?|talks?|asks?|are|is|comes?|uses?|reads?|communicates?)\b[^,;]*$/iu

function isCjkRule(left: string, right: string): boolean {
  const part = `${left.split(/[,,、。]/).at(-1) ?? ''}`
  const rest = right.split(/[,,、。]/)[0] ?? ''
  if (
    /翻译|訳し/.test(part + rest) ||
    /(?:でも|ても)$/.test(rest) ||
    /怎么|どう言/.test(part + rest)
  )
    return false
  if (
    /(?:用|以|使用|说|讲|换回|换成|改用|切换到|改成|只能?|只用|全部?用?)(?:纯|简体|简单的?)?$/.test(
      part,
    )
  )
    return true
  return (
    /^(?:だけ|のみ|オンリー)?(?:で(?!も)|を使)(?!.*(?:ても|でも)$)/.test(rest) ||
    /^に(?:して|戻|切り替|変え)/.test(rest) ||
    /^(?:回答|回复|交流|作答|答复)/.test(rest)
  )
}
