/** Words that the assistant is asked to write: "a story", "a letter", and its name. */
export type Products = ReadonlySet<string>

/**
 * The subject of a clause: the assistant and its answers (`own`), others (`other`), a request
 * without a subject (`request`), or unknown (`none`).
 */
export type Subject = 'own' | 'other' | 'request' | 'none'

/** Returns whom the clause at a position speaks of, by its subject and verb. */
export function subjectAt(text: string, start: number, products: Products): Subject {
  const left = text.slice(0, start)
  return isOfOthers(left, products) ? 'other' : subjectOfClauses(text, start, products)
}

/** Tells whether words before a position speak of others, with any subject of its clause. */
function isOfOthers(left: string, products: Products): boolean {
  if (foreignWords.some((words) => words.test(left))) return true
  return namesOther([ofRelative, ofVerb], left, products)
}

/** Tells whether the noun that one of the patterns finds means others. */
function namesOther(patterns: readonly RegExp[], text: string, products: Products): boolean {
  return patterns.some((pattern) => {
    const noun = pattern.exec(text)?.[1]
    return noun !== undefined && subjectOf(noun, products) === 'other'
  })
}

function subjectOfClauses(text: string, start: number, products: Products): Subject {
  const left = text.slice(0, start)
  const { last, clauses } = clausesOf(left)
  const predicates = clauses.flatMap(predicateOf)
  for (const [at, { said, rest, isComma }] of predicates.entries()) {
    if (said === undefined) return goesOn(predicates[at + 1], products) ? 'other' : 'request'
    const isNew = isComma && request.test(last) && !limits.test(rest)
    return isNew ? 'none' : subjectOf(said, products)
  }
  if (clauses.some(({ clause }) => imperative.test(clause))) return 'request'
  if (isBare(last)) return topicSubject(text.slice(start), products)
  const thing = ofThing.exec(last)?.[1]
  return thing !== undefined && subjectOf(thing, products) === 'other' ? 'other' : 'none'
}

/** "Players answer in one word, never use …": others go on to act. */
function goesOn(before: Predicate | undefined, products: Products): boolean {
  if (
    before?.said === undefined ||
    !/^(?:answer|reply|respond|write|speak|greet|use|ask)/i.test(before.rest)
  )
    return false
  return subjectOf(before.said, products) === 'other'
}

/** "Text on the cake up to …": a part of something else. */
const ofThing =
  /^\s*(?:(?:the|an?|each|every) )?(?!no\b|not\b|only|max|at\b|up\b|in\b|all\b|from|instead)\p{L}+ (?:on|in|of) (?:the|an?|each|every) (?!form|style|shape|manner|format)(\p{L}+)(?=\s)/iu

