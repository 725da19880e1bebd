/** Whether a rule asks for its topic, forbids it, or only speaks of it. */
export type Polarity = 'some' | 'none' | 'unclear'

const verbsOfUse =
  '(?:use|using|write|writing|put|putting|include|including|add|adding|give|giving|say|saying|mention|mentioning|send|sending|end|ending|start|starting|ask|asking|insert|insert|format|formatting|contain|containing|have|having|show|want|need|do|be|see|like|make|making|set|produce|rely on|resort to|type|typing|sprinkle|throw in)'

/** Words before a topic that forbid it, with a few words between; each line is a family. */
const forbidsBefore: readonly string[] = [
  `no|not|nor|neither|zero|without|w\\/o|sans|sin|ohne|minus|never|none of|free (?:of|from)|devoid of|clear of|(?:instead|in place|in lieu) of|rather than`,
  `(?:do not|don't|dont|does not|doesn't|did not|didn't|would not|wouldn't|must not|mustn't|may not|should not|shouldn't|shall not|shan't|cannot|can't|can not|won't|will not|are not (?:allowed|permitted)(?: to)?|(?:is|are) never)(?: ever| \\p{L}+ly)?(?: ${verbsOfUse})?`,
  `avoid(?:ed)?(?: ${verbsOfUse})?|avoiding|skip|omit|drop|ditch|exclude|excluding|leave (?:out|off|away)|lose the|cut(?: out)?(?= the)|kill the|lay off|stay (?:away|clear) (?:of|from)|keep (?:away|clear) (?:of|from)|refrain from(?: ${verbsOfUse})?|steer clear of|abstain from(?: ${verbsOfUse})?|get rid of|stop(?: ${verbsOfUse})?|quit(?: ${verbsOfUse})?|ban(?: on)?|forbid|no[ ]more|enough(?: with| of)?|hold the|spare me|(?:hate|dislike|can't (?:bear|stan[d]))`,
  `keine?[nmrs]?|nicht|nie|niemals|verzichte(?:n sie)? (?:bitte )?auf|vermeide?|lass(?:e|en sie)?(?= .{0,30} weg)|keinerlei|statt|frei von`,
  `ningun[ao]?|nada de|nunca|jamás|no (?:uses|use|utilices|utilice|pongas|ponga|escribas|quiero|incluyas|me pongas)|evita|evite|prohibid[oa]s?|sin usar|en lugar de`,
  `pas d(?:e|')|aucune?|jamais d(?:e|')|évitez?|ni|n'\\p{L}+ (?:pas|jamais|plus)|ne \\p{L}+ (?:pas|jamais|plus)(?: d(?:e|'))?|plus d(?:e|')|interdi\\p{L}+|sans aucun[e]?|au lieu d(?:e|')`,
]
const forbidsBeforeCjk =
  /(?:不要|别|勿|不用|不使用|不准|不许|不能|不得|不可以?|没有|无|禁止|避免|不带|不加|不含|停止|不再)(?:再|出现|使用|用|有|加|写|带|包含|任何|说|提|向我|给我|给|问|发|放|字母|标点|的|单词|词语?|“|”|这个)*\s*$/u

