/** Whether a rule asks for its topic, forbids it, or only speaks of it. */
export type Polarity = 'some' | 'none' | 'unclear'

const verbsOfUse =
  '(?:use|using|write|writing|put|putting|include|including|add|adding|give|giving|say|saying|mention|mentioning|send|sending|end|ending|start|starting|ask|asking|insert|insert|format|formatting|contain|containing|have|having|show|want|need|do|be|see|like|make|making|set|produce|rely on|resort to|type|typing|sprinkle|throw in)'

/** Words before a topic that forbid it, with a few words between; each line is a family. */
const forbidsBefore: readonly string[] = [
  `no|nobod[y]|no one|none of us|not|nor|neither|nothing(?! but| except| other| else)|zero|without|w\\/o|sans|sin|ohne|minus|never|none of|(?:free|exempt|immune|innocent) (?:of|from)|devoid of|bare of|clear of|(?:instead|in place|in lieu) of|rather than|(?:in|under) no (?:case|event|circumstances?)|on no account|by no means`,
  `(?:do not|don't|dont|does not|doesn't|did not|didn't|would not|wouldn't|must not|mustn't|mustnt|may not|should not|shouldn't|shouldnt|shall not|shan't|shalt not|cannot|can't|cant|can not|won't|wont|will not|are not (?:allowed|permitted)(?: to)?|(?:is|are) (?:not|never) (?:to )?)(?: ever| \\p{L}+ly)?(?: ${verbsOfUse})?`,
  `avoid(?:ed)?(?: ${verbsOfUse})?|avoiding|avoids|skip|omit|drop(?! in\\b| into\\b)|ditch|exclude|excluding|leave (?:out|off|away)|lose the|cut(?: out)?(?= the)|kill the|lay off|stay (?:away|clear) (?:of|from)|keep (?:away|clear) (?:of|from)|refrain(?:s|ing)? from(?: ${verbsOfUse})?|(?:prohibited|forbidden|barred|banned) (?:from|to)(?: ${verbsOfUse})?|not (?:allowed|permitted) to(?: ${verbsOfUse})?|steer clear of|(?:abstain|desist)(?:s|ing)? from(?: ${verbsOfUse})?|get rid of|stop(?: ${verbsOfUse})?|quit(?: ${verbsOfUse})?|ban(?:ning|ish|ished)?(?: on)?|forbid|interdiction (?:on|of)|prohibit(?:ion)?(?: (?:on|of))?|embargo on|veto on|moratorium on|no[ ]more|enough(?: with| of)?|hold the|spare me|(?:do|go|make do|get by) without|dispense with|eschew|forgo|forego|shun|scrap|strike|purge|strip(?: out)?|weed out|pass on|scratch|nix|axe|delete|remove|(?:if you |you )(?:dropped|avoided|skipped|ditched|omitted|stopped|quit|lost|left out|did without|didn't|cut out|got rid of)|sick of|tired of|fed up with|allergic to|(?:hate|loathe|detest|despise|dislike)|(?:can't|cannot|can not|unable to|won't|doesn't|don't) (?:bear|stan[d]|stomach|render|display|show|read|handle|print|parse|cope with|deal with|take|process|support|do)`,
  `keine?[nmrs]?|nicht|nie|niemals|weder|verzicht\\p{L}*(?: sie| wir)? (?:bitte |gänzlich |ganz |vollständig |grundsätzlich )?auf|(?:ist|wird) auf|vermeide?\\p{L}*|lass(?:e|en sie)?(?= .{0,30} weg)|keinerlei|statt|frei von`,
  `ningun[ao]?|nada de|nunca|jamás|ni|no (?:uses|use|utilices|utilice|pongas|pone|ponga|escribas|escribe|quiero|incluyas|incluye|usa|utiliza|me pongas|contiene|lleva|lleve|lleves)|evita\\p{L}*|evite|prohibid[oa]s?|sin usar|en lugar de|(?:abst(?:ente|endrás|éngase|enerse)|prescind\\p{L}+) de(?: \\p{L}+r)?`,
  `pas d(?:e|')|aucune?|jamais d(?:e|')|évitez?|éviter|ni|n'\\p{L}+ (?:pas|jamais|plus|aucune?)|ne \\p{L}+ (?:pas|jamais|plus|aucune?)(?: d(?:e|'))?|plus d(?:e|')|interdi\\p{L}+(?: d(?:e|'))?|sans aucun[e]?|au lieu d(?:e|')|(?:abst(?:iens-toi|enez-vous|enir)|pass(?:e-toi|ez-vous|er)|bann\\p{L}+|proscri\\p{L}+|exclu(?!siv)\\p{L}*)(?: d(?:e|'))?`,
]
const forbidsBeforeCjk =
  /(?:不要|严禁|切勿|请勿|杜绝|不说|不写|不提|不讲|别|勿|不用|不使用|不准|不许|不能|不得|不可以?|没有|无|禁止|避免|不带|不加|不含|停止|不再)(?:再|出现|使用|用|有|加|写|带|包含|任何|说|提|向我|给我|给|问|发|放|字母|标点|的|单词|词语?|“|”|这个)*\s*$/u

