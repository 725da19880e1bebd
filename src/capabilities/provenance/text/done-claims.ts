import { splitSentences } from './answer-claims.ts'

/** An action that an answer claims to have taken. */
export type DoneClaim = {
  sentence: string
  /** The base form of the verb, as names of tools have it: `cancel` for “cancelled”; empty if the claim names no action (“Done!”). */
  verb: string
  /** The form in the sentence. */
  participle: string
  /**
   * `own`: “I've cancelled it”; `passive`: “it has been cancelled”; `state`: “it is cancelled”,
   * “Booked!”, “you're on the list now”. The last two can also describe what others did.
   */
  form: 'own' | 'passive' | 'state'
  /** Words before the verb: “your order”. */
  subject: string
}

/** Finds the actions that an answer says the agent has taken, or that were taken. */
export function findDoneClaims(text: string): DoneClaim[] {
  return splitSentences(text).flatMap((sentence) => {
    if (/[?？]\W*$/.test(sentence) || conditions.test(sentence)) return []
    return sentence.split(clauseEnd).flatMap(readClause)
  })
}

const clauseEnd =
  /[;:!]|, (?!and )| but | aber | mais | pero | and (?=(?:will|you|we|it|they|the|your|a|an) )/

function readClause(clause: string): DoneClaim[] {
  const words = clause.match(/\p{L}[\p{L}']*/gu) ?? []
  if (doubts.test(clause) || words.some((word) => denials.has(word) || word.endsWith("n't"))) {
    return []
  }
  for (const { form, pattern, names } of forms) {
    const begin = pattern.exec(clause)
    if (begin === null) continue
    const rest = clause.slice(begin.index + begin[0].length).match(/\p{L}[\p{L}']*/gu) ?? []
    const found = names === 'nothing' ? [begin[0].trim()] : participlesOf(rest, form, begin[0])
    if (found.length === 0) continue
    const subject = clause.slice(0, begin.index)
    return found.map((participle) => ({
      sentence: clause.trim(),
      participle,
      form,
      subject,
      verb: verbs.get(participle) ?? '',
    }))
  }
  return []
}

/** Returns the participles after the beginning of a claim: “I've cancelled and refunded it”. */
function participlesOf(words: readonly string[], form: DoneClaim['form'], begin: string): string[] {
  const at = germanBegin.test(begin) ? words.findLastIndex((word) => verbs.has(word)) : 0
  const listed = words.filter(
    (_word, index) => index === at || (form === 'own' && words[index - 1] === 'and'),
  )
  return listed.filter((word) => verbs.has(word))
}

const adverbs =
  '(?:(?:now|just|also|all|on|successfully|already|gone ahead and|went ahead and|been|jetzt|nun|soeben|bien|ya) )*'
const germanBegin = /\b(?:habe|wurden?|ist|sind)\s$/

/** Claims by their beginnings. Some name no action. */
const forms: readonly { form: DoneClaim['form']; pattern: RegExp; names?: 'nothing' }[] = [
  { form: 'own', pattern: new RegExp(`\\b(?:i|we)(?:'ve| have)? ${adverbs}(?=\\p{L})`, 'u') },
  {
    form: 'own',
    pattern: /(?<!\p{L})(?:ich habe |habe ich |j'ai |nous avons |he |hemos )(?:bien |ya )?/u,
  },
  {
    form: 'passive',
    pattern: new RegExp(
      `(?:(?:\\b(?:has|have)|'s) ${adverbs}been ${adverbs}|(?<!\\p{L})(?:wurden? |a été |ont été |se ha |ha sido |han sido ))(?=\\p{L})`,
      'u',
    ),
  },
  {
    form: 'state',
    pattern:
      /^\W*(?:done|erledigt|c'est fait|listo|hecho|sorted)\b|\ball (?:set|done|sorted)\b|\b(?:taken|took) care of\b|^\W*(?:that's|it's|they're) (?:all )?(?:in|on|off|up|sorted)\W*$|\bon (?:its|their|the) way\b|\b(?:went|gone) out\b|\bunterwegs\b|\ben camino\b|\ben route\b/,
    names: 'nothing',
  },
  {
    form: 'state',
    pattern: new RegExp(
      `(?:\\b(?:is|are)|'s|'re|(?<!\\p{L})(?:ist|sind|est|sont|está|queda|quedó)) ${adverbs}(?:being )?(?=\\p{L})`,
      'u',
    ),
  },
  {
    form: 'passive',
    pattern: /已(?:经|为您|帮您|為您)*\p{Script=Han}{2}|(?:しました|いたしました|済みです)/u,
    names: 'nothing',
  },
  { form: 'state', pattern: /^(?=\p{L})/u },
  {
    form: 'state',
    pattern:
      /\byou(?:'re| are) (?:now )?(?:on|in)\b|(?:\b(?:is|are)|'re|'s) (?=.{0,60}\b(?:now|from now on)\b)/,
    names: 'nothing',
  },
]

/** A condition of the whole sentence. */
const conditions =
  /\b(?:if|once|when|unless|as soon as|since|because|wenn|falls|sobald|si|cuando|dès)\b/

/** A time before the conversation, or something to come. */
const doubts =
  /\b(?:until \p{L}+ (?:is|has)|before|already|previously|earlier|last (?:time|week|month|year)|yesterday|in \d{4}|on \d{1,2} \p{L}+|will|would|should|may|might|could|can|to be|by (?:the|your|our)|schon|bereits|danach|anschließend|afterwards|ensuite|después|wird|werden|kann|déjà|sera|será|puede)\b/u

const denials = new Set(
  'not no never cannot neither nor nothing none unable nicht kein keine nichts leider ne pas rien nada nunca'.split(
    ' ',
  ),
)

/** Participles of each verb of tools, in English, German, French and Spanish. */
const verbs = new Map(
  `cancel: cancelled canceled storniert gekündigt abgesagt annulé annulée résilié cancelado cancelada anulado anulada anulados canceladas résiliée
   terminate: terminated ended
   book: booked gebucht réservé réservée reservado reservada
   reserve: reserved reserviert held secured
   rebook: rebooked umgebucht
   schedule: scheduled vereinbart planifié programado arranged programada
   reschedule: rescheduled
   send: sent resent mailed emailed forwarded gesendet geschickt verschickt versendet envoyé envoyée enviado enviada
   notify: notified informed told alerted pinged benachrichtigt informiert prévenu avisado passed let weitergegeben transmis transmise avisada
   change: changed geändert modifié modifiée changé cambiado cambiada modificado modificada umgestellt
   update: updated aktualisiert actualizado actualizada
   modify: modified adjusted amended corrected
   switch: switched swapped gewechselt
   move: moved shifted verschoben
   set: set gesetzt
   add: added put hinzugefügt ajouté ajoutée añadido agregado
   create: created made erstellt angelegt créé créée creado creada
   register: registered angemeldet enregistré registrado angelegt registriert registrada inscrit inscrite inscrito inscrita
   enroll: enrolled
   file: filed lodged
   submit: submitted eingereicht
   note: noted recorded logged eingetragen notiert entered hinterlegt notée noté anotado anotada apuntado apuntada
   open: opened raised eröffnet ouvert abierto
   report: reported
   request: requested
   apply: applied
   refund: refunded reimbursed erstattet remboursé remboursée reembolsado reembolsada remboursées
   credit: credited gutgeschrieben
   return: returned
   block: blocked gesperrt bloqué bloquée bloqueado bloqueada
   freeze: frozen
   lock: locked
   suspend: suspended
   pause: paused hold pausiert
   deactivate: deactivated disabled active freigeschaltet aktiv activada activo activa actif
   disable: disabled
   activate: activated aktiviert activé activado
   enable: enabled
   unlock: unlocked entsperrt desbloqueado desbloqueada débloqué débloquée
   unblock: unblocked
   resume: resumed
   remove: removed entfernt supprimé quitado
   delete: deleted erased gelöscht eliminado
   unsubscribe: unsubscribed
   pay: paid bezahlt payé pagado settled pagada
   transfer: transferred überwiesen transféré transferido transferida
   charge: charged
   order: ordered bestellt commandé commandée pedido pedida
   buy: bought
   purchase: purchased
   exchange: exchanged
   replace: replaced
   issue: issued
   renew: renewed verlängert renouvelé renovado
   extend: extended
   upgrade: upgraded
   downgrade: downgraded
   escalate: escalated pushed eskaliert handed weitergeleitet
   assign: assigned
   redirect: redirected rerouted umgeleitet
   waive: waived
   attach: attached uploaded angehängt adjuntado adjuntada
   approve: approved freigegeben aprobado aprobada
   close: closed
   reset: reset
   redeem: redeemed
   write: written
   merge: merged
   save: saved gespeichert guardado guardada enregistrée
   check: checked verified
   give: given
   withdraw: withdrawn`
    .split('\n')
    .flatMap((line) => {
      const [verb = '', forms = ''] = line.trim().split(': ')
      return forms.split(' ').map((form): [string, string] => [form, verb])
    }),
)

/** Verbs with which tools and people name the same action. */
const alike = [
  'cancel terminate annuler cancelar stornieren kuendigen',
  'book reserve schedule rebook reschedule buchen reservieren reservar réserver',
  'send notify write mail email resend enviar',
  'change update modify switch move set rebook reschedule edit cambiar',
  'add create register enroll file submit note open report request apply put record log insert join',
  'refund credit return reimburse',
  'block freeze lock suspend pause deactivate disable hold',
  'activate enable unlock unblock resume',
  'remove delete unsubscribe',
  'order buy purchase pay',
  'transfer pay',
  'renew extend',
  'escalate notify assign',
  'exchange replace switch',
].map((group) => group.split(' '))

/** Returns a verb and the verbs that can mean the same action. */
export function verbsLike(verb: string): ReadonlySet<string> {
  return new Set([verb, ...alike.filter((group) => group.includes(verb)).flat()])
}

/** Tells whether a word of a tool's name is a verb of a change. */
export function isChangeVerb(word: string): boolean {
  return changeVerbs.has(word)
}

const changeVerbs = new Set([...verbs.values(), ...alike.flat()])

/** A count of things in a sentence: “all five reservations”. */
type ClaimedCount = { count: number; noun: string }

/** Reads how many things a sentence says were dealt with; undefined for one or an unknown number. */
export function readClaimedCount(sentence: string): ClaimedCount | undefined {
  const match = countedThings.exec(sentence)
  const word = match?.groups?.['count'] ?? ''
  const count = /^\d+$/.test(word) ? Number(word) : numbers.indexOf(word)
  const noun = match?.groups?.['noun'] ?? ''
  return count < 2 ? undefined : { count, noun }
}

const numbers = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
const countedThings = new RegExp(
  `\\b(?:all|both|the|your)(?: of)?(?: (?:the|your|of))* (?<count>\\d{1,2}|${numbers.slice(2).join('|')}) (?:\\p{L}+ ){0,2}?(?<noun>\\p{L}{3,}s)\\b`,
  'u',
)