const between = '(?:[ -](?!but\\b|only\\b|then\\b|instead\\b|and\\b|und\\b|y\\b|et\\b)\\p{L}+){0,4}'
const forbidBefore = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${forbidsBefore.join('|')})${between}[\\s:('"’]*$`,
  'iu',
)

/** Words after a topic that forbid it: "emojis are forbidden". */
const forbidAfter =
  /^(?:[^,.;]{0,30}?(?:is|are|sind|ist|están|está|sont|est|:|=))?\s*(?:strictly |absolutely |completely |totally |streng |)(?:forbidden|banned|prohibited|not (?:allowed|permitted|welcome|wanted|ok|okay|needed|rendered|supported|displayed|shown)|(?:isn't|aren't) (?:allowed|permitted|rendered|supported|displayed|wanted|ok)|off[ -]limits|taboo|out(?: of (?:your|all|the|every|each|any|it|everything|anything|what))?\b(?! of)|not(?=\s*(?:[.,;!]|$))|unwanted|verboten|tabu|unerwünscht|weglassen|interdi\p{L}+|à éviter|prohibid\p{L}+|vetad\p{L}+|off\b|(?:(?:are|is) (?:not|never) (?:used|allowed|wanted|to be used|to appear)|(?:must|should|may|can|shall|will) (?:not|never) (?:appear|be|occur|show|come)|(?:have|has) no place))|^[- ]free\b|^[^;.]{0,60}(?:(?:use )?none (?:of (?:it|them)|from now|please|any ?more)|avoid (?:it|them)|(?:don't|do not) (?:use|output|include|write|send|add|give me) (?:it|them|any)|(?:leave|keep) (?:it|them) out|(?:never|stop|avoid|skip|drop|don't|quit)(?: \p{L}+)? (?:use|using)? ?(?:it|them)\b|without (?:it|them)|don't (?:render|display|show)|does not render|doesn't render)|^.{0,12}(?:禁止|なし|抜き|不可|は使わ|を使わ|も使わ|は避け|を避け|は入れない|を入れない|は付けない|は不要|はやめ|をやめ|は要ら|を含め(?:ない|ず)|はナシ)/iu

const asksBefore =
  /(?:(?<![\p{L}])(?:as(?: an?| the)?|in|into|use|using|with|only|just|always|give|write|formatted?|make (?:it|them|everything)|put|include|add|reply|answer|respond|return|output|want|need|prefer|like|be|is|are|to|contain|have|has|carry|end|close|finish|of|be|at least one|one|nothing but|solely|exclusively|all|insert|show|create|build|immer|nur|mit|als|verwende|benutze|nutze|auf|en|con|usa|siempre|una|toujours|avec|utilise|sous forme de|every|each|stick to|switch to|change (?:it )?to|set to|everything|but)(?:[ -](?!not\b|no\b)\p{L}+){0,4}|(?:用|以|使用|加|带|包含|写成|都是|有))[\s:('"]*$/iu
const asksAfter =
  /^\s*(?:only|please|pls|plz|from now|instead|answers?|replies|in (?:every|each|all|your)|for (?:every|each|all)|always|throughout|per|format|(?:で|を使って|を入れて|を付けて|形式で)|bitte|nur|solamente|uniquement|until|[,.]|$|of\b|with\b|for\b)/iu

/** "Never more than one question": a limit, and neither all nor nothing. */
const counted =
  /(?:more than|fewer than|less than|at most|up to|over|maximum of|max)\s+(?:\d+|an?|one|two|three|four|five|single)(?: \p{L}+)?\s*$/iu

/** Returns the polarity that the words around a topic give it. */
export function polarityOf(left: string, right: string): Polarity {
  if (counted.test(left)) return 'unclear'
  if (forbidBefore.test(left) || forbidsBeforeCjk.test(left) || forbidAfter.test(right)) {
    return isDoubleNegative(left) ? 'some' : 'none'
  }
  const isAsked = asksBefore.test(left) || (article.test(left) && asksAfter.test(right))
  return !isAsked || negative.test(clauseOf(left)) || rarely.test(right) ? 'unclear' : 'some'
}

const article = /^\s*(?:an?|the|ein\p{L}*|una?|une)?\s*$/iu
/** A negative word far from its topic: too unsure to read the topic as asked for. */
const negative =
  /(?<![\p{L}])(?:\p{L}+n't|not(?! only)|never|no|hates?|dislikes?|too (?:many|much)|tired of|less|fewer|nicht|kein\p{L}*|jamais|pas|nunca)(?![\p{L}])/iu
const rarely =
  /^[^,;]{0,20}(?<![\p{L}])(?:sparingly|rarely|occasionally|wisely|only (?:for|when|if|where|in)|where|when|if)(?![\p{L}])/iu

/** Tells whether the last clause of a text has a negative word. */
export function isNegative(left: string): boolean {
  return negative.test(clauseOf(left)) || /(?<!p{L})n'/i.test(clauseOf(left))
}

function clauseOf(left: string): string {
  return left.split(/ and | but | und | y | et /i).at(-1) ?? left
}

function isDoubleNegative(left: string): boolean {
  return /(?:nothing but|no answer without|never (?:forget|omit|skip|leave)|don't (?:forget|skip|omit|leave out)|do not (?:forget|skip|omit)|nothing other than|nothing except|anything (?:but|except|other than)|not only)[^,;]{0,40}$/i.test(
    left,
  )
}

/** Tells whether the words between two topics only join a list: "no links, tables or code". */
export function joinsList(between: string): boolean {
  return (
    /^[\s,/&+]*(?:(?:or|and|nor|oder|und|noch|ou|et|ni|y|o|e|nor any|and any|or any|and no|or the|and the|、|和|或者?|や|と)[\s,]*)?(?:(?!write|use|keep|put|spell|give|make|only|just|always|in |as |with |but )\p{L}+[ -])?$/iu.test(
      between,
    ) && between.length < 30
  )
}
