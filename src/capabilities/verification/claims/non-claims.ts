/** Why a part of a text makes no claim. */
export type DropReason =
  | 'code'
  | 'heading'
  | 'table_head'
  | 'question'
  | 'greeting'
  | 'offer'
  | 'hedge'
  | 'introduction'
  | 'instruction'
  | 'fragment'

const chars_max = 400

const greeting =
  /^(?:hi|hello|hey|good (?:morning|afternoon|evening|question)|welcome|thank(?:s| you)|dear |sure|of course|certainly|absolutely|great|no (?:worries|problem)|you(?:'|’)re welcome|(?:i(?:'|’)m|i am|we(?:'|’)re|we are) (?:so |very )?sorry|sorry|don(?:'|’)t worry|(?:i |we )?(?:do )?(?:hope|understand|apologi[sz]e|appreciate)|that(?:'|’)s an? (?:important|good|great|excellent) (?:question|point)|guten|hallo|danke|vielen dank|gern|natürlich|es tut mir leid|tut mir leid|ich hoffe|ich verstehe|bonjour|bonsoir|merci|bien sûr|je (?:comprends|suis désolé)|désolé|hola|buen[oa]s|gracias|claro|congratulations|congrats|well done|enjoy|have a (?:nice|great|good|safe|lovely)|all the best|best (?:wishes|regards)|kind regards|cheers|take care|good luck|see you|safe travels|herzlichen glückwunsch|glückwunsch|viel (?:spaß|erfolg|glück)|schöne(?:n|s)? (?:tag|reise|wochenende|urlaub|grüße)|alles gute|(?:mit )?(?:freundliche|beste|liebe)n? grüße|félicitations|bonne (?:journée|chance|route|visite)|bon voyage|cordialement|enhorabuena|felicidades|que (?:tenga|disfrute)|saludos|disfrute|buena pregunta|lo siento|espero que|entiendo)(?![\p{L}])/iu

const offer =
  /^(?:(?:please |just |so )?(?:let me|feel free|don(?:'|’)t hesitate|let us)|if you (?:have|need|want|would|(?:'|’)d)[^,]{0,60}, (?:(?:just|please) )?(?:let|feel|tell|ask|contact|i )|(?:i|we)(?:(?:'|’)d| would) be (?:happy|glad)|(?:i|we) (?:can|could) (?:also )?(?:help|assist|show|explain|set|send|walk|give)|i(?:'|’)ll |i think i can|happy to|tell me (?:if|whether|when)|just (?:ask|tell|say)|(?:you(?:(?:'|’)d better| may want to| might want to)) (?:ask|check|contact|consult|look|call|see)|gerne? (?:rechne|helfe|schicke|zeige|erkläre|suche|prüfe|sende) ich|sagen sie (?:mir |uns )?(?:einfach )?(?:bescheid|wenn)|fragen sie|want me to|shall i|anything else|kann ich|lassen sie|melden sie sich|zögern sie|bei (?:weiteren )?fragen|ich helfe|wenn sie (?:möchten|wollen|noch)|n(?:'|’)hésitez|puis-je|voulez-vous|je peux vous aider|dites-moi|no dudes?|no dude|si necesitas?|puedo ayudar|avísame|dime si)(?![\p{L}])/iu

const hedge =
  /^(?:as far as i (?:can|know)|(?:unfortunately,? )?i (?:don(?:'|’)t|do not|can(?:'|’)t|cannot|couldn(?:'|’)t) (?:know|find|see|tell|say|have)|i(?:'|’|\s?a)m not (?:\p{L}+ )?(?:sure|certain|able)|i can(?:'|’)t (?:give|offer|promise|guarantee|confirm|verify|check|access)|(?:please )?note that i|i have no (?:information|data|access|details)|ich bin (?:mir )?nicht (?:ganz )?sicher|no tengo|no estoy segur|je ne suis pas|i think |i believe |i guess|i assume|it(?:'|’)s (?:possible|hard to say)|maybe |perhaps |possibly|(?:this|it|that) (?:may|might|could) (?:be (?:that|possible|worth)|depend|vary)|soweit ich|ich (?:weiß|kann|finde) (?:es |das )?(?:leider )?nicht|ich (?:glaube|denke|vermute)|vielleicht|möglicherweise|je ne (?:sais|peux|trouve)|je (?:pense|crois)|peut-être|autant que je sache|no (?:sé|puedo|encuentro)|creo que|quizás?|tal vez|que yo sepa)(?![\p{L}])/iu

const instruction = /^(?:in an emergency,? )?please (?!note|be aware)|^in an emergency/i

/** "Please register 72 hours before" states a rule. */
const hasDeadline = /^please .*(?:\d|\b(?:within|before|until|at least)\b)/i

const introduction = /[::]\s*$/

/** Statements of an answer about itself, and not about its subject. */
const aside =
  /(?<!\p{L})(?:(?:medical|legal|financial|tax|professional|official) advice\W*$|(?:without|no) (?:guarantee|warranty)\W*$|ohne gewähr|sans garantie|sin garantía|salvo (?:error|errores)|depends? on (?:how|what|whether|your|you|where|when)(?!\p{L})|correct me if|if (?:i(?:'|’)m|that(?:'|’)s) (?:wrong|mistaken)|i(?:'|’)d (?:personally|rather|say|suggest|recommend|go for|keep|choose|pick))/iu

/** Opinions and caveats: "I may be wrong", "I'm no doctor", "To be honest, I'm not sure". */
const ownView =
  /^(?:(?:to be honest|honestly|frankly|sadly|unfortunately|admittedly|personally|but|so|and|ehrlich gesagt|leider|malheureusement|lamentablemente),? )?(?:i (?:may|might|could) (?:well )?(?:be|have) |i(?:'|’)?(?: a)?m (?:not |no |just an? |only an? |an? ai|really |very |so |afraid )|i(?:(?:'|’)ve| have)? (?:only )?(?:assumed?|suppose|looked|checked|went|used|took|based)|i (?:only )?(?:don(?:'|’)t|do not|didn(?:'|’)t|can(?:'|’)t|cannot|couldn(?:'|’)t|can only|could only|lack|wish|wonder|hope|understand|would(?:n(?:'|’)t)?) |(?:let(?:'|’)s|let us) |you (?:asked|wanted to know|mentioned)|(?:your|that) question|ich (?:bin (?:kein|nur)|habe (?:leider )?kein|kann (?:leider )?(?:nicht|keine|nur))|je (?:n(?:'|’)ai|ne suis|suppose)|posso|non (?:so|posso)|spero|supongo|no soy)/iu

/** Advice to act that states no rule: "Remember to save often", not "Remember that it costs €5". */
const advice =
  /^(?:(?:tip|hint|pro tip|tipp|conseil|consejo)\s?: (?!the |a |an |your |der |die |das |le |la |el )|(?:(?:and|so|but|also|just|simply|please|best) ){0,2}(?:remember to|don(?:'|’)t forget(?! that)|do not forget(?! that)|make sure (?:to|you)|be sure to|(?:double.?check|feel free|consider|bear with|have a look|take a look|good luck|keep an eye|stay (?:safe|warm|dry|well|healthy|tuned|in touch))(?!\p{L}))|if you[^,]{1,60}, (?:please |just |simply |best )?(?:ask|call|tell|contact|consult|talk to|speak (?:to|with)|check with|get in touch)(?!\p{L})|(?:bitte )?(?:denken sie daran|vergessen sie nicht|prüfen sie|achten sie)|n(?:'|’)oubliez pas de|pensez à|veuillez vérifier|vérifiez|no (?:olvide|olvides) |recuerd[ae]s? (?!que)|compruebe|non dimentic|ricordati)/iu

/** Interjections: "Oh dear, that happens". */
const interjection =
  /^(?:oh|ah|aw+|ouch|wow|oops|uh-oh|yikes|yay|hooray|alas|hmm+|well done|ach|oje|hélas|vaya|(?:good|great|nice|lovely|glad|happy|sorry|pity|too bad|schade|schön|toll) that (?:you|we|it)|(?:schön|gut|toll), dass sie)(?!\p{L})/iu

/** A wish or praise with an exclamation mark: "That sounds lovely!", "Drive safely!" */
const exclamation =
  /^(?:(?:(?:that|this|it|das)(?:(?:'|’)s| is| sounds| looks| ist| klingt)|what|how|c(?:'|’)est|qué) (?:an? |so |really |very |sehr |très )?(?!all|not|free|open|closed)[\p{L}-]+(?: \p{L}+)?|(?:stay|drive|ride|travel|sleep|eat|keep|take|have|get|happy|merry|bon|bonne|buen[oa]?s?|good|great|nice|best|gute[sn]?|schöne[sn]?) [^,.;:]{1,60})!+$/iu

/** Patterns of parts without a claim that may have names, but no figure. */
const withoutFigures: readonly (readonly [RegExp, DropReason])[] = [
  [interjection, 'greeting'],
  [exclamation, 'greeting'],
  [ownView, 'hedge'],
  [aside, 'hedge'],
  [advice, 'instruction'],
]

/** A figure that is not part of a name such as `X20`. */
const figure = /(?<![\p{L}\d])\d/u
/** Words of a rule: "Remember to cancel at least a day before". */
const deadline =
  /(?<!\p{L})(?:within|before|until|at (?:least|most|the latest)|no (?:later|more|less)|since|because)(?!\p{L})/iu

/** Words of a part without a figure that these patterns drop. */
const aside_words_max = 25

/** Returns why a sentence makes no claim; undefined if it makes one. */
export function findDropReason(sentence: string): DropReason | undefined {
  const head = sentence.slice(0, chars_max).replace(/^[\s>*_"“„«¿¡(]{0,8}/, '')
  const tail = sentence
    .slice(-20)
    .replace(/(?:\p{Extended_Pictographic}|\uFE0F|\u200D|[\s*_)"”»])+$/u, '')
  if (tail.endsWith('?')) return 'question'
  if (isGreeting(head)) return 'greeting'
  if (offer.test(head)) return 'offer'
  if (hedge.test(head)) return 'hedge'
  if (introduction.test(tail)) return 'introduction'
  if (instruction.test(head) && !hasDeadline.test(head)) return 'instruction'
  return isFragment(head) ? 'fragment' : dropAside(head)
}

/** Drops statements of the answer about itself, and wishes. A part with a figure is kept. */
function dropAside(head: string): DropReason | undefined {
  if (figure.test(head) || deadline.test(head) || head.split(/\s+/).length > aside_words_max)
    return undefined
  const plain = head.replace(/[^\p{L}\p{N}.!:)]+$/u, '')
  return withoutFigures.find(([pattern]) => pattern.test(plain))?.[1]
}

/** "Sure, the fee is €20." says something after its greeting. */
function isGreeting(head: string): boolean {
  const match = greeting.exec(head)
  if (match === null) return false
  return !/\d/.test(head) || head.length - match[0].length < 4
}

/** Returns whether a part is not a statement: one or two words without a number. */
function isFragment(part: string): boolean {
  const words = part.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
  return words === 0 || (words < 3 && !/\d/.test(part))
}