/** "Remove posts that contain links, are written in capitals, …". */
const ofRelative =
  /(?<!\p{L})(?<!(?:kind|sort|type) of )(\p{L}{3,}) (?:that|which|who) (?:contains?|ha(?:s|ve)|is|are|uses?|do|does|starts?|ends?|begins?|exceeds?)(?!\p{L})(?:(?!, (?:please|so|use|write|keep|never|always|don't|do not|answer|reply|you)(?!\p{L}))[^;:.])*$/iu

/** "The candidate answers each question in …". */
const ofVerb =
  /(?<!\p{L})(?:the|an?|each|every) (\p{L}{3,}) (?:answers|replies|responds|speaks|writes) (?:each|every|in|with|only|to|questions|back)(?!\p{L})[^;:.]*$/iu

/** A clause, and how it is joined with the clause before and with the last one. */
type Clause = { clause: string; isJoined: boolean; isComma: boolean }

/** Splits the words before a position into clauses, the nearest first. */
function clausesOf(left: string): { last: string; clauses: Clause[] } {
  const parts = (left.split(strongBoundary).at(-1) ?? '').split(boundary)
  const isComma = parts.length > 1 && !/\p{L}/u.test(parts.at(-2) ?? '')
  const clauses = parts.flatMap((clause, at) => {
    const isJoined = at > 0 && /\p{L}/u.test(parts[at - 1] ?? '')
    return at % 2 === 0 ? [{ clause, isJoined, isComma: isComma && at < parts.length - 1 }] : []
  })
  return { last: parts.at(-1) ?? '', clauses: clauses.reverse() }
}

type Predicate = { said?: string; rest: string; isComma: boolean }

/**
 * Returns the subject and predicate of a clause. A request that "and" joins with a clause before has
 * its subject there: "students answer briefly and never use …".
 */
function predicateOf({ clause, isJoined, isComma }: Clause): Predicate[] {
  const found = predicate.exec(clause)
  if (found === null) return imperative.test(clause) && !isJoined ? [{ rest: '', isComma }] : []
  const said = clause.slice(0, found.index).trim()
  return said === '' ? [] : [{ said, rest: clause.slice(found.index), isComma }]
}

/** Tells whether words only introduce a topic: "the word", "any", "use of". */
function isBare(words: string): boolean {
  return /^\s*(?:(?:the|an?|any|all|your|use of|no|please|also|keywords?|words?|terms?|phrases?|letters?|names?|expressions?|exact)(?:\s+|$))*$/i.test(
    words,
  )
}

/** Returns whom a clause speaks of whose subject is the topic: "emojis must not be used in ads". */
function topicSubject(rest: string, products: Products): Subject {
  const found = ofTopic.exec(rest)
  if (found === null) return 'none'
  const place =
    /(?<!\p{L})(?:in|on|within|inside|by) (?:(?:the|your|my|our|their|its|any|each|every|all|an?|this|of|these|those|entire|whole|final|single) )*(\p{L}+)/iu.exec(
      rest.slice(found[0].length),
    )
  return place === null ? 'own' : subjectOf(place[1] ?? '', products)
}

const ofTopic =
  /^(?:⟦\d+⟧|[\p{L}\p{N}'-]+)(?:,? (?:(?:and|or) )?(?:⟦\d+⟧|(?!must|should)[\p{L}'-]+)){0,4}? (?:(?:must|should|shall|may|can)(?:n't| not| never)?|cannot|can't|ha(?:s|ve) to|needs? to|(?:is|are) (?:to be|(?:not|never) (?:to be|allowed|permitted|welcome|wanted|used)|forbidden|banned|prohibited))(?!\p{L})/iu

/** A clause after a comma that is a new request: "I read on a watch, no tables please". */
const request =
  /^\s*(?:please|pls|no|not|without|max|at most|in|only|just|so|never|bitte|keine?)(?:\s|$)/i
/** Words of a clause whose list goes on: "posts have no links, no emojis". */
const limits =
  /(?<!\p{L})(?:(?:are|is) (?:in|written|given|numbered|lower\p{L}*|upper\p{L}*|all)|one|two|three|four|no|not|never|without|only|max|at most|more than|under|\d+)(?!\p{L})|n't/iu
const strongBoundary =
  /[;:.!?()…。；：]|\s[–—-]+\s|(?<!\p{L})(?:so|because|since|then|deshalb|also)(?!\p{L})/iu
const boundary =
  /([,，、](?: (?:and|but|or|und|aber|et|mais|y|pero)(?!\p{L}))?|(?<!\p{L})(?:and|but|or|und|aber|y|e|et|mais|pero)(?!\p{L}))/iu

/** Verbs that have a subject before them. */
const predicate =
  /(?<![\p{L}'])(?:(?:must|should|shall|may|might|can|could|will|would|cannot)(?:n't| not)?|(?<=(?:\p{L}s|people|staff|children|men|women|mine|everyone|everybody) (?:(?:often|usually|sometimes|mostly|rarely|generally|typically) )?)(?<!(?<!\p{L})(?:always|this|us|plus|less|unless|yes|thus|its|please|these|those|answers|replies|pls|thanks|cheers|is|as|was|has|does) )(?:carry|greet|ask|tell|open|close|sign|have|contain|use|end|start|begin|exceed|include|take|get|avoid|answer|reply|respond|write|speak|send|submit|type|never|always)(?= )|can't|won't|shan't|(?:does|did|is|are|was|were|has|have|had)(?:n't| not)?|(?<!^)(?:do not|don't|need|needs|ought|(?:always|never|only)(?= (?!this|plus|unless|as\b)\p{L}{3,}s(?!\p{L}))|(?<!that |which |who )(?:end|start|begin|close|use|write|contain|include|say|respond|speak|avoid|finishe|consist|get|come|arrive)s))(?![\p{L}'])/iu
/** Starts of clauses without a subject. */
const imperative =
  /^\s*(?:please |pls |just |also |then |now |ok |but |always |never |do |don't |not )*(?:use|write|give|keep|make|put|add|include|avoid|answer|reply|respond|start|begin|open|end|finish|close|speak|stick|limit|return|output|sign|mention|say|format|leave|skip|create|explain|list|summari[sz]e|tell me|refrain)(?!\p{L})/iu
/** "Tell users to …", "remind the customer that …": the assistant passes it on. */
const told =
  /(?<!\p{L})(?:tell|ask|remind|instruct|inform|advise|urge|warn|order|teach|require|invite|request)(?:s|ing)? (?!you\b|me (?:any|no|the|a)\b|me\b|yourself\b|for\b|any|no\b|if\b|questions?\b)(?:\p{L}+['’]?\p{L}* ){1,5}?(?:(?:never|not) )?(?:to|that|how|about)(?!\p{L})|(?<!\p{L})(?:make|get|let|have) (?!you\b|it\b|me\b|us\b|sure\b|every|each|all\b|any|the\b|your|an?\b|no\b)(?:\p{L}+ ){1,3}(?:to )?(?:answer|reply|respond|write|speak|talk)(?!\p{L})/iu
/** "A prompt that tells a bot to …", "a letter saying that he must …". */
const contained =
  /(?<!\p{L})(?:a|an|the|some|my|our|new|this|that) (?:\p{L}+ ){0,3}?\p{L}+ (?:that|which|who) (?:says|said|tells|told|asks|states|reads|forbids|bans|explains|requires|makes|lets)(?!\p{L})|(?<!\p{L})(?:saying|telling|stating|reading|asking|explaining|reminding)(?: \p{L}+){0,3} (?:that|to|not to)(?!\p{L})/iu
/** "Users hated that the old bot answered in one word." */
const predecessor =
  /(?<!\p{L})(?:old|previous|former|last|earlier|other) (?:bot|chatbot|assistant|version|agent|model|system)(?!\p{L})|(?<!\p{L})predecessor/iu
/** "A regex that matches lines of …": what a program takes or gives. */
const artefact =
  /(?<!\p{L})(?:reg(?:ex|ular expression)|functions?|programs?|scripts?|validators?|queries|query|class|method|macro|formula|parser|linter|crossword|password)s? (?:that|which|to|for|of|with)(?!\p{L})/iu
/** "Our API answers in JSON", "messages sent with the tool". */
const device =
  /(?<!\p{L})(?:api|server|endpoint|service|app|device|machine|software|website|team|company|staff) (?:answers|replies|speaks|returns|responds|sends|writes)(?!\p{L})|(?<!\p{L})(?:messages?|texts?|answers|replies|posts) (?:sent|posted|written|received|made|published) (?:with|by|from|through|via|on|in|to) (?!me\b|you\b|this\b)/iu
/** "Explain why legal documents avoid …". */
const embedded =
  /(?<!\p{L})(?:explain|describe|discuss|tell me|say|show|know|wonder|understand|ask|guess)(?: me| us)? (?:why|whether|if)(?!\p{L})[^,;:]*$/iu

const foreignWords = [told, contained, embedded, predecessor, artefact, device]

/** Returns whom words before a verb mean. */
export function subjectOf(said: string, products: Products): Subject {
  if (ofUser.test(said) || namesOther([fronted, ofWhole], said, products)) return 'other'
  if (/⟦\d+⟧/.test(said) || silent.test(said)) return 'none'
  if (isYours.test(said) || ofYou.test(said)) return 'own'
  return subjectOfNoun(nounOf(said), products)
}

/** "A reply never", before "has". */
const adverb = / (?:never|always|only|also|hardly|ever)\s*$/iu

/** Returns the noun of a subject, in lower case: "replies" of "all replies to guests". */
function nounOf(said: string): string {
  const bare = said.replace(complement, '').replace(lead, '').replace(adverb, '').trim()
  const [head = ''] = bare.split(
    /(?<!\p{L})(?:of|for|to|in|on|at|from|with|without|about|out|that|which|who|by|you|i|we|longer|shorter|over|under|von|für|de|du|des|del|para|pour|dans)(?!\p{L})/iu,
  )
  return (
    head
      .trim()
      .split(/\s+/)
      .at(-1)
      ?.toLowerCase()
      .replace(/['’]s$/, '') ?? ''
  )
}

function subjectOfNoun(word: string, products: Products): Subject {
  if (word === '') return 'none'
  if (word === 'it' || word === 'they') return products.size > 0 ? 'own' : 'other'
  if (products.has(`${foreign}${stemOf(word)}`)) return 'other'
  if (own.test(word) || products.has(stemOf(word))) return 'own'
  return /^\p{L}/u.test(word) ? 'other' : 'none'
}

/** "Our lawyer insists that no reply …": the demand is of what follows. */
const complement =
  /^.*(?<!\p{L})(?:insist|demand|require|ask|decide|decree|agree|rule|want|request|order|prefer|note|remember|ensure|sure|care|it|important|essential|vital|mandatory|imperative|necessary|means)\p{L}* that (?=\p{L})/iu
/** "Every translation you supply". */
const isYours =
  /(?<!\p{L})(?:you|u|thou) (?:ever )?(?:write|give|make|supply|send|produce|offer|provide|post|output|deliver|return|generate|utter|compose|say|submit)(?: now| here| from now on)?\s*$/iu
/** "My answer to the landlord", "everything I type". */
const ofUser =
  /^(?:\P{L}|and |but |so )*(?:(?:my|his|her|their) (?:\p{L}+ )?(?:answers?|repl(?:y|ies)|responses?|messages?|texts?)|(?:everything|anything|all|whatever|what) (?:that )?(?:i|we|he|she|they) (?:type|write|say|send|print))(?!\p{L})/iu
/** "All answers in the quiz …". */
const ofWhole =
  /(?<!\p{L})(?:answers?|replies|reply|questions?|messages?|texts?|words?|sentences?) (?:in|of|on|from) (?:the|an?|my|his|her|their|our) (?:\p{L}+ )?(\p{L}+)\s*$/iu
/** "In Oulipo novels no word …", "for the exhibition each caption …". */
const fronted =
  /^(?:in|at|on|for|during) ((?:(?!all|every|each|any|your|no\b)\p{L}+ ){0,3}?(?!future|general|short|case|total)\p{L}+),? (?:no|each|every|all|any) \p{L}+/iu
/** "Your suggestions", but not "your users". */
const ofYou =
  /^(?:\P{L}|and |but |so |also )*(?:your|ur|thy|deine?|eure|ihre|tes|vos|tus|sus) (?:\p{L}+ )?(?!users?|customers?|clients?|boss|team|colleagues?|friends?|readers?|guests?|students?|company|developers?|agents?|nutzer|kunden|clients?|clientes|usuarios)\p{L}+\s*$/iu
/** Subjects that say nothing: a wish of the user, a place holder, the topic itself. */
const silent =
  /(?:^|\s)(?:no|ne|non|que|i|we|here|it's|that's|what|let|let's|who|how|where|ich|wir|yo|je|nous|on|es|il)$/iu
const lead =
  /^(?:(?:and|but|so|if|also|please|ok|okay|now|then|remember|note|because|since|as|that|from now on|again|well|oh|hey|hi|hello|always|never|only|if possible)(?!\p{L})\s*)+/iu

/** Words for the assistant, its answers, their parts and their form. */
const own =
  /^(?:you|u|your|yours|this|that|these|those|there|all|each|every|both|any|none|nothing|everything|anything|whatever|one|ones|du|sie|tu|vous|usted|vos|answers?|repl(?:y|ies)|responses?|messages?|msgs?|texts?|outputs?|turns?|corrections?|completions?|contributions?|interventions?|utterances?|statements?|remarks?|deliverables?|hereof|thou|ye|thine|thee|wording|language|languages|tone|style|formats?|formatting|length|lengths|size|limit|limits|maximum|minimum|max|min|count|cap|ceiling|number|total|rule|rules|words?|sentences?|phrases?|terms?|names?|expressions?|characters?|letters?|lines?|paragraphs?|bullets?|points?|items?|lists?|headings?|headers?|links?|urls?|tables?|code|markdown|html|json|emojis?|emoticons?|digits?|numbers?|figures?|bold|italics?|caps|capitals?|case|lowercase|uppercase|punctuation|marks?|commas?|dots?|dashes?|hyphens?|quotes?|questions?|exclamations?|signs?|symbols?|greeting|greetings|opening|openings|ending|endings|signature|sign-?off|beginning|start|end|conversation|chat|session|talk|writing|prose|english|german|french|spanish|content|contractions?|antwort(?:en)?|nachricht(?:en)?|texte?n?|ausgaben?|auskunft|auskünfte|beitrag|beiträge|rückmeldung(?:en)?|äußerung(?:en)?|formatierung(?:en)?|respuestas?|mensajes?|textos?|contestaci(?:ón|ones)|intervenci(?:ón|ones)|salidas?|réponses?|interventions?|textes?|sätze?|wörter|palabras|frases|mots|phrases|word|line|sentence|part|parts|section|sections|verbosity|brevity|version|result|things?|entirety|entire|whole)$/i

/**
 * Returns the words of a message that name what the assistant writes, and its name. Only a system
 * text calls the assistant a bot.
 */
export function productsOf(text: string, role: 'system' | 'user'): Products {
  const found = new Set<string>()
  if (role === 'system') {
    for (const name of assistant) found.add(stemOf(name))
    for (const [, name = ''] of text.matchAll(quantified)) found.add(stemOf(name.toLowerCase()))
    for (const [, words = ''] of text.matchAll(checked)) {
      found.add(`${foreign}${stemOf(words.toLowerCase().split(' ').at(-1) ?? '')}`)
    }
  }
  for (const [, words = ''] of text.matchAll(asked)) {
    for (const word of words.toLowerCase().match(/\p{L}{3,}/gu) ?? []) found.add(stemOf(word))
  }
  for (const [, name = ''] of text.matchAll(named)) {
    found.add(stemOf(name.toLowerCase().split(' ').at(-1) ?? ''))
  }
  return found
}

const asked =
  /(?<!\p{L})(?:write|create|make|compose|draft|generate|produce|come up with|prepare|design|give|want|need|send|develop|build|craft|tell|invent|provide|rewrite|elaborate|turn|expand|convert|summari[sz]e|continue|complete|schreibe?|verfasse?|escribe|rédige[zs]?|écris)(?!\p{L})([^.!?;:\n]{1,120}?)(?=[.!?;:\n]|$| (?:of|for|to|about|between|with|that|who|which|in|on|by|from|where|describing|explaining|saying|using)(?!\p{L}))/giu
/** "Every hint must …": a system text says so of what the assistant writes, unless it is a person or a record. */
const quantified =
  /(?<!\p{L})(?:each|every|any|no) (?!user|customer|client|guest|student|employee|author|member|visitor|caller|patient|passenger|person|one\b|body|manager|team|colleague|agent|ticket|order|invoice|contract|account|file|product|item|article|paper|page|booking|request|question|case|commit|function|test|field|day|time|week|month|year)(\p{L}{3,})(?= (?:must|should|shall|may|has to|needs to|ends?|starts?|begins?|opens?|closes?|contains?|carries|consists?|reads|exceeds?) )/giu
/** Marks the names of what others write. */
const foreign = '!'
/** "You check the texts of customers": what the assistant judges is not what it writes. */
const checked =
  /(?<!\p{L})(?:you|to) (?:check|review|grade|moderate|proofread|screen|inspect|score|assess|judge|evaluate|approve|audit|triage|classify)(?: and \p{L}+)? (?:(?:the|all|any|each|every|our|incoming|new|submitted|whether|if) )*((?:\p{L}+ )?\p{L}{3,})(?= (?:of|by|from|for|that|which|who|against|before|written|sent|on|in|must|has|have|is|are|and)(?!\p{L})|[.,;:\n])/giu
const assistant = ['assistant', 'bot', 'chatbot', 'agent', 'ai', 'model', 'persona', 'character']
const named =
  /(?:you are|you're|play|be|your name is|called|named|act as|pretend to be|role of) (?:now )?((?:an?|the) (?:\p{L}+[ -]){0,3}?\p{L}+(?= (?:of|for|who|that|at|in|on|with|from)|\W*[.,;!(]|$)|(?!an? |the )\p{L}[\p{L}-]+)/gimu

function stemOf(word: string): string {
  return word.replace(/(?:ies|ie|y)$/, 'i').replace(/(?:es|s|e)$/, '')
}
