import { type Token, tokenize } from '../../provenance/text/index.ts'
import { gravity } from './alike-words.ts'

/** Words between two things whose order matters: `A is heavier than B`, `A displaces B`. */
const relations =
  /(?<!\p{L})(?:than|als|exceed\w*|outperform\w*|beat(?:s|en)?|defeat\w*|displac\w+|replac\w+|supersed\w+|caus(?:e|es|ed|ing)|acquir\w+|bought|preced\w+|follow(?:s|ed)?|before|after|own(?:s|ed)?|contain(?:s|ed)?|eats?|ate|depends? on|leads? to|led to|results? in|turns? into|übertrifft|verdrängt|ersetzt|verursacht)(?!\p{L})/giu
/** In `B is displaced by A` the sides are exchanged. */
const passive = /^[^.;]{0,20}?(?<!\p{L})(?:by|von|durch)(?!\p{L})/iu

type Sides = { relation: string; left: ReadonlySet<string>; right: ReadonlySet<string> }

/**
 * Reports whether a sentence has what a claim compares or relates the other way round: `iron is
 * more reactive than copper` beside `copper is more reactive than iron`.
 */
export function hasSwappedSides(claim: string, sentence: string): boolean {
  const known = readSides(sentence)
  return readSides(claim).some(({ relation, left, right }) =>
    known.some((other) => other.relation === relation && isSwapped({ left, right }, other)),
  )
}

/** One thing is enough: a claim names few, and in the right order no side has one of the other. */
function isSwapped(claim: Omit<Sides, 'relation'>, other: Sides): boolean {
  const only = (one: ReadonlySet<string>, rest: ReadonlySet<string>) =>
    [...one].filter((term) => !rest.has(term))
  const left = only(claim.left, claim.right)
  const right = only(claim.right, claim.left)
  const isOn = (term: string, side: ReadonlySet<string>, rest: ReadonlySet<string>) =>
    side.has(term) && !rest.has(term)
  const moved =
    left.filter((term) => isOn(term, other.right, other.left)).length +
    right.filter((term) => isOn(term, other.left, other.right)).length
  const kept =
    left.filter((term) => isOn(term, other.left, other.right)).length +
    right.filter((term) => isOn(term, other.right, other.left)).length
  return moved > kept || (moved > 0 && right.some((term) => other.left.has(term)))
}

function readSides(text: string): Sides[] {
  return [...text.matchAll(relations)].flatMap((match) => {
    const [written] = match
    const end = match.index + written.length
    const before = termsOf(text.slice(0, match.index))
    const behind = termsOf(text.slice(end))
    const isPassive = passive.test(text.slice(end)) && !/^(?:than|als)$/i.test(written)
    const [left, right] = isPassive ? [behind, before] : [before, behind]
    // `After 10 June` relates no two things.
    if (left.size === 0 || right.size === 0) return []
    return { relation: written.toLowerCase().slice(0, relation_chars), left, right }
  })
}

/** Letters at the start of a relation that its forms share. */
const relation_chars = 4

function termsOf(text: string): ReadonlySet<string> {
  const isTelling = ({ term }: Token) => gravity(term) === 1
  return new Set(
    tokenize(text)
      .filter(isTelling)
      .map(({ term }) => term),
  )
}
