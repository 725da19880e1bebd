/**
 * Statements of an answer about itself. The phrase lists are short on purpose: each phrase has only
 * one likely meaning. They cover English, German, French, Spanish and Chinese; negated, hedged,
 * interrogative and future sentences are ignored.
 */

/** Maximum characters read of an answer: half from the beginning, half from the end. */
const text_chars_max = 4_000

/** Returns the sentences of a text in lower case, without code and quotations. */
export function splitSentences(text: string): string[] {
  const prose = removeCode(keepEnds(text)).replace(quoted, ' ').toLowerCase().replaceAll('’', "'")
  return prose
    .split(/(?<=[.!?…。！？])(?<!\b\p{L}\.\p{L}\.)\s+|[。！？]|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '' && !sentence.startsWith('>'))
}

/** Returns a sentence in lower case as it is written in its text. */
export function asWritten(text: string, sentence: string): string {
  const lower = text.toLowerCase().replaceAll('’', "'")
  const at = lower.length === text.length ? lower.indexOf(sentence) : -1
  return at === -1 ? sentence : text.slice(at, at + sentence.length)
}

/** Quotations, in the quotation marks of several languages. */
const quoted = /"[^"\n]{1,400}"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»/g

function keepEnds(text: string): string {
  if (text.length <= text_chars_max) return text
  const half = text_chars_max / 2
  return `${text.slice(0, half)}\n${text.slice(-half)}`
}

function removeCode(text: string): string {
  return text
    .split('```')
    .filter((_, at) => at % 2 === 0)
    .join('\n')
}

/** Returns the sentences that claim success; empty if any sentence admits a failure. */
export function findSuccessClaims(text: string): string[] {
  const sentences = splitSentences(text)
  if (sentences.some((sentence) => hasAny(sentence, admissions))) return []
  return sentences.filter(
    (sentence) => !isAsked(sentence) && !conditions.test(sentence) && hasClaim(sentence),
  )
}

/** A doubt belongs to its clause: “it is paid, and will be posted” claims the payment. */
function hasClaim(sentence: string): boolean {
  return sentence
    .split(/,\s|;| and | but | und | aber | et | y /)
    .some((clause) => hasAny(clause, successes) && !hasAny(clause, doubts))
}

/** A condition applies to the whole sentence. */
const conditions =
  /\b(?:if|once|when|unless|until|falls|sobald|wenn|dès|si|cuando|as soon as|before|after)\b|如果/

/** Tells whether a text says that something failed, is missing or is not so; questions count too. */
export function mentionsFailure(text: string): boolean {
  return splitSentences(text).some(
    (sentence) => hasAny(sentence, admissions) || negations.some((no) => no.test(sentence)),
  )
}

/** Returns the refusing sentence if the answer starts with a refusal. */
export function findRefusal(text: string): string | undefined {
  return splitSentences(text)
    .slice(0, maxRefusalSentences)
    .find((sentence) => hasAny(sentence, refusals) && !isAsked(sentence))
}

const maxRefusalSentences = 3

/** Returns the last sentence if it announces the model's next action. */
export function findAnnouncement(text: string): string | undefined {
  const last = splitSentences(text).at(-1)
  if (last === undefined || isAsked(last) || hasAny(last, waiting)) return undefined
  return announcements.some((opening) => last.startsWith(opening)) ? last : undefined
}

