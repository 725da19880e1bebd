/** How long a rule holds. */
export type Scope = {
  holds: 'always' | 'turn'
  /** Beginnings of the words of the event that ends it: "until the desk is built". */
  until?: string
}

const answers =
  '(?:answers?|repl(?:y|ies)|responses?|messages?|msgs?|posts?|texts?|(?:e-?)?mails?|outputs?|turns?|corrections?|summar(?:y|ies)|captions?)'
const talk =
  '(?:chats?|conversations?|sessions?|threads?|windows?|dialog(?:ue)?s?|talks?|discussions?|exchanges?|channel)'

/** Phrases that make a rule hold for all later answers; each line is a family of wordings. */
const lastingWords: readonly string[] = [
  'always|never|ever|forever|permanent(?:ly)?|at all times|consistently|without exception|any ?more|for good|throughout|henceforth|invariably|continually',
  '(?:what(?:ever)|no matter what|even (?:if|when|though))(?: language| topic)? (?:i|we) \\p{L}+|no matter (?:what|how|which|where|when)',
  'from (?:now|here|this (?:point|moment|message|answer|reply|one)|today|then|the (?:next|first|very first)(?: \\p{L}+)?)(?: (?:on|onwards?|forward|out))?',
  '(?:starting|beginning)(?: from| with| in)? (?:now|today|this|your next|the next|here)',
  'as (?:of|from) (?:now|today|this)|effective immediately|going forward|moving forward|hereafter|in (?:the )?future|for the future|in all that follows|that follow',
  `(?:every|each|all|any|what(?:ever))(?: (?!question|time|part|word|line|bullet|(?:in|of|for|to) (?:your|the|this|my) (?:(?:entire|whole|next) )?(?:answer|reply|response|message|output|text)(?!\\p{L}))\\p{L}+){0,5} ${answers}`,
  `(?:every|each|per) (?:answer|reply|response|message|msg|post|text|e?-?mail|turn|time)`,
  `(?:your|ur|the|our|upcoming|future|following|further|later|subsequent) (?:answers|replies|responses|messages|msgs|posts|texts|(?:e-?)?mails|outputs?|turns|corrections|summaries)`,
  `^(?:please |pls )?(?:answers|replies|responses|messages) `,
  `(?:everything|anything|all|what(?:ever)?) (?:that )?you (?:say|write|send|answer|output|post|produce|(?!need|want|see|know|have|can|are|like|get)\\p{L}+ (?:me|us))`,
  `everything in this ${talk}|^everything (?:as|in|with)|(?:keep|write|make|do|need|want|give me|put|answer|say) everything`,
  '(?:all|any|every|each)(?: of)?(?: (?:my|the|further|future|following|upcoming))? questions?|(?:all|everything|what(?:ever)) i ask',
  `(?:for|in|during|throughout|within|over|across) (?:the |all )?(?:rest|entire|entirety|whole|remainder|duration|length|course)?(?: of)? ?(?:of )?(?:this|our|the|my)(?: (?:entire|whole|complete|full))? ${talk}`,
  `(?:this|our|the) (?:entire|whole|complete|full) ${talk}`,
  'for the (?:rest|remainder|entirety|whole|duration)(?: of (?:it|this|that|our|the))?|rest of (?:this|our|the)',
  'as long as we|while we (?:talk|chat|speak|work|write)|from start to finish|from (?:the )?(?:first|beginning) to (?:the )?(?:last|end)|from the outset',
  "when(?:ever)? (?:you(?:'re| are)? )?(?:answer|repl|respond|writ|speak|talk)\\w*|each time|every time|each one(?!\\p{L})|at a time|in all (?:the |of the )?(?:versions|drafts)|with me(?!\\p{L})|remaining questions",
  'until (?:further notice|i (?:say|tell)|tol[d]|we|the end|otherwise|you hear)|unless i (?:say|ask|tell)|till i (?:say|tell)',
  "now it(?:'s| is)|it(?:'s| is) now|from your vocabulary|(?:could|can) (?:we|you) (?:please )?(?:lose|drop|ditch|cut out|cut|quit) (?:the|all|your|those|these)|i(?:'ll)? (?:always|never)|(?:house|one more|another|new|my) rule|standing (?:rule|order|instruction)|general rule|as a rule|stop \\p{L}+ing|no[ ]more(?! than)|by default|default setting",
  // German
  'immer|stets|konsequent|durchgängig|nie(?:mals)?|ab (?:jetzt|sofort|heute|nun|hier)|von (?:nun|jetzt) an|künftig|zukünftig|in zukunft|dauerhaft|durchgehend|durchweg|grundsätzlich|weiterhin|bis auf weiteres|jedes ?mal|ausnahmslos|ohne ausnahme|fortan|nunmehr|hinfort|weiteren ausführungen',
  '(?:jede[rnms]?|pro|alle[nr]?|sämtliche[nr]?|deine[nr]?|eure[nr]?|ihre[nr]?|keine[rmn]? (?:weitere[nmr]?|deiner))(?: \\p{L}+){0,2} (?:antwort(?:en)?|nachricht(?:en)?|texte?n?|e?-?mails?|rückmeldung(?:en)?|auskunft|auskünfte|ausgaben?|beitrag|beiträge)',
  '(?:ganzen?|gesamten?|restlichen?|rest des|rest der|diese[sr]?|unsere[sr]?|im|des) (?:ganzen |gesamten )?(?:gesprächs?|chats?|unterhaltung|konversation|dialogs?)|keine[rmn]? weiteren? \\p{L}+|nicht mehr|nur noch|kein\\p{L}* \\p{L}+ mehr',
  // Spanish
  'siempre|nunca|jamás|en adelante|a partir de (?:ahora|aquí|hoy|este)|desde (?:ahora|ya|hoy)|hasta nuevo aviso|en el futuro|permanentemente|en todo momento|sin excepción',
  '(?:cada|por|tod[ao]s|tus|sus|vuestras|mis|las|los|ningun[ao]?)(?: (?:una de )?(?:tus|las|los|sus))? (?:respuestas?|mensajes?|contestaci(?:ón|ones)|textos?|correos?)|cada vez|ya no',
  '(?:tod[ao] (?:la|el|esta|este|nuestra)|resto de (?:la|el|esta)|est[ea]|nuestr[ao]) (?:conversación|chat|charla|sesión|diálogo)|resto del chat|durante tod[ao]',
  // Italian
  "sempre|d(?:a )?'?ora in (?:poi|avanti)",
  // French
  "toujours|jamais|désormais|dorénavant|à partir d(?:e maintenant|'ici|e là|'aujourd'hui)|dès (?:maintenant|à présent|aujourd'hui)|à l'avenir|jusqu'à nouvel ordre|systématiquement|en permanence|à chaque fois|ne \\p{L}+ plus|n'\\p{L}+ plus",
  '(?:chaque|par|toutes?|tes|vos|mes|aucune)(?: (?:tes|les|vos|mes|une de (?:tes|vos)))? (?:réponses?|messages?|textes?|e?-?mails?)',
  '(?:toute (?:la|cette|notre)|cette|notre|reste de (?:la|cette|notre)|tout (?:le|ce|notre)|ce) (?:conversation|discussion|chat|échange|session|dialogue)|tout au long',
  // Chinese and Japanese
  '从现在(?:起|开始)|从此|从今(?:以后|往后)?|以后|今后|往后|之后都|接下来|始终|一直|总是|永远|每次|每条|每一?[个次条](?:回答|回复|消息|答案)|所有(?:的)?(?:回答|回复|消息|问题)|整个(?:对话|聊天|会话|谈话)|全程|一律|绝不|从不|不再|再也不|你的(?:全部|所有)|全部输出|所有输出|本次(?:对话|会话)|这次(?:对话|聊天|谈话)|对话中|每个(?:回答|回复)|都要|都请|请都',
  'これから|今から|今後|以後|以降|この先|常に|つねに|いつも|必ず|毎回|ずっと|最後まで|この会話|この(?:チャット|やり取り|やりとり)|(?:すべて|全て|全部)の|一回の(?:返事|回答|返信)|各回答|毎度|絶対に|二度と|(?:返事|回答|返信)では|一切|もう.{0,12}ないで|どの(?:返事|回答|返信)',
]

