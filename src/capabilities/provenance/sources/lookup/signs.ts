import type { Evidence, Value } from '../../values/index.ts'
import { findNumber } from './find-number.ts'
import { openSentence } from './open-sentence.ts'
import type { Context } from './operands.ts'

/** Words that say a sign: "fell by 5 %" restates −5 %, and a discount of 20 is −20. */
const direction =
  /(?<!\p{L})(?:fell|fall(?:s|en|ing)?|drop\w*|decreas\w*|declin\w*|down|loss(?:es)?|los[et]|losing|owe[sd]?|owing|overdra\w+|debts?|deficits?|shortfall|debit\w*|charge[sd]?|paid|pay(?:s|ing|ments?)?|spen[dt]\w*|cost(?:s|ing)?|withdr[ae]w\w*|refund\w*|reimburs\w*|discount\w*|rebate\w*|deduct\w*|fees?|expens\w*|below|under|less|fewer|lower\w*|minus|negative|reduc\w*|sav(?:e[sd]?|ings?)|credit\w*|off|short|behind|shr[aiu]nk\w*|outflows?|purchase[sd]?|bought|transfer\w*|gesunken|sank|sink\w*|rückgang|verlust\w*|weniger|abzug|abgebucht|gutschrift\w*|rabatt|schulden|bezahlt|ausgaben|gefallen|baisse\w*|pertes?|recul\w*|remise|déficit|dette|pérdidas?|caída|bajó|descuento|deuda|gastos?)(?!\p{L})/iu
/** Degrees west and south. */
const hemisphere = /^ ?°? ?[WS](?!\p{L})/u
/** Quantities whose sign matters to their readers; expenses are often written without it. */
const signed =
  /(?<!\p{L})(?:balance|saldo|solde|kontostand|stand|temp\w*|result|ergebnis|résultat|profit|gewinn|bénéfice|net|netto|margin|change|elevation|altitude|offset)(?![\p{L}])|°/iu

const sentence_chars = 120
const key_chars = 48

/** Returns a value with the other sign. */
export function negate(value: Value): Value {
  const { amount } = value
  if (amount === undefined) return value
  const turn = (numbers: readonly number[]) => numbers.map((n) => -n)
  const { readings, written } = amount
  return { ...value, amount: { ...amount, readings: turn(readings), written: turn(written) } }
}

/** Reports whether the sentence of a value says its sign in words. */
export function isDirected({ at: [start, end] }: Value, text: string): boolean {
  const before = text.slice(Math.max(0, start - sentence_chars), start)
  const sentence = openSentence(before, { inCell: true })
  const behind = text.slice(end, end + key_chars).split(/[.!?\n|]/u, 1)[0] ?? ''
  return direction.test(sentence) || hemisphere.test(behind) || direction.test(behind)
}

/**
 * Finds a seen number that has the other sign, where words or brackets say the sign: `(1,250)` and
 * `1,250-` are negative amounts of accounts, and a key `discount` says it too.
 */
export function findTurned(value: Value, { text, index }: Context): Evidence | undefined {
  const found = findNumber(negate(value), index, text)
  if (found === undefined || isDirected(value, text)) return found
  const source = index.texts.find((one) => one.source === found.source)?.text ?? ''
  const [start, end] = found.at
  const isBracketed = source[start - 1] === '(' && source[end] === ')'
  const isBehind = /^[-−](?![\p{L}\p{N}])/u.test(source.slice(end, end + 2))
  const isSaid = direction.test(source.slice(Math.max(0, start - key_chars), start))
  return isBracketed || isBehind || isSaid ? found : undefined
}

/**
 * Reports what it means that a value was seen with the other sign only: `wrong` for a balance or a
 * temperature, `open` for an amount that people write without its sign; undefined if it was not.
 */
export function judgeOtherSign(
  value: Value,
  { text, index }: Context,
): 'wrong' | 'open' | undefined {
  const found = value.amount === undefined ? undefined : findNumber(negate(value), index)
  if (found === undefined) return undefined
  const source = index.texts.find((one) => one.source === found.source)?.text ?? ''
  const around = [
    text.slice(Math.max(0, value.at[0] - key_chars), value.at[1]),
    source
      .slice(Math.max(0, found.at[0] - key_chars), found.at[0])
      .split('\n')
      .at(-1) ?? '',
  ]
  return around.some((part) => signed.test(part.replaceAll('_', ' '))) ? 'wrong' : 'open'
}
