import { splitSentences } from './answer-claims.ts'

/** An action that an answer claims to have taken. */
export type DoneClaim = {
  sentence: string
  /** The base form of the verb, as names of tools have it: `cancel` for “cancelled”. */
  verb: string
  /** The form in the sentence. */
  participle: string
  /** False for the passive voice, which can also describe a state. */
  isOwn: boolean
}

/** Finds the actions that an answer says the agent has taken, or that were taken. */
export function findDoneClaims(text: string): DoneClaim[] {
  return splitSentences(text).flatMap((sentence) => {
    if (/[?？]\W*$/.test(sentence) || conditions.test(sentence)) return []
    return sentence.split(/[;:]|, (?!and )| but /).flatMap(readClause)
  })
}

function readClause(clause: string): DoneClaim[] {
  const words = clause.match(/\p{L}[\p{L}']*/gu) ?? []
  if (words.some((word) => denials.has(word) || word.endsWith("n't"))) return []
  const own = ownAction.exec(clause)
  const passive = own === null ? passiveAction.exec(clause) : null
  const begin = own ?? passive
  if (begin === null) return []
  const list = words.slice(
    (clause.slice(0, begin.index + begin[0].length).match(/\p{L}[\p{L}']*/gu) ?? []).length,
  )
  const found =
    own === null ? list.slice(0, 1) : list.filter((_word, at) => at === 0 || list[at - 1] === 'and')
  return found.flatMap((participle) => {
    const verb = toVerb(participle)
    return verb === undefined
      ? []
      : [{ sentence: clause.trim(), verb, participle, isOwn: own !== null }]
  })
}

const ownAction = /\bi(?:'ve| have) (?:now |just |also |successfully |gone ahead and )*(?=\p{L})/u
const passiveAction =
  /\b(?:has|have) (?:now |just |also |successfully |all )*been (?:successfully |now )*(?=\p{L})/u

/** A condition or a time before the conversation. */
const conditions =
  /\b(?:if|once|when|unless|until|as soon as|before|already|previously|earlier|last (?:time|week|month|year)|yesterday|will|would|should|may|might|could|can|to be|by (?:the|your|our))\b/

const denials = new Set('not no never cannot neither nor nothing none unable'.split(' '))

const irregular = new Map(
  (
    'sent=send paid=pay made=make put=put set=set bought=buy held=hold written=write given=give ' +
    'changed=change moved=move removed=remove scheduled=schedule rescheduled=reschedule updated=update ' +
    'created=create reserved=reserve exchanged=exchange issued=issue closed=close charged=charge ' +
    'raised=raise placed=place activated=activate deactivated=deactivate escalated=escalate ' +
    'invoiced=invoice purchased=purchase enabled=enable disabled=disable deleted=delete ' +
    'upgraded=upgrade downgraded=downgrade merged=merge renewed=renew saved=save waived=waive ' +
    'filed=file notified=notify applied=apply modified=modify cancelled=cancel canceled=cancel ' +
    'submitted=submit transferred=transfer refunded=refund booked=book ordered=order added=add ' +
    'registered=register rebooked=rebook extended=extend blocked=block unblocked=unblock ' +
    'returned=return replaced=replace assigned=assign reset=reset opened=open ended=end ' +
    'checked=check verified=check withdrawn=withdraw frozen=freeze redeemed=redeem credited=credit enrolled=enroll unsubscribed=unsubscribe'
  )
    .split(' ')
    .map((pair): [string, string] => {
      const [participle = '', verb = ''] = pair.split('=')
      return [participle, verb]
    }),
)

function toVerb(participle: string): string | undefined {
  return irregular.get(participle)
}

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