/** Nouns of sets of rules, in all languages. */
const ruleNouns =
  '(?:rules?|requirements?|conditions?|constraints?|restrictions?|stipulations?|provisos?|guidelines|instructions|ground rules|house rules|regulations|commandments?|articles|clauses|prescriptions|preferences|requests|limits|oath|vow|pact|deal|contract|protocol|regeln?|vorgaben?|auflagen?|bedingung(?:en)?|bestimmungen|vorschriften|règles?|consignes?|conditions|contraintes|reglas?|normas?|condiciones|pautas|requisitos|adherence|compliance|following(?= (?:is|are|apply|applies|hold)))'
/** A sentence that gives rules for the talk: "you are bound by three requirements:". */
const announces = new RegExp(
  `(?<!\\p{L})(?:you(?:r|rs)?|thou|our|ours|this|these|those|following|consider|please|obey|observe|establezco|impongo|fijo|ordne|verfüge|j'impose|je fixe|declare|decree|establish|hereby|follow|respect|heed|abide|comply|impose|set|du|dich|deine?|sie|ihre?|folgende[nrs]?|tu|tes|vous|vos|suivantes?|tú|tus|siguientes?)(?!\\p{L})[^.!?]*(?<!\\p{L})${ruleNouns}(?!\\p{L})|(?<!\\p{L})(?:rule|article|clause|condition|regel|règle|regla) (?:one|two|three|four|\\d|no|nr|number)\\b.{0,30}$|${ruleNouns}(?!\\p{L})[^.!?:]{0,60}[:：]|(?:規約|規則|遵守事項|条件|ルール|规则|要求|规定|约定)(?:は|を|如下|为)?`,
  'iu',
)

