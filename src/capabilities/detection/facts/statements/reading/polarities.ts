import { joinsList, type Polarity, polarityOf } from '../sentence/polarity.ts'
import type { Segment } from '../sentence/segments.ts'
import type { TopicHit } from './find-topics.ts'

/** Returns the polarity of each topic; the topics of a list share that of the first. */
export function polaritiesOf(segment: Segment, hits: readonly TopicHit[]): Polarity[] {
  const { text } = segment
  let before = { end: 0, polarity: 'unclear' as Polarity, slot: '' }
  const forward = hits.map((hit, at) => {
    const next = hits.slice(at + 1).find(({ start }) => start >= hit.end)
    const left = `${headOf(segment)}${clauseOf(text.slice(0, hit.start))}`
    const own = polarityOf(left, text.slice(hit.end, next?.start))
    const isShared = isListed(before, hit, text.slice(before.end, hit.start))
    const polarity =
      isShared && (own === 'unclear' || before.polarity === 'none') ? before.polarity : own
    if (before.end !== hit.end) before = { end: hit.end, polarity, slot: hit.topic.slot }
    return polarity
  })
  return shareBack(hits, forward, text)
}

/** "Headings and tables have no place here": what forbids the last topic of a list forbids all. */
function shareBack(
  hits: readonly TopicHit[],
  forward: readonly Polarity[],
  text: string,
): Polarity[] {
  const shared = [...forward]
  for (let at = hits.length - 2; at >= 0; at--) {
    const [hit, next] = [hits[at], hits[at + 1]]
    if (hit === undefined || next === undefined || next.start < hit.end) continue
    const isJoined = shared[at] === 'unclear' && shared[at + 1] === 'none'
    const gap = text.slice(hit.end, next.start)
    if (isJoined && joinsList(gap) && !ownNegation.test(gap)) shared[at] = 'none'
  }
  return shared
}

/** "Five bullets, no tables": the second topic is forbidden by its own word. */
const ownNegation = /(?<!\p{L})(?:no|not|without|never|zero|keine?|ohne|sin|sans)(?!\p{L})/iu

function isListed(before: { end: number; slot: string }, hit: TopicHit, gap: string): boolean {
  if (before.end === 0) return false
  const isNext = (joinsList(gap) && !/^\s*$/.test(gap)) || likewise.test(gap)
  return isNext || (before.slot === hit.topic.slot && isOfOneClause(gap))
}

/** "Bullets are disallowed, as is any …". */
const likewise =
  /^[^.;]{0,60}, (?:and )?(?:as|so|likewise|also|nor|neither)(?: (?:is|are|do|does))?(?: any| all| every| the)? ?$/i

/** Tells whether a text does not begin another clause: "no lists of any kind with bullets". */
function isOfOneClause(gap: string): boolean {
  return !/[,;.]|\b(?:but|use|instead|and|or|rather|only)\b/i.test(gap)
}

/** Returns the part before a colon if it forbids: "do not". */
function headOf({ head }: Segment): string {
  return /(?:not|never|don'?ts?|avoid|forbidden|banned|no)\W*$/i.test(head) ? 'never ' : ''
}

/** Returns the last part of a text that a comma does not cut off from what follows. */
function clauseOf(left: string): string {
  const at = left.lastIndexOf(',')
  const rest = left.slice(at + 1)
  return at === -1 || rest.trim() === '' ? left : rest
}