const between = '(?:[ -](?!but\\b|only\\b|then\\b|instead\\b|and\\b|und\\b|y\\b|et\\b)\\p{L}+){0,6}'
const forbidBefore = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${forbidsBefore.join('|')})(?<tail>${between})[\\s:('"’]*$`,
  'iu',
)

/** Words after a topic that forbid it: "emojis are forbidden". */
const forbidAfter = new RegExp(
  [
    "^(?:[^,.;]{0,30}?(?:is|are|be|remain|remains|likewise|also|sind|ist|sei|seien|bleibt|bleiben|están|está|queda|quedan|son|sera|seront|sont|est|:|=))?\\s*(?:strictly |absolutely |completely |totally |altogether |entirely |equally |likewise |all |both |also |streng |strictement |totalmente |)(?:forbidden|banned|banished|prohibited|proscribed|disallowed|outlawed|inadmissible|impermissible|unacceptable|not (?:allowed|permitted|welcome|wanted|ok|okay|needed|rendered|supported|displayed|shown|acceptable|admissible|appreciated|a thing|our thing|my thing|for (?:me|us|you))|(?:isn't|aren't) (?:allowed|permitted|rendered|supported|displayed|wanted|welcome|acceptable|needed|ok|a thing|our thing|my thing|ours)|off[ -](?:limits|the (?:table|menu|cards)|bounds)|taboo|anathema|a no-(?:go|no)|no-gos?|no go|out(?: of (?:your|all|the|every|each|any|it|everything|anything|what|question))?\\b(?! of)|not(?=\\s*(?:[.,;!]|$))|never(?=\\s*(?:[.,;!]|$))|gone|missing|absent|lacking|dead|history|unwanted|unwelcome|verboten|untersagt|unzulässig|tabu|unerwünscht|unterlassen|weglassen|wegzulassen|nicht (?:erlaubt|gestattet|zulässig|erwünscht|gewünscht|vorgesehen)|interdit\\p{L}*|proscri\\p{L}+|banni\\p{L}*|exclu(?!siv)\\p{L}*|à (?:éviter|proscrire|bannir|exclure)|prohibid\\p{L}+|vetad\\p{L}+|vedad\\p{L}+|excluid\\p{L}+|descartad\\p{L}+|off\\b)",
    "^[^,.;]{0,40}?(?:(?:are|is) (?:not|never) (?:used|allowed|wanted|to be used|to appear)|(?:must|should|may|can|shall|will|do|does|did|need) ?(?:not|never|n't) (?:to )?(?:be|appear|occur|show|come|turn|feature|figure|pop|crop|get|find|go|exist|belong|make|enter|happen|include|contain|have|use)|(?:mustn't|mustnt|shouldn't|can't|cannot|won't|don't|doesn't|dont|doesnt) (?:be|appear|occur|show|come|turn|feature|pop|go|exist|belong|work|render|display|load|print|parse|fit|happen)|(?:have|has) no (?:place|business|room|home)|(?:something|things?|stuff|what) (?:you|we) (?:\\p{L}+ )?(?:must |should |can |will |never |don't |do |have to )*(?:do without|avoid|leave out|skip|drop)|(?:are|is) to be (?:avoided|omitted|left out|dropped|shunned|excluded|banished)|(?:have|has|need|needs|must|should|shall|to|please|will|ought to)? ?(?:stays?|keeps?) (?:out|away|off)\\b|(?:is|are) (?:to be )?(?:kept|left) (?:out|away|off)|(?:have|has) left|are never|is never|(?:to be|are|is) (?:avoided|omitted|shunned|dropped)|never (?:used|appears?|occurs?|shows?|happens?))",
    "^[^,.;]{0,40}?(?<!\\p{L})(?:haben zu unterbleiben|hat zu unterbleiben|unterbleib\\p{L}*|entfällt|entfallen|wegfallen|(?:kommt|kommen|komme|tauch(?:t|en)) (?:\\p{L}+ ){0,4}?(?:nicht|nie|niemals|kein\\p{L}* (?:\\p{L}+ )?)(?:vor|auf)?|(?:darf|dürfen|sollen|soll|wird|werden) (?:\\p{L}+ ){0,5}?(?:nicht|nie|niemals|kein\\p{L}*)|(?:sind|ist) (?:\\p{L}+ ){0,3}?zu (?:vermeiden|unterlassen|meiden|streichen)|(?:wie|und) .{0,40} zu verzichten|n'ont pas leur place|n'a pas sa place|ne (?:doi|peu|ser|figur|app)\\p{L}+ (?:pas|jamais|nulle part)|no (?:se (?:usan|usarán|admiten|permiten|aceptan|emplean)|deben?|pueden?|aparec\\p{L}+|tienen? cabida))",
    "^[- ]free\\b|^[^;.]{0,60}(?:(?:(?:us|want|need|hav|has|send|accept|tolerat|allow)(?:e|es|s|ing)? )?none(?: at all)?(?= of (?:it|them|those|that|these)| from now| please| any ?more| whatsoever|[.,;!]|$)|(?:us|want|need|hav|send|accept|tolerat|allow)(?:e|es|s|ing)? none(?!\\p{L})|avoid (?:it|them)|(?:don't|do not|dont|never) \\p{L}+(?: me)? (?:it|them|any|those)(?!\\p{L})|(?:leave|keep|cut) (?:it|them|those) (?:out|away|off)|(?:never|stop|avoid|skip|drop|ditch|don't|quit|lose)(?: \\p{L}+)? (?:use|using)? ?(?:it|them)\\b|without (?:it|them)|(?:,|so|then)? ?not (?:a single |even )?one(?=\\s*(?:[.,;!?]|$)| of| please| then)|don't (?:render|display|show)|does not render|doesn't render)",
    '^.{0,16}(?:禁止|禁ず|禁じ|厳禁|なし|抜き|不可|控え|使ってはな|使ってはいけ|使わない|使わず|用いな|用いず|用いては|使用し(?:な|ては)|は使わ|を使わ|も使わ|は避け|を避け|を入れては|を付けては|は入れない|を入れない|は付けない|は不要|はやめ|をやめ|は要ら|を含め(?:ない|ず|ては)|はナシ|しない(?:で|こと)|書かない|貼らない|别(?:用|写|出现|加)|一律不|一概不|不得|不许|不准|不可|不要|不能)',
  ].join('|'),
  'iu',
)
/** "Leave tables out", "keep emojis away". */
const takenOutLeft =
  /(?<!\p{L})(?:leave|leaving|keep|keeping|cut|rule|take|edit|strip)(?: (?:the|any|all|your|those|all the)){0,2}\s*$/iu
const takenOutRight =
  /^(?: (?!and\b|or\b)\p{L}+){0,2} (?:out|off|away|aside|to yourself)(?! of)(?!\p{L})/iu

const asksBefore =
  /(?:(?<![\p{L}])(?:as(?: an?| the)?|in|into|use|using|with|only|just|always|give|write|formatted?|make (?:it|them|everything)|put|include|add|reply|answer|respond|return|output|want|need|prefer|like|be|is|are|to|contains?|have|has|uses|includes?|carry|end|close|finish|of|be|at least one|one|nothing but|solely|exclusively|all|insert|show|create|build|throw|drop|pop|slip|immer|nur|mit|als|verwende|benutze|nutze|auf|en|con|usa|siempre|una|toujours|avec|utilise|sous forme de|every|each|stick to|switch to|change (?:it )?to|set to|everything|on|but)(?:[ -](?!not\b|no\b)\p{L}+){0,4}|(?:用|以|使用|加|带|包含|写成|都是|有))[\s:('"]*$/iu
const asksAfter =
  /^\s*(?:only|please|pls|plz|from now|instead|answers?|replies|in (?:every|each|all|your)|for (?:every|each|all)|always|throughout|per|format|(?:で|を使って|を入れて|を付けて|形式で)|bitte|nur|solamente|uniquement|or nothing|until|so|because|since|[,.]|$|of\b|with\b|for\b)/iu

/** "Lower case is compulsory." */
const compulsory =
  /^ (?:is|are|ist|sind|est|es) (?:compulsory|mandatory|required|obligatory|a must|pflicht|obligatoires?|obligatori[oa]s?)(?!\p{L})|^(?:のみ|だけ)で/iu

/** "Never more than one question": a limit, and neither all nor nothing. */
const counted =
  /(?:more than|fewer than|less than|at most|up to|over|maximum of|max)\s+(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|single)(?: \p{L}+)?\s*$/iu

/** Returns the polarity that the words around a topic give it. */
export function polarityOf(left: string, right: string): Polarity {
  if (counted.test(left)) return 'unclear'
  if (isProhibited(left, right)) return isDoubleNegative(left) ? 'some' : 'none'
  const isAsked =
    asksBefore.test(left) || (article.test(left) && asksAfter.test(right)) || compulsory.test(right)
  return !isAsked || negative.test(clauseOf(left)) || rarely.test(right) ? 'unclear' : 'some'
}

/** Tells whether words before or after a topic forbid it. */
export function isProhibited(left: string, right: string): boolean {
  return (
    (takenOutLeft.test(left) && takenOutRight.test(right)) ||
    forbidBefore.test(left) ||
    forbidsBeforeCjk.test(left) ||
    forbidAfter.test(right)
  )
}

/** Returns the words between a prohibition and what it forbids; undefined without one before it. */
export function tailOfProhibition(left: string): string | undefined {
  return forbidBefore.exec(left)?.groups?.['tail']
}

const article =
  /^\s*(?:(?:and|but|so|also|then|oh|ok|yes),? )*(?:an?|the|ein\p{L}*|una?|une)?\s*$/iu
/** A negative word far from its topic: too unsure to read the topic as asked for. */
const negative =
  /(?<![\p{L}])(?:\p{L}+n't|not(?! only)|never|no|complain\p{L}*|hates?|dislikes?|too (?:many|much)|tired of|less|fewer|nicht|kein\p{L}*|jamais|pas|nunca)(?![\p{L}])/iu
const rarely =
  /^[^,;]{0,20}(?<![\p{L}])(?:sparingly|rarely|occasionally|wisely|only (?:for|when|if|where|in)|where|when|if)(?![\p{L}])/iu

/** Tells whether the last clause of a text has a negative word. */
export function isNegative(left: string): boolean {
  return negative.test(clauseOf(left)) || /(?<!p{L})n'/i.test(clauseOf(left))
}

function clauseOf(left: string): string {
  return left.split(/ and | but | und | y | et /i).at(-1) ?? left
}

/** Tells whether two negatives ask for what follows: "no reply without", "never forget". */
export function isDoubleNegative(left: string): boolean {
  return /(?:nothing but|(?:no|not|never|none|nor)(?: [\p{L}']+){1,6} without|never (?:forget|omit|skip|leave)|don'?t (?:ever )?(?:forget|skip|omit|leave out)|do not (?:forget|skip|omit)|nothing other than|nothing except|anything (?:but|except|other than)|not only)[^,;]{0,40}$/iu.test(
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