/** Tells whether a sentence announces rules for all that follows. */
export function announcesRules(text: string): boolean {
  return announces.test(text)
}

/** Phrases that keep a rule to one answer, despite a lasting word beside them. */
const turnWords: readonly string[] = [
  '(?<!from |starting with |starting in |beginning with |starting from )(?:your|the|this|my) (?:very )?next (?:answer|reply|response|message|one|post|text|mail|question)(?! on\\b)(?! onwards?)',
  '(?:single|one) (?:reply|answer) only|single (?:reply|answer),|(?:next|coming|subsequent) (?:\\p{L}+ )?(?:turn|reply|answer|response|message|question|one)(?: (?:alone|only)|,? and (?:that|no))|(?<!from |starting with |beginning with )(?:the|your|this|my) (?:subsequent|coming|upcoming) (?:answer|reply|response|message|question|turn)(?! on)|(?:then|afterwards?|after (?:that|which)|thereafter),? (?:you(?:.re| are)? (?:free|released)|(?:the|this) \\p{L}+ (?:lapses|ends|expires|is (?:over|off|lifted)))|(?:votre|ta) réponse à venir|(?:just|only) (?:for )?(?:this (?:once|time|one|answer|reply|message|question)|once|now)|(?:this|that) (?:one )?(?:time|once) only|for this (?:one|answer|reply|question|message|time)(?: only)?|this time|(?:for|in|just|only|with) this one|this one only|(?:need|want|do|like) one (?:thing|answer|exception)|one-off|in this (?:next )?(?:one|answer|reply|message)|for once|today only|for now only',
  'for (?:\\d+|two|three|four|five|a few|a couple of) (?:answers|replies|responses|messages|turns|questions)',
  '(?:for|in) (?:the|your|my) next (?:\\d+|two|three|four|five|six|ten|few|couple of) (?:answers|replies|responses|messages|questions|turns|posts|texts|ones)',
  'diesmal|dieses (?:eine )?mal|nur (?:jetzt|hier|für diese)|(?:die|deine[rn]?|der) nächsten? (?:antwort|nachricht)|in dieser antwort|ausnahmsweise|nur dieses',
  'esta vez|solo por (?:esta vez|hoy)|(?:tu|la) próxima respuesta|en esta respuesta|por una vez|sólo esta',
  'cette fois(?:-ci)?|(?:ta|la|votre) prochaine réponse|juste (?:pour )?cette|pour une fois|dans cette réponse|dans ta prochaine',
  '这次(?!对话|聊天|谈话)|这一次|这一条|下一?[条次个](?:回答|回复|消息)?|仅此一次|今回|次の(?:回答|返事|返信|答え|メッセージ)|この(?:回答|返事|返信|答え)(?:だけ|では|は)|一度だけ',
]