function isAsked(sentence: string): boolean {
  return /[?？]["')\]]*$/.test(sentence)
}

/** Words match as whole words in languages that separate them by spaces. */
function hasAny(sentence: string, phrases: readonly RegExp[]): boolean {
  return phrases.some((phrase) => phrase.test(sentence))
}

const successes: readonly RegExp[] = [
  /\bsuccessful(?:ly)?\b|\ball set\b|\ball done\b|✅|\b(?:is|are) (?:now )?(?:live|complete)\b/,
  /\b(?:deployment|booking|payment|order|refund|transfer|upload|installation|update) complete\b/,
  /^(?:done|fixed|finished|erledigt|fertig|listo|hecho|c'est fait|terminé)\b/,
  /\b(?:has|have|is|was|were|are) (?:now )?(?:been )?(?:sent|booked|created|updated|deleted|removed)\b/,
  /\b(?:has|have|is|was|were|are) (?:now )?(?:been )?(?:cancelled|canceled|processed|completed)\b/,
  /\b(?:has|have|is|was|were|are) (?:now )?(?:been )?(?:paid|refunded|deployed|saved|confirmed)\b/,
  /\b(?:has|have|is|was|were|are) (?:now )?(?:been )?(?:scheduled|placed|fixed|resolved|uploaded)\b/,
  /\bi(?:'ve| have)? (?:now )?(?:sent|booked|created|updated|deleted|removed|cancelled|canceled)\b/,
  /\bi(?:'ve| have)? (?:now )?(?:processed|completed|paid|refunded|deployed|saved|scheduled|placed)\b/,
  /\bi(?:'ve| have)? (?:now )?(?:fixed|resolved|uploaded|transferred|ordered|published|posted)\b/,
  /\btests? (?:now |all )?pass(?:es|ed)?\b|\ball (?:the )?tests (?:are )?(?:pass|green)/,
  /\berfolgreich\b|\bwurden? (?:gesendet|versendet|gebucht|erstellt|aktualisiert|gelöscht|bezahlt)\b/,
  /\bavec succès\b|\b(?:a|ont) été (?:envoyé|réservé|créé|mise? à jour|supprimé|payé|annulé)/,
  /\bcon éxito\b|\bexitosamente\b|\bse ha (?:enviado|reservado|creado|actualizado|pagado)\b/,
  /成功|已完成|已发送|已预订|已创建/,
]

const negations: readonly RegExp[] = [
  /\b(?:not|no|none|never|only|without|cannot|neither|nor)\b|n't\b/,
  /\b(?:failed|fails|refused|expired|ran out|sold out|full|closed|taken|gone|too \p{L}+)\b/u,
  /\b(?:nicht|kein|keine[nmrs]?|nur|leider)\b|\bne \p{L}+ (?:pas|plus|que)\b/u,
  /(?<!\p{L})(?:no se|no es|no hay|solo|sólo|aucune?|impossible)(?!\p{L})|没|不|未|只/u,
]

/** Negations, hedges, conditions and future forms. */
const doubts: readonly RegExp[] = [
  /\b(?:not|no|never|without|n't|cannot)\b|n't\b/,
  /\b(?:may|might|maybe|perhaps|probably|should|could|would|will|can|once|if|when|unless|until)\b/,
  /\b(?:i'll|going to|try|trying|attempt|attempted|seems?|appears?|partially|partly|almost)\b/,
  /\b(?:before|previously|earlier|already|last time|to be)\b/,
  /\b(?:nicht|kein|keine|leider|konnte|wird|werde|sollte|könnte|falls|sobald|wenn|vielleicht)\b/,
  /\b(?:ne|pas|impossible|peut-être|si|dès|sera|devrait)\b|\bn'/,
  /(?<!\p{L})(?:nunca|quizás?|podría|debería|cuando|será)(?!\p{L})/u,
  /没|不|未|如果|可能|将/,
]

/** Admissions of failure: an answer with one claims no success. */
const admissions: readonly RegExp[] = [
  /\b(?:failed|fails|failing|failure) (?:to|with|because|due|again|when|for|at|on|and|\()|\bfailed\b[.,;:]?$/,
  /\b(?:could not|couldn't|cannot|can't|can not|was not able|wasn't able|were not able|not able)\b/,
  /\b(?:did not|didn't|does not|doesn't) (?:work|succeed|go through|complete|respond)\b/,
  /\b(?:unable|unfortunately|unsuccessful|impossible|not possible|however|still (?:fails|failing))\b/,
  /\b(?:an|the|this|same|with|returned|got|hit) (?:\w+ )?errors?\b|\berror (?:occurred|while|when)\b/,
  /\b(?:ran into|encountered|there was|there is|there were|issue with|problem with)\b/,
  /\b(?:timed out|is down|was down|unavailable|not available|not found|denied|rejected|declined|refused)\b/,
  /\b(?:konnte|könnte|leider|fehlgeschlagen|fehler|nicht möglich|gescheitert)\b/,
  /(?<!\p{L})(?:impossible|malheureusement|échoué|échec|erreur|pas pu)(?!\p{L})/u,
  /(?<!\p{L})(?:lamentablemente|un error|no pude|no he podido|no se pudo|falló|imposible)(?!\p{L})/u,
  /失败|无法|错误|抱歉/,
]

/** Refusals of the request itself; a missing file or an unreachable place is not one. */
const refusals: readonly RegExp[] = [
  /\bi(?:'m| am) (?:sorry,? (?:but )?i(?:'m| am) )?(?:unable|not able) to (?:assist|help|comply|fulfil)/,
  /\bi(?: really)? (?:can't|cannot|can not|won't|will not|am not going to) (?:assist|help|comply)\b/,
  /\bi (?:can't|cannot|can not|won't|will not) (?:fulfil|engage|participate|provide (?:that|this|such))/,
  /\bi (?:can't|cannot|can not|won't|will not) (?:do that|do this|discuss|create (?:that|this|such))\b/,
  /\bi (?:must|have to|need to) decline\b|\bi(?:'m| am) not (?:allowed|permitted) to\b/,
  /\b(?:against|violates?) (?:my|our|the|openai's|anthropic's) (?:\w+ )?(?:guidelines|polic(?:y|ies))\b/,
  /\bdabei (?:kann|darf) ich (?:dir |ihnen |euch )?(?:leider )?nicht helfen\b/,
  /\b(?:kann|darf) ich (?:dir |ihnen |euch )?(?:leider )?(?:dabei |damit |hierbei )?nicht helfen\b/,
  /\bich (?:kann|darf) (?:dir |ihnen |euch )?(?:dabei |damit |hierbei )?(?:leider )?nicht helfen\b/,
  /\bje ne (?:peux|suis) pas (?:vous |t')?(?:aider|en mesure d)|\bje ne peux pas répondre à cette\b/,
  /\bno puedo ayudar(?:te|le|los)?\b|\bno puedo (?:cumplir|proporcionar) (?:con )?es[ao]\b/,
  /(?:无法|不能)(?:协助|帮助|提供这|满足)/,
]

const announcements = [
  'let me ',
  "let's ",
  'now let me ',
  'now i will ',
  "now i'll ",
  'next i will ',
  "next i'll ",
  "next, i'll ",
  'next, i will ',
  "i'll now ",
  'i will now ',
  "i'll start ",
  'i will start ',
  "i'll begin ",
  'i will begin ',
  "i'm going to ",
  'i am going to ',
  "i'll proceed ",
  'i will proceed ',
  "i'll continue ",
  'i will continue ',
  "then i'll ",
  'then i will ',
  'als nächstes ',
  'ich werde jetzt ',
  'ich werde nun ',
  'je vais maintenant ',
  'ahora voy a ',
  'a continuación, voy a ',
  '接下来',
  '我现在将',
]

/** Offers, and actions that wait for the user: the answer is complete. */
const waiting: readonly RegExp[] = [
  // The sentence has what it announces, or announces only words.
  /:\s+\S+\s+\S+/,
  /\blet me (?:just |quickly )?(?:add|be|correct|clarify|mention|point out|put it|recap|repeat|rephrase|say|tell you)\b/,
  /\blet's (?:keep|leave|stay|stick|call it|hope|say)\b|\bi'm going to (?:be|leave|stay|keep)\b|\bi'll say\b/,
  /\blet me know\b|\blet me summarize\b|\blet me explain\b|\bwait\b|\bwould you\b|\bif you\b/,
  /\bonce (?:you|i|the|it)\b|\bas soon as\b|\bwhen you\b|\bafter you\b|\bplease\b|\bbe happy to\b/,
  /\blet's (?:keep in touch|see what|talk|discuss)\b|\bstop here\b|\bin (?:your|the) meantime\b/,
]
