/** Words before a request that say nothing about it: "ok, and one more thing: please …". */
const greetings =
  /^(?:(?:ok(?:ay)?|so|and|also|but|now|then|well|h(?:i|ello|ey)(?: there)?|yo|thanks?|thx|ty|thank you|merci|danke|gracias|hallo|hola|bonjour|great|good|nice|perfect|cool|lovely|please|pls|plz|plase|bitte|por favor|s'il (?:te|vous) plaît|just|quick(?:ly)?|actually|instead|important|note|reminder|remember|rules?|(?:one|a) (?:more )?(?:thing|rule|request|favou?r|condition)|strictly|always|however|therefore|because of that|for (?:that|this) reason|at the same time|y|et|und|aber|außerdem|también|aussi|además|请|麻烦)(?![\p{L}\p{N}])[\s,.!:–—-]*)+/iu

/** Removes greetings and fillers from the start of a text. */
export function removeGreetings(text: string): string {
  return text
    .replace(/^[\s([]+/, '')
    .trim()
    .replace(greetings, '')
}

const verbs =
  "answer|reply|have|contain|respond|write|give|keep|use|make|put|add|include|avoid|(?:do not|don'?t|dont|never|always|only)\\b|stop|start|begin|open|end|finish|close|conclude|sign|stick|stay|switch|speak|talk|communicate|limit|restrict|confine|cap|explain|describe|tell|list|summari[sz]e|name|say|show|translate|draft|format|return|output|send|let|mention|leave|skip|drop|cut|shorten|compress|phrase|rewrite|rephrase|define|compare|suggest|recommend|create|generate|produce|provide|present|structure|split|spell|capitali[sz]e|lowercase|uppercase|shout|refrain|omit|exclude|hold|fit|continue|change|go|be|set|follow|ban|forbid|remove|replace|convert|turn|throw|work|pretend|act|address|call|wrap|need|want|prefix|append|introduce|sum|recap|settle|render|confine|employ|incorporate|place|insert|mark|label|tag|print|type|paste|post|observe|obey|heed|respect|adhere|comply|consider|bear|take|treat|dispense|eschew|desist|abstain|strike|scrap|ditch|lose|banish|spare|weave|work|finish|terminate|commence|lead|bullet|itemi[sz]e|number|bold|underline|italici[sz]e|shrink|trim|condense|squeeze|boil|translate|mirror|copy|reproduce|quit|cease|restrain|reduce|simplify|break|divide|group|sort|rank|state|express|refer|ensure|remember|try|do|help|quote|cite|recite|pick|choose|sketch|outline|invent|compose|number|render|stay away"
const germanVerbs =
  'antworte|antworten sie|schreibe?|schreiben sie|gib|geben sie|nenne?|sag|sagen? sie|erklär(?:e|s|en sie)?|beschreibe?|fasse?|verwende|verwenden sie|benutze?|nutze|vermeide?|formulier|formuliere|halte?|beende|beginne?|lass|verzichte|sprich|rede|übersetze?|erzähle?|liste|mach|beschränke?|stell|kein|keine|keinen|nur|ohne|maximal|höchstens|mindestens|genau|immer|nie|niemals|auf|in'
const romanceVerbs =
  "responde|responda|contesta|contéstame|respóndeme|escribe|escriba|di|dime|da|dame|explica|explíca\\p{L}*|describe|resume|resúmeme|usa|use|utiliza|evita|evite|termina|acaba|empieza|comienza|habla|háblame|cuéntame|mantén|limita|pon|haz|no|sin|solo|sólo|máximo|nunca|siempre|prohibido|en|réponds|répondez|écris|écrivez|donne|donnez|dis|explique|expliquez|décris|résume|utilise|utilisez|évite|évitez|termine|terminez|commence|commencez|parle|parlez|limite|limitez|fais|mets|ne|n'|sans|seulement|uniquement|maximum|toujours|jamais|pas|interdit|rédige|rispondi|rispondete|scrivi|parla|garde|raconte|cite|nomme|arrête"
const asksFor =
  "i(?:'d| would) (?:like|love|prefer|appreciate)|i(?:'m| am) (?:asking|going to ask)|i (?:want|need|prefer|expect|ask|insist|require|(?:don't|do not) want)|we (?:continue|go on|switch|speak|write|talk|carry on|want|need|prefer|expect|ask|mustn't|must|can't|cannot|don't|do not|never|always)|(?:can|could|would|will) (?:you|u|we|i (?:get|have|please))|may i (?:have|get)|you(?:'ll| will| must| should| shall| have to| need to| are to|'re to| may not| can't| cannot| can only| only| don't| never| always| are (?:not|only))|let's|lets|make sure|be sure|see that|ensure|would you mind|i(?:'ll)? (?:can )?only (?:read|accept|want|speak|understand|have|take in|see|handle|follow|manage|process)|i(?:'d| would) be (?:glad|happy|grateful|thankful)|thou|ye|be so (?:good|kind)|kindly|i'?d rather|my (?:wish|request|rule|condition|only)|the (?:rules?|limit|format|ceiling)|this is how i want|quiero|necesito|me gustaría|prefiero|quisiera|te pido|podrías|puedes|je (?:veux|voudrais|préfère|souhaite|te demande|vous demande)|j'aimerais|peux-tu|pouvez-vous|pourrais-tu|tu (?:dois|peux)|vous devez|il faut|ich (?:möchte|will|hätte|brauche|bitte|wünsche)|(?:will|möchte|wünsche),? dass|kannst du|könntest du|könnten sie|können sie|du (?:sollst|darfst|musst)|wir (?:wollen|dürfen)"

const directive = new RegExp(
  `^(?:${verbs}|${germanVerbs}|${romanceVerbs}|${asksFor})(?![\\p{L}])`,
  'iu',
)
/** Starts of a request without a verb: "no emoji", "in two sentences", "max 20 words". */
const nounPhrase =
  /^(?:no|not|zero|nothing|none|never|anything (?:above|over|beyond|past|longer)|everything|each|every|without|w\/o|only|nothing but|max\.?|cap|limit|length|up ?to|as few|maximum|minimum|at (?:most|least)|under|below|up to|within|exactly|less than|fewer than|more than|as an?\b|in|plain|all (?:lower|upper|caps)|(?:lower|upper)[ -]?case|short|brief|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|eighty|a hundred|\d|bullets?|emojis?|headings?|tables?|numbered|json|csv|keine?[nr]?|ohne|nur|sin|sans|pas d|aucun|nada de|[a-z]+ only|a (?:single|max|one|two)|⟦\d+⟧)(?![\p{L}])/iu
const polite =
  /(?<![\p{L}])(?:please|pls|plz|bitte|por favor|s'il (?:te|vous) plaît|stp|svp|merci|ok|thanks)(?![\p{L}])/iu

const question =
  /^(?:what(?!'?s? i (?:want|need|'d)| about)|who|whom|whose|where|why(?! (?:not|don't))|how(?! about)|which|is|are|am|was|were|does|did|has|have you|have they|had|should|shall|do (?:i|you|we|they|the|people|all|most)|can you (?:also|even|actually|really|only)(?= (?:answer|speak|write|talk|read|do|reply)(?! (?:me|this|it)))|can (?!you|u\b|we (?:keep|have|do)|i (?:get|have|please))|could (?!you|u\b|i (?:get|have)|we)|may i (?!have|get)|might|isn't|aren't|don't (?:you|they)|qué|quién|cómo|cuándo|cuánt\p{L}+|dónde|por qué|cuál|es (?:verdad|cierto)|est-ce|qu'est|pourquoi|comment|combien|quel\p{L}*|qui|où|quand|was|wer|wie|wo|warum|wann|wieso|weshalb|welche\p{L}*|kann man|darf man|ist|sind|hat|haben|gibt es)(?![\p{L}'])/iu

const reported =
  /(?<![\p{L}])(?:had to|(?:once|who|that|which) (?:had|would|could|knew|met|saw)|ruled|decreed|stipulated|ordained|obliged|dictated|used to|read (?:that|somewhere|about)|heard|wrote|wanted (?!you)|required|demanded|insisted|(?:asked|tol[d]) (?:me|us|him|her|them|for|everyone|people)|said|says|suggested (?:that )?i|stopped|(?<!not )(?<!n't )allowed|once (?:wrote|said|had)|means|meant|mailed|complain\w*|my (?:\p{L}+ )?(?:boss|editor|teacher|professor|manager|client|mum|mom|dad|wife|husband|son|daughter|friend|colleague|doctor|lawyer|landlord|company)(?:'s)? (?:\p{L}+ )?(?:wants|needs|likes|loves|hates|says|said|prefers|insists|thinks|has|had|requires|tol[d]|asked|always|never)|(?:he|she|they|people|students|journalists|some) (?:\p{L}+ )?(?:wants?|needs?|like[sd]?|says?|said|prefers?|wrote|writes?|used?|had|has|have|require[sd]?|must|never|always|only)|there (?:is|was|are|were)|(?<=^|[,.] ?|and |but )i (?:always|never|usually|often|sometimes|mostly|only|have to|need to|must|had to|should|can only|try to)(?= (?!want|need|read|accept|like|understand|wish|use only))|in (?:my|our|his|her) (?:\p{L}+ )?(?:book|essay|poem|contract|class|school|company|language|family|country|job|office|exam|homework)|it's called|thank(?:s| you) for (?:not )?\p{L}+ing|i (?:notice[d]?|see|saw|realise[d]?|realize[d]?|thought|think|guess|know|suppose|assume|remember|like that|love that|hate that) (?:that |how )?you|(?:not|no|never been) an? (?:big |great )?fan|my (?:own )?(?:e-?mails|mails|letters|texts|notes|messages|posts|books|essays|diary)|(?:mein|meine|unser|unsere) (?:\p{L}+ )?\p{L}+ (?:will|möchte|verlangt|sagt|meint|hasst|findet|wünscht)|(?:mon|ma|notre|mes) \p{L}+ (?:veut|exige|demande|dit|préfère|déteste|interdit)|(?:mi|mis|nuestr[oa]) \p{L}+ (?:quiere|exige|pide|dice|prefiere|odia|prohíbe)|(?:mi|mis|su|nuestr[oa]) \p{L}+ (?:siempre|nunca|solo|sólo)|(?:mon|ma|son|notre) \p{L}+ (?:n'|ne |\p{L}+ (?:toujours|jamais|que))|(?:mein|meine|unser) \p{L}+ \p{L}+t (?:immer|nie|nur|mit)|verlangte|wollte|sagte|schrieb|musste|hatte|wurde|früher|dijo|quería|exigía|pedía|tenía que|decía|disait|voulait|exigeait|devait|demandait|a dit)(?![\p{L}])|以前|曾经|说过|要求(?:我|学生|孩子|员工)|(?:老师|老板|客户|编辑|上司|学校|公司|她|他们?)(?:要求|规定|希望|说)|と言(?:い|った)|と書いて|昔/iu

/** A request of a user, or something that the user tells or asks. */
export function isDirective(part: string): boolean {
  const bare = removeGreetings(part)
  if (question.test(bare)) return false
  return directive.test(bare) || nounPhrase.test(bare) || polite.test(part) || isCjkRequest(bare)
}

/** Tells whether a part asks for something besides a rule: "what is a tariff". */
export function isQuestion(part: string): boolean {
  return question.test(removeGreetings(part)) || /(?:吗|呢|么|か|の)\s*[?？]?$/u.test(part.trim())
}

/** Tells whether a text says what must be: "your answer must …", "there should be …". */
export function isDemand(text: string): boolean {
  return demand.test(text)
}

const demand =
  /(?<![\p{L}])(?:must|should|shall|have to|has to|needs? to|(?:is|are) to|may not|cannot|can't|can not|(?:are|is) (?:not|only|never) (?:allowed|permitted)|ought to|soll(?:en|st)?|muss|müssen|darf(?:st)?|dürfen|(?:ist|sind|hat|haben) .{0,60} zu \p{L}+|doi(?:t|s|vent)|devr(?:a|as|ez|ont)|ser(?:a|ont)|\p{L}{3,}ra(?= (?:pas|jamais|que|en|de|par))|deben?|tienen? que|hay que|deberán?|serán?|\p{L}{3,}rá[ns]?(?= ))(?![\p{L}])/iu

/** Tells whether a text reports what others said, wanted or did. */
export function isReported(text: string): boolean {
  return reported.test(text)
}

/** Tells whether a text tells a story: "in the novel I'm reading", "in 1954 the committee ruled". */
export function isNarrated(text: string): boolean {
  return narrated.test(text)
}

const narrated =
  /(?<!\p{L})(?:in (?:the|a|this|his|her|my) (?:novel|book|film|movie|game|series|story|play|show|episode|song|dream|class|course|old job|exam)|(?:i|we|he|she|they|there) (?:once|used to|had (?:to|an?)|have to|was|were|knew|met)|at (?:school|uni|university|work)|in (?:1[5-9]|20)\d\d|back (?:in|then)|(?:years?|months?|weeks?|days?) ago|last (?:year|week|month|summer|night)|yesterday|once upon|when i was|früher|damals|autrefois|antiguamente|hace años|il y a longtemps|昔|以前)(?!\p{L})/iu

function isCjkRequest(part: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}]/u.test(part)
}

const condition =
  /(?<![\p{L}'])(?:if|when|whenever|unless|except|in case|depending|otherwise|(?<!(?:nothing|anything|everything|anybody|nobody|no one) )else(?= )|where|as soon as|after|before|once (?:you|the|all|i|we|each|it|they)|(?:final|first|last|opening|initial|second) (?:answer|reply|response|message|output|turn|step|line|sentence|paragraph)(?! (?:is|must|should|of every|of each)|\s*$)|(?:only |just |always )?for (?:(?:all|any|every|each) )?(?:\p{L}+ ){1,2}(?:questions?|topics?|requests?|matters?|issues?|tasks?)|(?:only|just) for (?!this|the rest|you\b|an?\b|one|two|three|\d|json|csv|capital|lower|upper|bullet|numbered|plain)|things for|^for (?:(?!all|every|each|any|my|the|your|our|this|these|both|two|three|a\b|more|some|better|future|further|\d)\p{L}+ ){0,2}(?!answers|replies|responses|messages|us|reasons|purposes|readers|users|customers|guests|people|screens|phones|minutes|turns|seconds|words|sentences|always|this|humans|starters)\p{L}{3,}s(?=[,:]|$)|(?:answers?|replies|reply|responses?) (?:(?:about|on|regarding|concerning)(?= (?!me|all|this|here|these)\p{L})|(?:to|for) (?:questions|requests|complaints|\p{L}+ (?:questions|requests)))|questions (?:that|about|on|with|which)|for (?:these|those|such)(?=,)|^(?:(?:a |the )?(?:rules?|stipulations?|provisions?|requirements?) (?:concerning|for|on|about|regarding) (?!answers?|repl|respon|your|this|our|you|all|every|each|the (?:rest|chat))\p{L}+)|^(?:requests|questions|messages|complaints|orders|mails|bookings|enquiries|inquiries|queries|topics) (?:for|about|on|with|from|regarding|concerning) (?!me|you|all)\p{L}+|e\.g|for example|for instance|such as|wenn|falls(?= (?:du|ich|sie|er|es|der|die|das|ein\p{L}*|man|jemand|nötig|möglich|kunden?|nutzer))|sobald|außer|bei|si|cuando|salvo|excepto|quand|lorsque|sauf|para (?:las )?preguntas|pour (?:les|mes|tes|vos|des) questions|para (?:mis|las|tus) preguntas|für (?:meine |alle )?fragen|^(?:\p{L}+ ){1,2}(?:questions|topics|requests|stuff|matters|fragen)$|^(?!all|your|every|each|the|any|my|our|short|long|these|future|house)(?:\p{L}+ ){1,2}(?:e-?mails|mails|letters|posts|articles|reports|notes|tickets|titles|summaries|ones|texts|messages|descriptions|captions|headlines|slogans)$)(?![\p{L}])|如果|要是|假如|的时候|时[,,]|除非|场合|(?<!もう)なら(?!な)|質問には|のときは|時は|の場合/iu

/** Words of wishes, which are not binding. */
const hedge =
  /(?<![\p{L}'])(?:optional(?:ly)?|may (?!not)|might|try to|prefer(?:ably|red)|ideally|usually|generally|typically|(?:where|if|when) possible|as needed|feel free)(?![\p{L}])/iu

/** Tells whether a rule is only a wish: "try to keep it short". */
export function isHedged(text: string): boolean {
  return hedge.test(text)
}

/** Phrases that look like conditions but are not. */
const unconditional =
  /(?<![\p{L}])(?:when(?:ever)? (?:you(?:'re| are)? )?(?:answer|repl|respond|writ|speak|talk)\w*(?: (?:to )?(?:me|us|users?|customers?|the user))?|even (?:if|when|though)\b.{0,80}|no matter (?:if|what|how|which|when|where)\b.{0,80}|what(?:ever) (?:happens|i say)|unless i (?:say|tell|ask)(?: you| for)?(?: otherwise)?|as if\b.{0,60}|if you (?:could|would|can|might)(?: please)?(?= )|(?:want|need|like|prefer|have|be) (?:an? |the )?\p{L}+ where(?= )|until (?:i|tol[d]|further)\b.{0,40}|auch wenn.{0,80}|bei (?:uns|mir|ihnen|dir)(?!\p{L})|selbst wenn.{0,80}|aunque.{0,80}|incluso si.{0,80}|même (?:si|quand|lorsque).{0,80}|s'il (?:te|vous) plaît|in case you (?:wonder|ask)\w*|before we (?:start|begin|go on|continue)|after (?:all|that|this|(?:the )?(?:\d+(?:th|rd|nd)?|one|two|three|four|five|six|seven|eight|ten|twenty|thirty|forty|fifty|sixty|eighty|first|second|third|fourth|fifth|sixth) (?:words?|sentences?|characters?|chars|paragraphs?|lines?|bullets?))|before anything else|when(?:ever)? you(?:'re| are|'ve| have) (?:done|finished)|after (?:each|every|all)(?: of)?(?: your)? (?:answers?|reply|replies|messages?|responses?)|as before|may not|might not|(?:as|where)as|bei (?:allen|jeder|deinen|dieser|all|den (?:weiteren|folgenden|künftigen)|der beantwortung|meinen weiteren|sämtlichen)\b|(?:is|are) where (?:i|we|it|you|the|my)\b|cuando (?:term|acab|respond|contest|escrib|habl)\p{L}+|quand (?:tu|vous) (?:répond|écri|parl|termin|fini)\p{L}+|wenn (?:du|sie) (?:antwort|schreib|sprich|sprech|fertig)\p{L}*|(?:i'd|i would|we'd) (?:prefer|like|love|appreciate|be \p{L}+)(?: it)? if|(?:it )?would be (?:nice|great|good|lovely|helpful|best|better) if|for (?:all|any|each|every one) (?:of )?(?:my|the|these|your|further|future|following|upcoming) \p{L}+|prefer (?!ably)|except(?:ion|ionally)|without exception|(?:knows?|wonders?|sees?|asks?) (?:where|when|if)|(?<=, )[^,;]{3,50} otherwise$|i(?:'d| would) prefer)|即使[^,,。]{0,40}|就算[^,,。]{0,40}|哪怕[^,,。]{0,40}|不管[^,,。]{0,40}|无论[^,,。]{0,40}/giu

/** Remarks that restrict no rule: in parentheses, or behind "and yes, we …". */
const aside =
  /\([^()]{12,200}\)|, (?:and|but|so|because|as|since) (?:yes,? )?(?:we|i|they|he|she|our|my|yes)(?!\p{L})[^;]*$|(?:to|until|till|through) the (?:very )?(?:last|final) \p{L}+|such as(?= ⟦)/giu

/** Returns the condition of a rule, or undefined: "for billing questions", "if the user is rude". */
export function conditionOf(text: string): string | undefined {
  const rest = text.replace(aside, ' ').replace(unconditional, ' ')
  const found = condition.exec(rest)
  return found === null ? undefined : rest.slice(found.index)
}

/** Texts that an agent writes besides its answers. */
const otherTexts =
  'commits?|commit messages?|docstrings?|(?:code|source|inline|block) comments?|subject lines?|pull requests?|branch(?:es)?|titles?|headlines?|subjects?|readme|log messages?|changelog|meta descriptions?|variable names?|thoughts?|reasoning|scratchpad|thinking'
/** Things that an agent works on. */
const otherThings =
  'files?|functions?|arguments?|parameters?|fields?|tools?|tool calls?|scripts?|variables?|tests?|endpoints?|database|plan|docs?|documentation|(?<!(?:no|only|just|nothing but|nothing except|line of|lines of|exclusively with|solely|but|with|without|any|any other) )code'
const kindsOfCode = '(?:git |inline |unit |python |new |source |internal )?'
const aboutOther = new RegExp(
  [
    `(?<![\\p{L}])(?:in|for|of|per|to|into|on|writing|your|the|each|every|all|any|a)(?: (?:of|the|your|my|all|any|a|each|every|section)){0,2} ${kindsOfCode}(?:${otherTexts})`,
    `(?<![\\p{L}])(?:in|inside|for|of|per|to|into|each|every)(?: (?:of|the|your|my|all|any|a|each|every)){0,2} ${kindsOfCode}(?:${otherThings})`,
    `^(?:\\P{L}|the |all |your |each |every |any |a |keep |write )*${kindsOfCode}(?:${otherTexts}|${otherThings})`,
  ]
    .map(
      (part) =>
        `(?:${part})(?![\\p{L}-])(?! (?:blocks?|formatting|snippets?|fences?|only|format|case|alone|and nothing|without|whatsoever|at all|(?:is|are) (?:off|banned|forbidden|not|never)))`,
    )
    .join('|'),
  'iu',
)

/** "Reports that you save with save_report." */
const byTool =
  /(?<!\p{L})(?:with|via|through|using|by|to|calling) (?:the |⟦\d+⟧ )?(?:tool |function )?[a-z]+_[a-z_]+(?!\p{L})/u

/** Tells whether a rule is about an agent's work (files, commits, arguments), not its answers. */
export function isAboutWork(text: string): boolean {
  return aboutOther.test(text) || byTool.test(text)
}