const wordsOfScope = (lines: readonly string[]) =>
  new RegExp(
    `(?<![\\p{Script=Latin}\\p{N}])(?:${lines.join('|')})(?![\\p{Script=Latin}\\p{N}])`,
    'iu',
  )

const lasting = wordsOfScope(lastingWords)
const allLasting = new RegExp(lasting.source, 'giu')
const turn = wordsOfScope(turnWords)

/** Tells whether a text has words that make its rules hold for all later answers. */
export function isLasting(text: string): boolean {
  return lasting.test(text) && !turn.test(text)
}

/** Returns a text without the words that say how long its rules hold. */
export function withoutScope(text: string): string {
  return text.replace(allLasting, ' ').replace(/\s+/g, ' ').trim()
}

/** Tells whether a text has words that keep its rules to one answer. */
export function isOneTurn(text: string): boolean {
  return turn.test(text)
}

/** Tells whether a sentence says how long the rules before it hold: "This goes for all answers." */
export function extendsRules(text: string): boolean {
  return isLasting(text) && (refersBack.test(text) || isOnlyScope(text))
}

/** "For good I mean.", "every time". */
function isOnlyScope(text: string): boolean {
  const rest = withoutScope(text).replace(
    /(?<!\p{L})(?:same (?:thing|again)|as well|too|i mean|please|pls|and|that's|ok|okay|yes)(?!\p{L})|[^\p{L}]/giu,
    '',
  )
  return rest === '' && !/[?？]/.test(text)
}

const refersBack =
  /^(?:and |please |pls )?(?:(?:this|that|these|those|it|both|all of (?:this|that|it)|the same|same|the rules?) (?:rules? |limits? |format |style )?(?:applies|apply|goes|go|holds?|counts?|is|are|stays?|should|must|will)|keep (?:it|this|that|doing|to (?:this|that|it))|do (?:this|that|so|it)|stick (?:to|with) (?:this|that|it)|das gilt|dies gilt|esto vale|eso vale|cela vaut|ça vaut)\b|^以后都这样|^一直这样|^ずっとそう/i

/** Tells whether a text changes what was said before, if there was something. */
export function changesRules(text: string): boolean {
  return change.test(text)
}

const change =
  /(?<![\p{L}])(?:instead|make (?:it|that|them|the)|change|changed|switch|rather|raise|increase|extend|reduce|lower|lift|allow|let's (?:say|do|make|go|try|have)|bump|cut (?:it|that|them)|shorten|new (?:rule|limit|plan)|update|correction|now|after all|on second thought|prefer|better|actually|again|stop|drop|lose|skip|leave out|no[ ]more|enough|lieber|stattdessen|doch|ändere|jetzt|nun|wieder|mejor|en vez|en lugar|ahora|cambia|plutôt|finalement|maintenant|au lieu|change|en fait|préfère|prefiero)(?![\p{L}])|改成|改为|改用|换成|改一下|还是|やっぱり|に変更|に変えて|代わりに/iu

/** Reads the event that ends a rule, as the beginnings of its words; undefined without one. */
export function readEvent(text: string, phrases: readonly string[]): string | undefined {
  const signal = untilSaid.exec(text)
  const said = phrases[Number(signal?.[1] ?? Number.NaN)] ?? signal?.[2]
  if (said !== undefined) return said.toLowerCase().split(/\s+/).sort(byLength)[0]
  const clause = untilWords.exec(text)?.[1]
  if (clause === undefined || indefinite.test(clause)) return undefined
  const words = clause.toLowerCase().match(/\p{L}{3,}/gu) ?? []
  const told = words.filter((word) => !emptyWords.has(word)).map((word) => word.slice(0, 5))
  return told.length === 0 ? undefined : told.slice(0, 4).join(' ')
}

/** "Until I say ⟦0⟧": the longest word of the signal. */
const untilSaid =
  /(?<!\p{L})(?:until|till|til|bis|hasta que|jusqu'à ce que|before) (?:i|we|you hear me|ich|yo|je) (?:say|write|type|shout|tell you|send|sage?|schreibe?|diga|escriba|dise|écrive)(?: the (?:word|code|magic word))?,? (?:⟦(\d+)⟧|(stop|enough|go|done|back|basta|stopp|genug))(?!\p{L})/iu
const byLength = (one: string, other: string) => other.length - one.length

const untilWords =
  /(?<!\p{L})(?:until|till|til|as long as|while|bis|solange|hasta que|mientras|jusqu'à ce que?|tant que)\s([^,.;:!?()]{3,80})/iu
const indefinite =
  /^(?!we(?:'re| are) (?:on|at|in|doing|still)(?! (?:here|this chat)))(?:further notice|i (?:say|tell|ask|write)|tol[d]|otherwise|we(?:'re| are)? (?:(?:done|finish(?:ed)?)(?=\s*$| (?:here|this|talking|with this))|talk|chat|speak|work|write|are talking)|the end|you hear|auf weiteres|ich|wir|yo |te |je |nous |on |nuevo|nouvel|we(?: (?:stop|say|part|end|close|quit|change|agree|decide|meet)|\s*$))/i
const emptyWords = new Set(
  'the and that this have has had are was were been its you your our his her their for with from will ist sind hat der die das ein eine que los las les des est fini over done'.split(
    ' ',
  ),
)

/** Returns a text without the event that ends its rules. */
export function withoutEvent(text: string): string {
  return text.replace(untilWords, ' ')
}

/** Reports that the work is finished. */
const completed =
  /(?<![\p{L}])(?:i(?:'m| am)|we(?:'re| are)|it(?:'s| is)|that's|all) (?:\p{L}+ )?(?:done|finished|over|ready|sent|submitted|there|here|home|back|out|off|through|parked|landed|arrived|in|up)(?=\s*(?:[.,;!?]|$| now| at| from))|(?<![\p{L}])(?:\p{L}{3,} (?:are|is) (?:done|finished|over)|made it|(?:just |have |has |i've )?(?:arrived|landed|parked)(?=\s*(?:[.,;!?]|$| now| at| in| outside| here))|(?:got|came|back) home|got it done|break(?:'s| is) over|bin (?:da|zurück|zu ?hause|angekommen)|angekommen|geschafft|(?:ya )?(?:he )?llegu?(?:é|amos|ado)|ya estoy|(?:je suis|on est) (?:bien )?(?:arrivé|rentré)\p{L}*|fertig|geschafft|terminé|fini|listo|terminado|ya está)(?![\p{L}])|完成了|结束了|好了|終わりました|できました/iu

/** Tells whether a message may report the event: it has one of its words, or says that all is done. */
export function reportsEvent(until: string, text: string): boolean {
  const low = text.toLowerCase()
  return until.split(' ').some((word) => low.includes(word)) || completed.test(text)
}
