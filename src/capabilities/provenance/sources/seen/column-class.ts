import type { Value } from '../../values/index.ts'

const money =
  /(?:price|amount|cost|fee|fare|paid|pay|balance|due|subtotal|tax|vat|tip|shipping|discount|credit|debit|refund|charge|deposit|rent|salary|net|gross|budget|spent|spend|revenue|sales|premium|excess|invoice|payment|bill|value|income|profit|eur|usd|gbp|chf)s?$/i
const count =
  /^(?:seats?|items?|nights?|days?|people|persons?|guests?|adults?|child|children|passengers?|pax|users?|counts?|qty|quantity|quantities|number|num|n|ids?|no|year|month|day|age|stock|units?|pages?|rows?|rooms?|tickets?|points?|score|rating|stars|reviews?|views?|hits?|version|floor|level|position|rank|index|zip|postcode|phone|employees|members|students|pupils|hours?|minutes?|sold|available|capacity|nr|anzahl)$/i

/** Class of the numbers without unit of a column: seats are not dollars. */
export type ColumnClass = 'money' | 'count'

/** Returns what the name of a column says about its numbers; undefined if it says nothing. */
export function classOfColumn(name: string): ColumnClass | undefined {
  const last = name.split(/[^\p{L}]+|(?<=[a-z])(?=[A-Z])/u).findLast((word) => word !== '') ?? ''
  if (count.test(last)) return 'count'
  return money.test(last) ? 'money' : undefined
}

/** Returns what a number without unit is. */
export function classOf({
  columnClass,
  value,
}: {
  columnClass?: ColumnClass | undefined
  value: Value
}): ColumnClass | undefined {
  return value.amount?.unit === 'count' ? 'count' : columnClass
}

/** Returns whether a number without unit is written like a year. */
export function isYear({ amount, text }: Value): boolean {
  return amount?.unit === '' && /^(?:19|20)\d{2}$/.test(text)
}
