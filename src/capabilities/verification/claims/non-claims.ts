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
  return isFragment(head) ? 'fragment' : undefined
}

/** "Sure, the fee is €20." says something after its greeting. */
function isGreeting(head: string): boolean {
  const match = greeting.exec(head)
  if (match === null) return false
  return !/\d/.test(head) || head.length - match[0].length < 4
}

/** Returns whether a part is no statement: one or two words without a number. */
function isFragment(part: string): boolean {
  const words = part.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
  return words === 0 || (words < 3 && !/\d/.test(part))
}
